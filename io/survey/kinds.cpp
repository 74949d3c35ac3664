// SPDX-License-Identifier: Apache-2.0
#include "io/survey/kinds.hpp"

#include "io/emtf/xml.hpp"
#include "io/femtic/model.hpp"
#include "io/femtic/observe.hpp"
#include "io/gocad/sgrid.hpp"
#include "io/jones/jones.hpp"
#include "io/mare2dem/data.hpp"
#include "io/mare2dem/model.hpp"
#include "io/modem/words.hpp"
#include "io/mt2d/data.hpp"
#include "io/occam2d/data.hpp"
#include "io/occam2d/model.hpp"
#include "io/survey/unread.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/wsinv/data.hpp"
#include "io/zfile/zfile.hpp"
#include "io/zonge/zonge.hpp"

#include <algorithm>
#include <array>

namespace lodestone::io::survey {
namespace {

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";
constexpr std::size_t looked_at = 16384;

bool is_edi(const std::vector<std::string_view>& lines) {
  const auto starts = [](std::string_view line, std::string_view name) {
    return text::equals_ignoring_case(text::trimmed(line).substr(0, name.size()), name);
  };
  return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
    return starts(line, ">HEAD") || starts(line, ">=DEFINEMEAS");
  });
}

/// Returns true for a length of eight bytes, lowest first and below 2^32, and the JSON object of that length.
bool is_safetensors(std::string_view bytes) {
  return bytes.size() > 8 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) && bytes[8] == '{';
}

/// Returns true for text with some line that is a table header or a key with a value, and no line that is
/// something else.
bool is_toml(const std::vector<std::string_view>& lines) {
  for (const auto line : lines) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    if (text.front() == '[') return true;
    const auto key = text::trimmed(text.substr(0, text.find('=')));
    const auto is_key_char = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '-' || c == '.' || c == '"';
    };
    return text.find('=') != std::string_view::npos && !key.empty() &&
           std::all_of(key.begin(), key.end(), is_key_char);
  }
  return false;
}

/// Returns true for a JSON object whose first key is the format.
bool is_vae_card(std::string_view bytes) {
  return text::trimmed(bytes).substr(0, 1) == "{" &&
         bytes.substr(0, 200).find("\"lodestone vae card\"") != std::string_view::npos;
}

/// Returns whether a header line names sites, a frequency or a period, and parts of an element in whatever
/// case: one of these may be missing or misspelt, which the reader tells. Responses on a map or by modes are
/// no such table.
bool is_of_transfer_functions(std::string_view header) {
  const std::string text = text::lower(header);
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (text.starts_with("site,latitude_deg") && has("frequency_hz")) return true;
  if (!has(",") || has("mode,") || text.starts_with("site,period_s,x_m,y_m,")) return false;
  constexpr std::array elements{"zxx_", "zxy_", "zyx_", "zyy_", "tzx_", "tzy_"};
  return (text.starts_with("site,") || has("frequency") || has("period")) &&
         std::ranges::any_of(elements, has);
}

FileKind csv_kind(const std::vector<std::string_view>& lines) {
  for (const auto line : lines) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    if (text.substr(0, 8) == "site,y_m") return FileKind::csv_sites;
    if (text.substr(0, 19) == "site,mode,period_s,") return FileKind::csv_responses;
    if (text.substr(0, 23) == "y_left_m,y_right_m,z_to") return FileKind::csv_section;
    if (is_of_transfer_functions(text)) return FileKind::csv_rows;
    break;
  }
  return FileKind::unknown;
}

/// The first line that is neither blank nor a comment names places and a resistivity.
bool is_xyz_model(const std::vector<std::string_view>& lines) {
  for (const auto line : lines) {
    std::string text(text::trimmed(line));
    if (text.empty() || text.front() == '#') continue;
    std::ranges::replace(text, ',', ' ');
    const auto names = text::words(text);
    return names.size() > 2 && (names.back() == "log10_resistivity" || names.back() == "resistivity_ohm_m") &&
           (names.front() == "x_m" || names.front() == "y_m" || names.front() == "east_m" ||
            names.front() == "longitude_deg");
  }
  return false;
}

/// The first line that is neither blank nor a comment is a list of names.
bool is_csv_table(const std::vector<std::string_view>& lines) {
  const auto is_name = [](std::string_view field) {
    return !field.empty() && std::all_of(field.begin(), field.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }) && (field.front() < '0' || field.front() > '9');
  };
  for (const auto line : lines) {
    auto rest = text::trimmed(line);
    if (rest.empty() || rest.front() == '#') continue;
    if (rest.find(',') == std::string_view::npos) return false;
    for (auto comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
      if (!is_name(text::trimmed(rest.substr(0, comma)))) return false;
      rest.remove_prefix(comma + 1);
    }
    return is_name(text::trimmed(rest));
  }
  return false;
}

}  // namespace

FileKind kind_of_file(const std::string& path) {
  const std::string bytes = text::read_bytes_up_to(path, looked_at);
  if (std::string_view(bytes).substr(0, hdf5_signature.size()) == hdf5_signature) return FileKind::hdf5;
  if (is_safetensors(bytes)) return FileKind::safetensors;
  if (bytes.find('\0') != std::string::npos) return FileKind::unknown;
  if (is_vae_card(bytes)) return FileKind::vae_card;
  if (unread_kind(bytes, path)) return FileKind::unknown;
  const auto lines = text::split_lines(bytes);
  if (is_edi(lines)) return FileKind::edi;
  if (emtf::is_emtf_xml(bytes)) return FileKind::emtf_xml;
  if (mare2dem::emdata_version(bytes)) return FileKind::emdata;
  if (mare2dem::is_resistivity(bytes)) return FileKind::mare2dem_model;
  if (mt2d::is_mt2d_data(bytes)) return FileKind::mt2d_data;
  if (occam2d::is_occam2d_data(bytes)) return FileKind::occam2d_data;
  if (femtic::is_observe(bytes)) return FileKind::femtic_data;
  if (femtic::is_resistivity_block(bytes)) return FileKind::femtic_model;
  if (wsinv::is_wsinv_data(bytes)) return FileKind::wsinv_data;
  if (occam2d::is_iteration(bytes)) return FileKind::occam2d_model;
  if (gocad::is_sgrid(bytes)) return FileKind::gocad_sgrid;
  if (is_xyz_model(lines)) return FileKind::xyz_model;
  if (zfile::is_z_file(bytes)) return FileKind::z_file;
  if (zonge::is_avg(bytes)) return FileKind::zonge_avg;
  if (jones::is_j_file(bytes)) return FileKind::j_format;
  if (modem::is_modem_covariance(bytes)) return FileKind::modem_covariance;
  if (const auto head = modem::modem_data_head(bytes))
    return head->dimension() == 2 ? FileKind::modem_data_2d : FileKind::modem_data_3d;
  if (const auto head = modem::modem_model_head(bytes))
    return head->dimensions == 2 ? FileKind::modem_model_2d : FileKind::modem_model_3d;
  if (const auto kind = csv_kind(lines); kind != FileKind::unknown) return kind;
  if (is_toml(lines)) return FileKind::toml;
  return is_csv_table(lines) ? FileKind::csv_table : FileKind::unknown;
}

}  // namespace lodestone::io::survey
