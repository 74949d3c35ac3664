// SPDX-License-Identifier: Apache-2.0
// Symbols: N residual covariance of the outputs E_x, E_y, H_z, S inverse signal power of the inputs H_x, H_y.
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "io/emtf/names.hpp"
#include "io/emtf/xml.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

namespace lodestone::io::emtf {
namespace {

namespace mt = physics::mt;
using mt::Complex;
using mt::StationData;
using mt::StationRow;

constexpr const char* reader = "io::emtf::read";
constexpr double missing_from = 1e30;  // files put 1e32 in the place of a number that they lack

struct Orientation {
  double azimuth_deg = 0.0;  ///< azimuth of x of orthogonal channels
  bool by_channel = false;   ///< the layout of the site has azimuths of its own
};

class XmlReader {
 public:
  XmlReader(const std::string& bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  StationData read(const mt::Conventions& chosen) {
    const pugi::xml_node root = root_of();
    StationData station;
    station.path = path_;
    station.format = "EMTF XML";
    read_site(root, station);
    read_frame(root);
    const pugi::xml_node data = root.child("Data");
    if (!data) refuse(root, "no_data", "expected an element <Data>, found none");
    station.header =
        bytes_.substr(0, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, data.offset_debug() - 1)));
    for (const pugi::xml_node period : data.children("Period")) read_period(period, station);
    finish(data, station);
    for (const mt::Remark& remark : mt::convert(station, chosen, stated(root))) note(data, remark);
    station.remarks = std::move(remarks_);
    station.drop_zero_tippers();
    return station;
  }

 private:
  [[nodiscard]] std::string here(const pugi::xml_node& node) const { return at(node.offset_debug()); }
  [[nodiscard]] std::string at(std::ptrdiff_t offset) const {
    const auto end = bytes_.begin() + std::clamp<std::ptrdiff_t>(offset, 0, std::ssize(bytes_));
    return fmt::format("{}:{}", path_, 1 + std::count(bytes_.begin(), end, '\n'));
  }
  void note(const pugi::xml_node& node, const mt::Remark& remark) {
    remarks_.push_back(remark.at(here(node)));
  }
  [[noreturn]] void refuse(const pugi::xml_node& node, std::string_view id, const std::string& text) const {
    throw core::FormatError(
        core::Worded{fmt::format("{}: {}", here(node), text), fmt::format("{}#{}", reader, id)});
  }

  /// Parses the text and returns its element EM_TF, which archives wrap in others.
  pugi::xml_node root_of() {
    const pugi::xml_parse_result result =
        document_.load_buffer(bytes_.data(), bytes_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!result)
      throw core::FormatError(
          core::Worded{fmt::format("{}: expected XML, got text that is none ({}); is the file cut off?",
                                   at(result.offset), result.description()),
                       fmt::format("{}#no_xml", reader)});
    const pugi::xml_node root = document_.find_node(
        [](const pugi::xml_node& node) { return std::string_view(node.name()) == "EM_TF"; });
    if (!root)
      throw core::FormatError("io::emtf::read#no_root",
                              "{}:1: expected an element <EM_TF>, found none; is this EMTF XML?", path_);
    return root;
  }

  /// Returns the number of a text; NaN where there is none, with a remark unless the text is empty.
  double number_of(const pugi::xml_node& node, std::string_view text) {
    const std::string_view word = text::trimmed(text);
    if (word.empty()) return mt::not_given;
    const std::optional<double> value = text::number(word);
    if (!value)
      note(node, fmt::format("expected a number, got \"{}\"; it counts as missing", text::printable(word)));
    return value && std::abs(*value) < missing_from ? *value : mt::not_given;
  }

  void read_site(const pugi::xml_node& root, StationData& station) {
    const pugi::xml_node site = root.child("Site"), location = site.child("Location");
    std::string name{text::trimmed(site.child_value("Id"))};
    if (name.empty()) name = std::filesystem::path(path_).stem().string();
    station.site.name = text::checked_name(core::clean_text(name), reader, here(site));
    station.site.y_m = mt::not_given;
    station.site.latitude_deg = number_of(location, location.child_value("Latitude"));
    double& longitude_deg = station.site.longitude_deg =
        number_of(location, location.child_value("Longitude"));
    if (longitude_deg > 180.0) longitude_deg -= 360.0;
    station.site.elevation_m = number_of(location, location.child_value("Elevation"));
    const std::string units = text::lower(location.child("Elevation").attribute("units").value());
    if (units.starts_with("f")) station.site.elevation_m *= 0.3048;
    station.remote_reference =
        text::trimmed(root.child("ProcessingInfo").child("RemoteRef").attribute("type").value());
  }

  void read_frame(const pugi::xml_node& root) {
    const pugi::xml_node orientation = root.child("Site").child("Orientation");
    frame_.azimuth_deg = number_of(orientation, orientation.attribute("angle_to_geographic_north").value());
    frame_.by_channel = text::lower(text::trimmed(orientation.child_value())) == "sitelayout";
    const bool is_known = std::isfinite(frame_.azimuth_deg);
    if (!is_known) frame_.azimuth_deg = 0.0;
    azimuths_ = mt::ChannelAzimuths::along(frame_.azimuth_deg);
    if (frame_.by_channel) return read_channels(root);
    if (!is_known) note(root, "the file states no orientation; x is taken to point to geographic north");
  }

  void read_channels(const pugi::xml_node& root) {
    const pugi::xml_node layout = root.child("SiteLayout");
    int n = 0;
    const auto take = [&](const pugi::xml_node& channel) {
      const std::string name = text::lower(channel.attribute("name").value());
      const double azimuth_deg = number_of(channel, channel.attribute("orientation").value());
      if (!std::isfinite(azimuth_deg)) return;
      const auto is = [&](const char* word) { return name.starts_with(word); };
      if (is("hx")) azimuths_.hx_deg = azimuths_.tipper_hx_deg = azimuth_deg, ++n;
      if (is("hy")) azimuths_.hy_deg = azimuths_.tipper_hy_deg = azimuth_deg, ++n;
      if (is("ex")) azimuths_.ex_deg = azimuth_deg, ++n;
      if (is("ey")) azimuths_.ey_deg = azimuth_deg, ++n;
    };
    for (const char* side : {"InputChannels", "OutputChannels"})
      for (const pugi::xml_node channel : layout.child(side)) take(channel);
    azimuths_.local_hx_deg = azimuths_.reference_hx_deg = azimuths_.hx_deg;
    azimuths_.local_hy_deg = azimuths_.reference_hy_deg = azimuths_.hy_deg;
    if (n < 2)
      note(root,
           fmt::format("the orientation is that of the site's layout, which the file lacks; x is taken to "
                       "point to {} degrees from geographic north",
                       frame_.azimuth_deg));
  }

  /// Returns the conventions that the file states.
  mt::Conventions stated(const pugi::xml_node& root) {
    mt::Conventions conventions;
    std::string sign;
    for (const char c : std::string_view(root.child("ProcessingInfo").child_value("SignConvention")))
      if (!text::is_blank(c)) sign += c;
    sign = text::lower(sign);
    if (sign.find("-i") != std::string::npos)
      conventions.sign = mt::TimeFactor::minus;
    else if (sign.find("i") != std::string::npos)
      conventions.sign = mt::TimeFactor::plus;
    const std::string units = text::lower(units_);
    if (units.find("mv") != std::string::npos) conventions.units = mt::ImpedanceUnits::field;
    if (units.find("ohm") != std::string::npos || units == "[v/m]/[a/m]")
      conventions.units = mt::ImpedanceUnits::ohm;
    return conventions;
  }

  /// Returns the numbers of a value element: one or two.
  Complex complex_of(const pugi::xml_node& value) {
    const auto words = text::words(value.child_value());
    if (words.empty()) return {mt::not_given, mt::not_given};
    return {number_of(value, words[0]), words.size() > 1 ? number_of(value, words[1]) : 0.0};
  }

  template <std::size_t n>
  static std::optional<Eigen::Index> place(const std::array<std::string_view, n>& names,
                                           std::string_view name) {
    for (std::size_t k = 0; k < n; ++k)
      if (text::equals_ignoring_case(name.substr(0, 2), names[k])) return static_cast<Eigen::Index>(k);
    return {};
  }

  static const NamedElement* element_of(const pugi::xml_node& value) {
    const std::string_view output = value.attribute("output").value(),
                           input = value.attribute("input").value(), name = value.attribute("name").value();
    for (const NamedElement& each : named_elements) {
      const bool by_channels = text::equals_ignoring_case(output.substr(0, 2), each.output) &&
                               text::equals_ignoring_case(input.substr(0, 2), each.input);
      if (by_channels || (output.empty() && text::equals_ignoring_case(name, each.name))) return &each;
    }
    return nullptr;
  }

  /// Puts a Hermitian matrix of the file into one of which only these channels are looked for.
  template <std::size_t n, class Matrix>
  void read_matrix(const pugi::xml_node& of, const std::array<std::string_view, n>& names, Matrix& matrix) {
    for (const pugi::xml_node value : of.children("value")) {
      const auto i = place(names, value.attribute("output").value()),
                 j = place(names, value.attribute("input").value());
      if (i && j) matrix(*i, *j) = complex_of(value);
    }
  }

  void read_period(const pugi::xml_node& period, StationData& station) {
    StationRow row;
    const double value = number_of(period, period.attribute("value").value());
    const bool is_hz = text::lower(period.attribute("units").value()).starts_with("h");
    row.frequency_hz = is_hz ? value : 1.0 / value;
    if (!mt::is_in_frequency_range(row.frequency_hz)) {
      note(period, fmt::format("the period \"{}\" lies beyond {:g} to {:g} s; left out",
                               text::printable(period.attribute("value").value()),
                               1.0 / mt::largest_frequency_hz, 1.0 / mt::least_frequency_hz));
      return;
    }
    row.azimuths = azimuths_;
    for (const char* type : {"Z", "T"}) read_values(period.child(type), row);
    read_errors(period, row);
    station.rows.push_back(std::move(row));
  }

  void read_values(const pugi::xml_node& tensor, StationRow& row) {
    if (std::string_view(tensor.name()) == "Z" && units_.empty()) units_ = tensor.attribute("units").value();
    for (const pugi::xml_node value : tensor.children("value")) {
      if (const NamedElement* named = element_of(value)) row.values[named->element] = complex_of(value);
    }
  }

  void read_errors(const pugi::xml_node& period, StationRow& row) {
    for (const char* type : {"Z.VAR", "T.VAR"}) {
      for (const pugi::xml_node value : period.child(type).children("value")) {
        const NamedElement* named = element_of(value);
        const double variance = complex_of(value).real();
        if (named && variance >= 0.0) row.errors[named->element] = std::sqrt(0.5 * variance);
        if (variance < 0.0) ++n_negative_;
      }
    }
    mt::SignalAndNoise known;
    known.inverse_signal.fill({mt::not_given, mt::not_given});
    known.noise.fill({mt::not_given, mt::not_given});
    Eigen::Matrix2cd of_tipper = known.inverse_signal;
    read_matrix(period.child("Z.INVSIGCOV"), input_names, known.inverse_signal);
    read_matrix(period.child("T.INVSIGCOV"), input_names, of_tipper);
    read_matrix(period.child("Z.RESIDCOV"), output_names, known.noise);
    const bool shared = of_tipper == known.inverse_signal, alone = !known.inverse_signal.allFinite();
    if (alone) known.inverse_signal = of_tipper;
    if (shared || alone) read_matrix(period.child("T.RESIDCOV"), output_names, known.noise);
    if (!known.inverse_signal.allFinite() || !known.noise.diagonal().real().array().isFinite().any()) return;
    for (const Eigen::Index e : {0, 1}) {  // the file has no covariance of E and H_z
      if (!std::isfinite(known.noise(e, e).real()) || !std::isfinite(known.noise(2, 2).real())) continue;
      known.noise(e, 2) = known.noise(2, e) = 0.0;
    }
    const mt::Elements::Errors stated = row.errors;
    row.set_estimates(known);
    for (const mt::Element element : mt::all_elements)
      if (std::abs(stated[element] / row.errors[element] - 1.0) > 0.01) ++n_contradicting_;
  }

  void finish(const pugi::xml_node& data, StationData& station) {
    const auto has_value = [](const StationRow& row) {
      return std::ranges::any_of(mt::all_elements, [&](mt::Element e) { return !row.is_missing(e); });
    };
    if (std::ranges::none_of(station.rows, has_value))
      refuse(data, "no_values",
             fmt::format("expected impedances or tippers, found none at {} periods", station.rows.size()));
    station.sort();
    const auto same = [](const StationRow& a, const StationRow& b) {
      return a.frequency_hz == b.frequency_hz;
    };
    const auto repeated = std::unique(station.rows.begin(), station.rows.end(), same);
    if (repeated != station.rows.end())
      note(data,
           fmt::format("{} periods stand twice; the first of each is kept", station.rows.end() - repeated));
    station.rows.erase(repeated, station.rows.end());
    if (n_negative_ > 0)
      note(data, fmt::format("{} variances are negative; these errors are missing", n_negative_));
    if (n_contradicting_ > 0)
      note(data,
           fmt::format("{} variances differ from those of the covariances of signal and residuals, which "
                       "are taken",
                       n_contradicting_));
  }

  const std::string& bytes_;
  std::string path_, units_;
  pugi::xml_document document_;
  Orientation frame_;
  mt::ChannelAzimuths azimuths_;
  std::vector<mt::Remark> remarks_;
  int n_negative_ = 0, n_contradicting_ = 0;
};

}  // namespace

bool is_emtf_xml(std::string_view bytes) { return bytes.find("<EM_TF") != std::string_view::npos; }

StationData parse(const std::string& bytes, const std::string& path, const mt::Conventions& chosen) {
  return XmlReader(bytes, path).read(chosen);
}

StationData read(const std::string& path, const mt::Conventions& chosen) {
  return parse(text::read_bytes(path), path, chosen);
}

}  // namespace lodestone::io::emtf
