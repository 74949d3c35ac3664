// SPDX-License-Identifier: Apache-2.0
// Symbols: S inverse signal power of the inputs H_x, H_y, N residual covariance of the outputs E_x, E_y, H_z.
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "io/mth5/mth5.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>

namespace lodestone::io::mth5 {
namespace {

namespace mt = physics::mt;
using mt::Complex;
using mt::Element;
using mt::StationData;
using mt::StationRow;

constexpr const char* reader = "io::mth5::read";
constexpr std::string_view ending = "/transfer_function";
constexpr std::string_view folder = "/Transfer_Functions/";

constexpr std::array<std::string_view, 3> outputs{"ex", "ey", "hz"};
constexpr std::array<std::string_view, 2> inputs{"hx", "hy"};
/// Elements by output and input.
constexpr std::array<std::array<Element, 2>, 3> elements{
    {{Element::zxx, Element::zxy}, {Element::zyx, Element::zyy}, {Element::tzx, Element::tzy}}};

/// Returns the words of a text such as `["ex", "ey"]`, in lower case.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names(1);
  for (const char c : text::lower(text)) {
    const bool is_part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (is_part) names.back() += c;
    if (!is_part && !names.back().empty()) names.emplace_back();
  }
  if (names.back().empty()) names.pop_back();
  return names;
}

/// Returns for each of the names where it stands in a list.
template <std::size_t n>
std::array<std::optional<std::size_t>, n> places_of(const std::array<std::string_view, n>& names,
                                                    const std::vector<std::string>& list) {
  std::array<std::optional<std::size_t>, n> places{};
  for (std::size_t i = 0; i < n; ++i) {
    const auto found =
        std::ranges::find_if(list, [&](const std::string& each) { return each.starts_with(names.at(i)); });
    if (found != list.end()) places.at(i) = static_cast<std::size_t>(found - list.begin());
  }
  return places;
}

/// One group of a transfer function.
class Group {
 public:
  Group(const hdf5::Hdf5Source& source, std::string path, std::string name)
      : source_(source), path_(std::move(path)), name_(std::move(name)) {}

  StationData read(const mt::Conventions& chosen) {
    StationData station;
    station.path = path_;
    station.format = "MTH5";
    read_site(station.site);
    read_reference(station);
    read_channels();
    read_rows(station);
    for (const mt::Remark& each : mt::convert(station, chosen, stated())) remark(each);
    station.remarks = std::move(remarks_);
    station.drop_zero_tippers();
    return station;
  }

 private:
  [[noreturn]] void refuse(std::string_view id, const std::string& object, const std::string& text) const {
    throw core::FormatError(core::Worded{fmt::format("{}: object '{}': {}", path_, object, text),
                                         fmt::format("{}#{}", reader, id)});
  }
  void remark(const mt::Remark& remark) { remarks_.push_back(remark.at(path_ + ": " + name_)); }

  [[nodiscard]] std::string station_group() const { return name_.substr(0, name_.find(folder)); }
  [[nodiscard]] std::string array(const char* name) const { return name_ + "/" + name; }

  std::string text_of(const std::string& object, const char* key) const {
    return source_.has_text(object, key) ? source_.attribute(object, key) : std::string();
  }
  /// Returns a number of the station's group of at most this size; NaN where it has none.
  double number_of(const char* key, double most) const {
    const double value = source_.number(station_group(), key).value_or(mt::not_given);
    return std::abs(value) <= most ? value : mt::not_given;
  }

  void read_site(mt::Station& site) const {
    constexpr double largest_elevation_m = 1e5;
    const std::string group = station_group(), id = text_of(group, "id");
    const std::string name = id.empty() ? group.substr(group.rfind('/') + 1) : id;
    site.name = text::checked_name(core::clean_text(name), reader, path_);
    site.y_m = mt::not_given;
    site.latitude_deg = number_of("location.latitude", 90.0);
    site.longitude_deg = number_of("location.longitude", mt::largest_angle_deg);
    if (site.longitude_deg > 180.0) site.longitude_deg -= 360.0;
    site.elevation_m = number_of("location.elevation", largest_elevation_m);
    if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)
      site.latitude_deg = site.longitude_deg = mt::not_given;
  }

  void read_reference(StationData& station) const {
    station.remote_reference =
        fmt::format("{}", fmt::join(names_in(text_of(name_, "remote_references")), ", "));
  }

  void read_channels() {
    const std::string object = array("transfer_function");
    std::vector<std::string> rows = names_in(text_of(object, "output_channels")),
                             columns = names_in(text_of(object, "input_channels"));
    shape_ = source_.info(object).shape;
    if (shape_.size() != 3)
      refuse(
          "wrong_shape", object,
          fmt::format("expected an array of periods, outputs and inputs, got {} dimensions", shape_.size()));
    if (rows.empty() || columns.empty()) {
      remark("no names of channels; outputs are taken as Ex, Ey and Hz, inputs as Hx and Hy");
      rows = shape_[1] == 1 ? std::vector<std::string>{"hz"} : std::vector<std::string>{"ex", "ey", "hz"};
      columns = {"hx", "hy"};
    }
    output_ = places_of(outputs, rows);
    input_ = places_of(inputs, columns);
    for (auto& place : output_)
      if (place && static_cast<std::int64_t>(*place) >= shape_[1]) place.reset();
    if (!input_[0] || !input_[1] || shape_[2] <= static_cast<std::int64_t>(std::max(*input_[0], *input_[1])))
      refuse("no_inputs", object,
             fmt::format("expected inputs hx and hy, got {} in {} columns", fmt::join(columns, ", "),
                         shape_[2]));
  }

  /// Returns numbers of an array (periods, n, m); empty where there is none of this shape.
  template <class T>
  std::vector<T> cube(const char* name, std::int64_t n, std::int64_t m) {
    const std::string object = array(name);
    if (!source_.contains(object)) return {};
    const std::vector<std::int64_t> shape = source_.info(object).shape;
    if (shape != std::vector<std::int64_t>{shape_[0], n, m}) {
      remark(fmt::format("{} has shape [{}]; left out", name, fmt::join(shape, ", ")));
      return {};
    }
    if constexpr (std::is_same_v<T, double>)
      return core::read_doubles(source_, object);
    else
      return core::read_complexes(source_, object);
  }

  void read_rows(StationData& station) {
    const std::vector<double> periods = core::read_doubles(source_, array("period"));
    if (static_cast<std::int64_t>(periods.size()) != shape_[0])
      refuse("wrong_shape", array("period"),
             fmt::format("expected {} periods, as the transfer function has, got {}", shape_[0],
                         periods.size()));
    const auto values = core::read_complexes(source_, array("transfer_function"));
    const auto errors = cube<double>("transfer_function_error", shape_[1], shape_[2]);
    const auto signal = cube<Complex>("inverse_signal_power", shape_[2], shape_[2]);
    const auto noise = cube<Complex>("residual_covariance", shape_[1], shape_[1]);
    const mt::ChannelAzimuths azimuths = read_azimuths();
    for (std::size_t p = 0; p < periods.size(); ++p) {
      if (!mt::is_in_frequency_range(periods[p])) {
        remark(fmt::format("a period of {} s is out of range; left out", periods[p]));
        continue;
      }
      StationRow row;
      row.frequency_hz = 1.0 / periods[p];
      row.azimuths = azimuths;
      read_values(p, values, errors, row);
      if (!signal.empty() && !noise.empty()) read_estimates(p, signal, noise, row);
      station.rows.push_back(std::move(row));
    }
    finish(station);
  }

  mt::ChannelAzimuths read_azimuths() {
    const auto angle = source_.number(station_group(), "orientation.angle_to_geographic_north");
    const std::string frame = text::lower(text_of(name_, "coordinate_system"));
    const bool is_stated = angle && std::abs(*angle) <= mt::largest_angle_deg;
    if (!is_stated && frame != "geographic")
      remark("the file states no angle to geographic north; x is taken to point there");
    return mt::ChannelAzimuths::along(is_stated ? *angle : 0.0);
  }

  [[nodiscard]] std::size_t index(std::size_t p, std::size_t row, std::size_t column) const {
    const auto n = static_cast<std::size_t>(shape_[1]), m = static_cast<std::size_t>(shape_[2]);
    return (p * n + row) * m + column;
  }

  void read_values(std::size_t p, const std::vector<Complex>& values, const std::vector<double>& errors,
                   StationRow& row) const {
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      for (std::size_t i = 0; i < inputs.size() && output_[o]; ++i) {
        const std::size_t at = index(p, *output_[o], *input_[i]);
        const Element element = elements[o][i];
        if (values[at] == 0.0 || !std::isfinite(values[at].real()) || !std::isfinite(values[at].imag()))
          continue;
        row.values[element] = values[at];
        if (!errors.empty() && errors[at] > 0.0) row.errors[element] = errors[at] / std::numbers::sqrt2;
      }
    }
  }

  /// Reads signal and noise, with the noise of outputs that were not measured as missing.
  void read_estimates(std::size_t p, const std::vector<Complex>& signal, const std::vector<Complex>& noise,
                      StationRow& row) const {
    const auto n = static_cast<std::size_t>(shape_[1]), m = static_cast<std::size_t>(shape_[2]);
    mt::SignalAndNoise known;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (std::size_t j = 0; j < inputs.size(); ++j)
        known.inverse_signal(static_cast<int>(i), static_cast<int>(j)) =
            signal[(p * m + *input_[i]) * m + *input_[j]];
    const auto noise_at = [&](std::size_t a, std::size_t b) {
      if (!output_[a] || !output_[b]) return Complex(mt::not_given, mt::not_given);
      return noise[(p * n + *output_[a]) * n + *output_[b]];
    };
    const auto is_known = [&](std::size_t a) { return noise_at(a, a).real() > 0.0; };
    for (std::size_t a = 0; a < outputs.size(); ++a)
      for (std::size_t b = 0; b < outputs.size(); ++b)
        known.noise(static_cast<int>(a), static_cast<int>(b)) =
            is_known(a) && is_known(b) ? noise_at(a, b) : Complex(mt::not_given, mt::not_given);
    const bool has_signal =
        known.inverse_signal.allFinite() && (known.inverse_signal.diagonal().real().array() > 0.0).all();
    if (has_signal && known.noise.diagonal().real().array().isFinite().any()) row.set_estimates(known);
  }

  void finish(StationData& station) {
    const auto has_value = [](const StationRow& row) {
      return std::ranges::any_of(mt::all_elements, [&](Element e) { return !row.is_missing(e); });
    };
    if (std::ranges::none_of(station.rows, has_value))
      refuse("no_values", array("transfer_function"),
             fmt::format("expected impedances or tippers, found none at {} periods", station.rows.size()));
    station.sort();
    const auto same = [](const StationRow& a, const StationRow& b) {
      return a.frequency_hz == b.frequency_hz;
    };
    const auto repeated = std::unique(station.rows.begin(), station.rows.end(), same);
    if (repeated != station.rows.end())
      remark(fmt::format("{} periods stand twice; the first of each is kept", station.rows.end() - repeated));
    station.rows.erase(repeated, station.rows.end());
  }

  [[nodiscard]] mt::Conventions stated() const {
    mt::Conventions conventions;
    const std::string sign = text::lower(text_of(name_, "sign_convention")),
                      units = text::lower(text_of(name_, "units"));
    if (sign.find('-') != std::string::npos) {
      conventions.sign = mt::TimeFactor::minus;
    } else if (sign.find('+') != std::string::npos || sign.find("exp(i") != std::string::npos) {
      conventions.sign = mt::TimeFactor::plus;
    }
    if (units.find("ohm") != std::string::npos) conventions.units = mt::ImpedanceUnits::ohm;
    if (units.find("millivolt") != std::string::npos || units.find("mv") != std::string::npos)
      conventions.units = mt::ImpedanceUnits::field;
    return conventions;
  }

  const hdf5::Hdf5Source& source_;
  std::string path_, name_;
  std::vector<std::int64_t> shape_;
  std::array<std::optional<std::size_t>, 3> output_{};  ///< rows of Ex, Ey and Hz
  std::array<std::optional<std::size_t>, 2> input_{};   ///< columns of Hx and Hy
  std::vector<mt::Remark> remarks_;
};

}  // namespace

std::vector<StationData> read(const std::string& path, const mt::Conventions& chosen) {
  const hdf5::Hdf5Source source(path);
  std::vector<StationData> stations;
  std::set<std::string> taken;
  for (const std::string& name : source.names()) {
    if (!name.ends_with(ending) || name.find(folder) == std::string::npos) continue;
    StationData& station =
        stations.emplace_back(Group(source, path, name.substr(0, name.size() - ending.size())).read(chosen));
    const std::string unique = text::untaken_name(station.site.name, taken);
    if (unique != station.site.name)
      station.remarks.push_back(fmt::format("{}: {} is another transfer function of station {}; named {}",
                                            path, name, station.site.name, unique));
    station.site.name = unique;
  }
  if (stations.empty())
    throw core::FormatError("io::mth5::read#no_transfer_function",
                            "{}: expected transfer functions in groups Transfer_Functions, found none; time "
                            "series are to be processed first",
                            path);
  return stations;
}

bool is_mth5(const hdf5::Hdf5Source& source) {
  return source.has_text("", "file.type") && source.attribute("", "file.type") == "MTH5";
}

}  // namespace lodestone::io::mth5
