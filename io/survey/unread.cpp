// SPDX-License-Identifier: Apache-2.0
#include "io/survey/unread.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

namespace lodestone::io::survey {
namespace {

constexpr std::size_t looked_at = 8192;

constexpr std::string_view utf_16 =
    "the file is text in UTF-16, as some editors save it; save it as UTF-8, for instance with: iconv -f "
    "UTF-16 "
    "-t UTF-8 FILE > NEW";

/// The first lines of a file that are not empty.
using Lines = std::vector<std::string_view>;

Lines first_lines(std::string_view bytes) {
  constexpr std::size_t most = 4;
  Lines out;
  for (const auto line : text::split_lines(bytes)) {
    if (out.size() < most && !text::trimmed(line).empty()) out.push_back(text::trimmed(line));
  }
  return out;
}

/// Returns the numbers of a line; nothing where a word is none.
std::vector<double> numbers_of(std::string_view line) {
  std::vector<double> numbers;
  for (const auto word : text::words(line)) {
    const auto number = text::number(word);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

bool is_whole(double number, double least, double most) {
  return number == static_cast<double>(static_cast<long>(number)) && number >= least && number <= most;
}

/// A first line "Format: NAME" and what such a file is.
struct Named {
  std::string_view format, what;
};
constexpr std::array<Named, 5> named{{
    {"emdata_1.",
     "data of Occam1D are not read; give the file of the station they were made from, or a CSV table of "
     "transfer functions"},
    {"emresp_1.",
     "responses of Occam1D are not read; give the file of the station, or a CSV table of transfer functions"},
    {"resistivity1dmod",
     "models of Occam1D are not read; write the layers into [background] of a TOML model"},
    {"occam2mtmod",
     "the file has the cells of an Occam2D model without their resistivities; give the iteration file "
     "(ITER….iter) that names it"},
    {"em2dmodelfile", "models of HMCMT are not read; write the model as one of ModEM, or as TOML"},
}};

std::optional<std::string> by_name(std::string_view first) {
  const std::string line = text::lower(first.starts_with('#') ? first.substr(1) : first);
  constexpr std::string_view key = "format:";
  if (!line.starts_with(key)) return {};
  const std::string_view format = text::trimmed(std::string_view(line).substr(key.size()));
  const auto found =
      std::ranges::find_if(named, [&](const Named& each) { return format.starts_with(each.format); });
  return found == named.end() ? std::nullopt : std::optional(std::string(found->what));
}

/// Returns the value of the first line "key: value" in lower case; empty where there is none.
std::string value_of(std::string_view bytes, std::string_view key) {
  for (const auto line : text::split_lines(bytes)) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos &&
        text::equals_ignoring_case(text::trimmed(line.substr(0, colon)), key))
      return std::string(text::trimmed(line.substr(colon + 1)));
  }
  return {};
}

/// Returns the value "Format" of a file beside another; empty where it cannot be read.
std::string format_beside(const std::string& path, const std::string& name) {
  if (path.empty() || name.empty()) return {};
  try {
    const auto beside = std::filesystem::path(path).parent_path() / name;
    return text::lower(value_of(text::read_bytes_up_to(beside.string(), looked_at), "format"));
  } catch (const core::Error&) {
    return {};
  }
}

/// Returns whether an iteration file, whose format Occam1D and Occam2D share, is one of Occam1D. The model
/// that it names decides, else its data; where neither is there, its names do.
bool is_occam1d_iteration(std::string_view bytes, const std::string& path) {
  if (!text::lower(value_of(bytes, "format")).starts_with("occamiter")) return false;
  const std::string model = value_of(bytes, "model file"), data = value_of(bytes, "data file");
  if (const std::string format = format_beside(path, model); !format.empty())
    return format.starts_with("resistivity1dmod");
  if (const std::string format = format_beside(path, data); !format.empty())
    return format.starts_with("emdata_1.");
  const std::string names = text::lower(model + " " + data + " " + value_of(bytes, "description"));
  return names.find("1d") != std::string::npos && names.find("2d") == std::string::npos;
}

/// Returns the names of a line that begins with '#', in lower case; none for any other line.
std::vector<std::string> names_of(std::string_view line) {
  std::vector<std::string> names;
  if (!line.starts_with('#')) return names;
  for (const auto word : text::words(line.substr(1))) names.push_back(text::lower(word));
  return names;
}

/// Returns whether a row has as many numbers as there are names above it.
bool is_row_below(const std::vector<std::string>& names, std::string_view line) {
  return numbers_of(line).size() == names.size();
}

/// "# periods rho erho phs ephs", then rows of five numbers.
bool is_sounding_curve(const Lines& lines) {
  const auto names = lines.empty() ? std::vector<std::string>() : names_of(lines[0]);
  return names.size() > 2 && names[0].starts_with("period") && names[1].starts_with("rho") &&
         lines.size() > 1 && is_row_below(names, lines[1]);
}

/// "#layerdepth LOG10(RES)", then rows of two numbers.
bool is_list_of_layers(const Lines& lines) {
  const auto names = lines.empty() ? std::vector<std::string>() : names_of(lines[0]);
  return names.size() == 2 && names[0].find("depth") != std::string::npos &&
         names[1].find("res") != std::string::npos && lines.size() > 1 && is_row_below(names, lines[1]);
}

/// A title, then "0 columns rows 0 0 2".
bool is_occam2d_mesh(const Lines& lines) {
  if (lines.size() < 3 || !numbers_of(lines[0]).empty() || lines[0].front() == '#') return false;
  const std::vector<double> counts = numbers_of(lines[1]);
  return counts.size() == 6 && counts[0] == 0.0 && is_whole(counts[1], 2, 1e6) &&
         is_whole(counts[2], 2, 1e6) && counts[3] == 0.0 && counts[4] == 0.0 && counts[5] == 2.0;
}

/// Rows of site, frequency, type, 0, datum, response and residual.
bool are_occam2d_responses(const Lines& lines) {
  constexpr double most_types = 18;
  const auto is_row = [](std::string_view line) {
    const std::vector<double> row = numbers_of(line);
    return row.size() == 7 && is_whole(row[0], 1, 1e6) && is_whole(row[1], 1, 1e6) &&
           is_whole(row[2], 1, most_types) && row[3] == 0.0;
  };
  return lines.size() > 1 && std::ranges::all_of(lines, is_row);
}

/// "n 2 n_attributes n_marks", then point 0 or 1 with so many numbers more.
bool is_poly(const Lines& lines) {
  if (lines.size() < 2) return false;
  const std::vector<double> head = numbers_of(lines[0]), point = numbers_of(lines[1]);
  return head.size() == 4 && head[1] == 2.0 && is_whole(head[2], 0, 2) && is_whole(head[3], 0, 1) &&
         static_cast<double>(point.size()) == 3.0 + head[2] + head[3] &&
         is_whole(head[0], static_cast<double>(point.size()) + 1.0, 1e9) && is_whole(point[0], 0, 1);
}

/// Names between semicolons without commas, then a row of as many fields.
bool is_table_with_semicolons(const Lines& lines) {
  if (lines.size() < 2 || lines[0].find(',') != std::string_view::npos) return false;
  const auto n = std::ranges::count(lines[0], ';');
  const std::string header = text::lower(lines[0]);
  const auto names = [&](std::string_view name) { return header.find(name) != std::string::npos; };
  return n > 0 && std::ranges::count(lines[1], ';') == n &&
         (names("site") || names("period") || names("frequency") || names("latitude_deg"));
}

/// "# sitename: …", then a line of names that begin with the periods.
bool is_table_of_site(const Lines& lines) {
  return lines.size() > 1 && text::lower(lines[0]).starts_with("# sitename:") &&
         text::lower(lines[1]).starts_with("# periods");
}

}  // namespace

std::optional<std::string> packed_kind(std::string_view bytes) {
  using namespace std::string_view_literals;
  struct Packed {
    std::string_view begin, what;
  };
  constexpr std::array<Packed, 6> all{{
      {"\x1f\x8b"sv, "the file is compressed by gzip; unpack it first: gunzip FILE.gz"},
      {"BZh"sv, "the file is compressed by bzip2; unpack it first: bunzip2 FILE.bz2"},
      {"\xfd"
       "7zXZ"sv,
       "the file is compressed by xz; unpack it first: unxz FILE.xz"},
      {"PK\x03\x04"sv, "the file is a ZIP archive; unpack it first: unzip FILE.zip"},
      {"\xff\xfe"sv, utf_16},
      {"\xfe\xff"sv, utf_16},
  }};
  const auto found =
      std::ranges::find_if(all, [&](const Packed& each) { return bytes.starts_with(each.begin); });
  return found == all.end() ? std::nullopt : std::optional(std::string(found->what));
}

std::optional<std::string> unread_kind(std::string_view bytes, const std::string& path) {
  if (auto what = packed_kind(bytes)) return what;
  const Lines lines = first_lines(bytes.substr(0, looked_at));
  if (lines.empty()) return {};
  if (auto what = by_name(lines[0])) return what;
  if (is_occam1d_iteration(bytes.substr(0, looked_at), path))
    return "iterations and startup files of Occam1D are not read; write the layers of the model that it "
           "names, "
           "with these resistivities, into [background] of a TOML model";
  if (is_sounding_curve(lines))
    return "tables of periods, apparent resistivities and phases of one site without its name are not read; "
           "give the file of the station, or write a J-format file with a block RXY, whose rows are period, "
           "apparent resistivity in ohm m, phase and the upper and lower limit of both";
  if (is_list_of_layers(lines))
    return "lists of depths and resistivities of layers are not read; write their thicknesses and "
           "resistivities into [background] of a TOML model";
  if (is_occam2d_mesh(lines))
    return "the file has the mesh of an Occam2D model without its resistivities; give the iteration file "
           "(ITER….iter), whose model file names it";
  if (are_occam2d_responses(lines))
    return "responses of Occam2D number sites and frequencies without stating them, so they are not read; "
           "give the data file (OccamDataFile.dat), which has the measured values";
  if (is_poly(lines))
    return "the file has the outlines of a MARE2DEM model without its resistivities; give the .resistivity "
           "file that names it";
  if (is_table_with_semicolons(lines))
    return "the columns of the table are separated by semicolons, as spreadsheets of some languages save "
           "them; separate them by commas, with points in the numbers";
  if (is_table_of_site(lines))
    return "tables of impedances by site, as of the Dublin Secret Models, are not read; write a CSV table of "
           "transfer functions, with a column site, places and errors";
  return {};
}

void refuse_unread(const std::string& path) {
  if (const auto what = unread_kind(text::read_bytes_up_to(path, looked_at), path))
    throw core::FormatError("io::survey::unread#not_read", "{}:1: {}", path, *what);
}

}  // namespace lodestone::io::survey
