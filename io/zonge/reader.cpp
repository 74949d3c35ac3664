// SPDX-License-Identifier: Apache-2.0
// Symbols: R = H H_reference^-1 and Zr = E H_reference^-1, so that Z = Zr R^-1; A = R^-1.
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "engine/core/median.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/zonge/zonge.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/rho_phase.hpp"

#include <Eigen/LU>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

namespace lodestone::io::zonge {
namespace {

using physics::mt::ChannelAzimuths;
using physics::mt::Element;
using physics::mt::Estimate;
using physics::mt::not_given;
using physics::mt::StationData;
using physics::mt::StationRow;

constexpr const char* reader = "io::zonge::read";

struct Component {
  std::string_view name;  ///< as `$Rx.Cmp` states it, in lower case
  Element element;
  bool is_remote;  ///< over the field of a reference
};
constexpr std::array<Component, 14> components{{{"zxx", Element::zxx, false},
                                                {"zxy", Element::zxy, false},
                                                {"zyx", Element::zyx, false},
                                                {"zyy", Element::zyy, false},
                                                {"tzx", Element::tzx, false},
                                                {"tzy", Element::tzy, false},
                                                {"zxxr", Element::zxx, true},
                                                {"zxyr", Element::zxy, true},
                                                {"zyxr", Element::zyx, true},
                                                {"zyyr", Element::zyy, true},
                                                {"rxxr", Element::mxx, true},
                                                {"rxyr", Element::mxy, true},
                                                {"ryxr", Element::myx, true},
                                                {"ryyr", Element::myy, true}}};

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> out;
  for (auto comma = line.find(','); comma != std::string_view::npos; comma = line.find(',')) {
    out.push_back(text::trimmed(line.substr(0, comma)));
    line.remove_prefix(comma + 1);
  }
  out.push_back(text::trimmed(line));
  return out;
}

/// "$Rx.Cmp = Zxx": the key without "$" and blanks, in lower case, and the value without quotes.
struct Entry {
  std::string key;
  std::string_view value;
};
Entry entry_of(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return {};
  std::string_view value = text::trimmed(line.substr(equals + 1));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = text::trimmed(value.substr(1, value.size() - 2));
  return {text::lower(text::trimmed(line.substr(1, equals - 1))), value};
}

/// Places of columns in a row; npos: the table has none.
struct Columns {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t skip = none, frequency = none, modulus = none, phase = none, rho = none, rho_error = none,
              phase_error = none;
  std::size_t n = 0;
};

bool is_table_head(std::string_view line) {
  return text::lower(line).starts_with("skp") && line.find(',') != std::string_view::npos;
}

class AvgReader {
 public:
  AvgReader(const std::string& text, const std::string& path, const Options& options)
      : lines_(text, path, reader, ""), options_(options) {
    station_.path = path;
    station_.format = "Zonge AVG";
    station_.site.y_m = not_given;
    station_.site.latitude_deg = station_.site.longitude_deg = station_.site.elevation_m = not_given;
  }

  StationData read() {
    while (lines_.next()) {
      const std::string_view line = lines_.text();
      if (line.front() == '$')
        read_entry(entry_of(line));
      else if (is_table_head(line))
        read_columns(fields(line));
      else
        read_row(fields(line));
    }
    finish();
    return std::move(station_);
  }

 private:
  void remark(const physics::mt::Remark& remark) { station_.remarks.push_back(remark.at(lines_.here())); }
  void remark_on_file(const physics::mt::Remark& remark) {
    station_.remarks.push_back(remark.at(station_.path + ":1"));
  }

  void read_entry(const Entry& entry) {
    const auto& [key, value] = entry;
    auto& site = station_.site;
    if (key == "rx.cmp") begin_component(value);
    if (key == "ch.cmp") name_channels(value);
    if (key == "ch.azimuth") read_azimuths(value);
    if (key == "rx.hpr") x_deg_ = angle(fields(value)[0], "heading", physics::mt::largest_angle_deg);
    if (key == "gps.lat") site.latitude_deg = angle(value, "latitude", 90.0);
    if (key == "gps.lon") site.longitude_deg = angle(value, "longitude", physics::mt::largest_angle_deg);
    if (key == "rx.center" && std::isnan(site.elevation_m)) read_elevation(value);
    const bool is_name = key == "stn.name" || (key == "rx.gdpstn" && site.name.empty());
    if (is_name && !value.empty()) site.name = lines_.name(value);
    if (key == "unit.b" && !text::equals_ignoring_case(value, "nT"))
      remark(fmt::format("magnetic fields are in {}; Z.mag is taken as mV/km/nT all the same",
                         text::printable(value)));
  }

  double angle(std::string_view value, const char* what, double largest) {
    const auto read = text::number(value);
    if (read && std::abs(*read) <= largest) return *read;
    const std::string named = fmt::format("{} \"{}\"", what, text::printable(value));
    if (read)
      remark(physics::mt::impossible_angle(named, what, *read, largest));
    else
      remark(named + " is not an angle; taken as unknown");
    return not_given;
  }

  /// "easting:northing:elevation m"
  void read_elevation(std::string_view center) {
    constexpr double metres_per_foot = 0.3048, largest_elevation_m = 1e5;
    const auto colon = center.rfind(':');
    if (colon == std::string_view::npos) return;
    const auto words = text::words(center.substr(colon + 1));
    const auto value = words.empty() ? std::nullopt : text::number(words[0]);
    if (!value || !(std::abs(*value) <= largest_elevation_m)) return;
    const bool is_feet = words.size() > 1 && text::lower(words[1]).starts_with("f");
    station_.site.elevation_m = is_feet ? *value * metres_per_foot : *value;
  }

  void begin_component(std::string_view name) {
    const std::string word = text::lower(name);
    const auto found = std::ranges::find_if(components, [&](const Component& c) { return c.name == word; });
    component_ = found == components.end() ? nullptr : &*found;
    element_ = component_ == nullptr ? Element::zxx : component_->element;
    has_component_ = true;
    if (component_ == nullptr)
      remark(fmt::format("the component {} is none of the elements of a tensor; left out",
                         text::printable(name)));
    has_remote_ = has_remote_ || (component_ != nullptr && component_->is_remote && is_impedance(element_));
    has_local_ = has_local_ || (component_ != nullptr && !component_->is_remote && is_impedance(element_));
  }

  /// Channels tell apart what `$Rx.Cmp` names alike: "Rxxr" is Hx over Hxr and Hx over Hyr.
  void name_channels(std::string_view value) {
    const auto channels = fields(value);
    if (component_ == nullptr || channels.size() != 2 || channels[1].size() < 2) return;
    if (!is_interstation(component_->element)) return;
    const bool is_second = text::lower(channels[1])[1] == 'y';
    const bool is_of_y = component_->element == Element::myx || component_->element == Element::myy;
    element_ =
        is_of_y ? (is_second ? Element::myy : Element::myx) : (is_second ? Element::mxy : Element::mxx);
  }

  /// Azimuths of the output and the input of the component.
  void read_azimuths(std::string_view value) {
    const auto parts = fields(value);
    if (component_ == nullptr || parts.size() != 2) return;
    const double output = angle(parts[0], "azimuth", physics::mt::largest_angle_deg);
    const double input = angle(parts[1], "azimuth", physics::mt::largest_angle_deg);
    if (std::isnan(output) || std::isnan(input)) return;
    if (is_impedance(element_)) {
      const bool of_ey = element_ == Element::zyx || element_ == Element::zyy;
      const bool of_hy = element_ == Element::zxy || element_ == Element::zyy;
      azimuths_[of_ey ? "ey" : "ex"] = output;
      azimuths_[of_hy ? "hy" : "hx"] = input;
    } else if (is_tipper(element_)) {
      azimuths_[element_ == Element::tzy ? "ty" : "tx"] = input;
    } else {
      const bool of_y = element_ == Element::myx || element_ == Element::myy;
      azimuths_[of_y ? "local y" : "local x"] = output;
    }
  }

  void read_columns(const std::vector<std::string_view>& names) {
    columns_ = {};
    columns_.n = names.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = text::lower(names[i]);
      if (name == "skp") columns_.skip = i;
      if (name == "freq") columns_.frequency = i;
      if (name == "z.mag") columns_.modulus = i;
      if (name == "z.phz") columns_.phase = i;
      if (name == "ares.mag") columns_.rho = i;
      if (name == "ares.%err") columns_.rho_error = i;
      if (name == "z.perr") columns_.phase_error = i;
    }
    if (columns_.frequency == Columns::none || columns_.modulus == Columns::none ||
        columns_.phase == Columns::none)
      lines_.refuse("unknown_columns",
                    fmt::format("expected columns Freq, Z.mag and Z.phz as MTEdit writes them, got \"{}\"; "
                                "files of controlled sources are not read",
                                text::printable(lines_.text())));
  }

  void read_row(const std::vector<std::string_view>& row) {
    if (columns_.n == 0 || !has_component_)
      lines_.refuse("no_table",
                    fmt::format("expected \"$Rx.Cmp = …\" and the names of columns \"Skp,Freq,…\" before the "
                                "data, got \"{}\"; is this an .avg file of MTEdit?",
                                text::printable(lines_.text())));
    if (row.size() != columns_.n)
      lines_.refuse("wrong_columns",
                    fmt::format("expected {} columns, got {}; is the file cut off?", columns_.n, row.size()));
    if (component_ == nullptr) return;
    const auto number = [&](std::size_t column, const char* what) {
      if (column == Columns::none) return not_given;
      const auto value = text::number(row[column]);
      if (!value)
        lines_.refuse("not_a_number",
                      fmt::format("expected {}, got \"{}\"", what, text::printable(row[column])));
      return *value;
    };
    const double frequency_hz = number(columns_.frequency, "a frequency in Hz");
    if (!physics::mt::is_in_frequency_range(frequency_hz))
      return remark(fmt::format("a frequency of {} Hz is out of range; left out", frequency_hz));
    StationRow& to = row_at(frequency_hz);
    const double skip = number(columns_.skip, "a skip flag");
    if (skip < 1.0 || (skip < 2.0 && options_.flagged == Flagged::leave_out)) {
      ++n_skipped_;
      return;
    }
    const double modulus = number(columns_.modulus, "Z.mag"), phase = number(columns_.phase, "Z.phz");
    const double rho_error = number(columns_.rho_error, "ARes.%err"),
                 phase_error = number(columns_.phase_error, "Z.perr");
    compare_rho(modulus, number(columns_.rho, "ARes.mag"), frequency_hz);
    const double relative = std::fmax(rho_error > 0.0 ? rho_error / 200.0 : not_given,
                                      phase_error > 0.0 ? phase_error / 1000.0 : not_given);
    if (!(modulus >= 0.0) || !std::isfinite(modulus) || !std::isfinite(phase)) return;
    if (!to.is_missing(element_))
      return remark(fmt::format("a second value of {} at {} Hz; the first is kept", rule_of(element_).name,
                                frequency_hz));
    to.values[element_] = std::polar(modulus, phase / 1000.0);
    to.errors[element_] = modulus * relative;
  }

  StationRow& row_at(double frequency_hz) {
    return component_->is_remote ? remote_.row_at(frequency_hz) : station_.row_at(frequency_hz);
  }

  /// Counts the impedances whose ρₐ is not that of mV/km/nT.
  void compare_rho(double modulus, double rho, double frequency_hz) {
    constexpr double digits = 0.02;
    if (!is_impedance(element_) || !(rho > 0.0) || !(modulus > 0.0)) return;
    ++n_rho_;
    if (std::abs(0.2 * modulus * modulus / frequency_hz / rho - 1.0) > digits) ++n_other_rho_;
  }

  /// Refers E to the magnetic field at the station; where that is not known, to that of the reference.
  void refer_to_station() {
    bool has_field = true;
    for (const StationRow& row : remote_.rows) {
      StationRow& to = station_.row_at(row.frequency_hz);
      const auto at = [&](Element e) { return row.values[e]; };
      const Eigen::Matrix2cd r{{at(Element::mxx), at(Element::mxy)}, {at(Element::myx), at(Element::myy)}};
      has_field = has_field && (r.array() == r.array()).all();
      set_local(row, r, to);
    }
    if (has_field) {
      remark_on_file(
          "impedances refer to the magnetic field of a reference; they were referred to that of the station, "
          "with errors as of independent numbers");
    } else {
      remark_on_file(
          "impedances refer to the magnetic field of a reference; where the file does not relate it to that "
          "of the station, they are missing");
    }
  }

  static void set_local(const StationRow& row, const Eigen::Matrix2cd& r, StationRow& to) {
    constexpr double least_determinant = 1e-6;
    if (!(std::abs(r.determinant()) > least_determinant)) return;
    const Eigen::Matrix2cd a = r.inverse();
    const std::array<std::array<Element, 2>, 2> z_of{
        {{Element::zxx, Element::zxy}, {Element::zyx, Element::zyy}}};
    const std::array<std::array<Element, 2>, 2> m_of{
        {{Element::mxx, Element::mxy}, {Element::myx, Element::myy}}};
    for (std::size_t i = 0; i < 2; ++i) {
      const Eigen::RowVector2cd zr(row.values[z_of[i][0]], row.values[z_of[i][1]]);
      const Eigen::RowVector2cd z = zr * a;
      for (std::size_t k = 0; k < 2; ++k) {
        const auto kk = static_cast<int>(k);
        double variance = 0.0;
        for (std::size_t j = 0; j < 2; ++j) {
          const double weight = std::norm(a(static_cast<int>(j), kk));
          variance += weight * std::pow(row.errors[z_of[i][j]], 2);
          for (std::size_t m = 0; m < 2; ++m)
            variance += std::norm(z(static_cast<int>(m))) * weight * std::pow(row.errors[m_of[m][j]], 2);
        }
        to.values[z_of[i][k]] = z(kk);
        to.errors[z_of[i][k]] = std::sqrt(variance);
      }
    }
  }

  void set_azimuths() {
    const double x = std::isnan(x_deg_) ? 0.0 : x_deg_;
    const auto of = [&](const char* name, double otherwise) {
      const auto found = azimuths_.find(name);
      return found == azimuths_.end() ? otherwise : found->second;
    };
    ChannelAzimuths at = ChannelAzimuths::along(x);
    at.ex_deg = of("ex", x);
    at.ey_deg = of("ey", x + 90.0);
    // Components that were referred to the station have its magnetic channels.
    at.hx_deg = has_remote_ ? of("local x", of("hx", x)) : of("hx", x);
    at.hy_deg = has_remote_ ? of("local y", of("hy", x + 90.0)) : of("hy", x + 90.0);
    at.tipper_hx_deg = of("tx", at.hx_deg);
    at.tipper_hy_deg = of("ty", at.hy_deg);
    for (StationRow& row : station_.rows) row.azimuths = at;
  }

  void finish() {
    if (has_remote_ && !has_local_) refer_to_station();
    if (has_remote_ && has_local_)
      remark_on_file("components over the field of a reference are left out; those of the station are there");
    if (n_skipped_ > 0)
      remark_on_file(fmt::format("{} values with a skip flag of {} are left out", n_skipped_,
                                 options_.flagged == Flagged::keep ? "0" : "0 or 1"));
    if (n_other_rho_ > n_rho_ / 2)
      remark_on_file("ARes.mag is not Z.mag squared over 5 f; are the units of Z.mag other than mV/km/nT?");
    const auto has_value = [](const StationRow& row) {
      return std::ranges::any_of(physics::mt::all_elements,
                                 [&](Element element) { return !row.is_missing(element); });
    };
    if (std::ranges::none_of(station_.rows, has_value))
      lines_.refuse("no_values",
                    "expected values of Zxx, Zxy, Zyx, Zyy, Tzx or Tzy that are not skipped, "
                    "found none; is the file cut off, or are Rxxr … missing beside Zxxr …?");
    if (station_.site.name.empty())
      station_.site.name = lines_.name(std::filesystem::path(station_.path).stem().string());
    if (station_.site.longitude_deg > 180.0) station_.site.longitude_deg -= 360.0;
    set_azimuths();
    station_.sort();
    for (const physics::mt::Remark& remark :
         convert(station_, {options_.sign}, {.units = physics::mt::ImpedanceUnits::field}))
      remark_on_file(remark);
    remark_on_polarity();
    remark_on_tipper();
    station_.drop_zero_tippers();
  }

  /// Two axes of a field the other way round put Zxy into the third quadrant and Zyx into the first.
  void remark_on_polarity() {
    int n = 0, n_reversed = 0;
    for (const StationRow& row : station_.rows) {
      for (const auto& [element, sign] : {std::pair{Element::zxy, 1.0}, std::pair{Element::zyx, -1.0}}) {
        if (row.is_missing(element)) continue;
        ++n;
        if (sign * row.values[element].real() < 0.0) ++n_reversed;
      }
    }
    if (3 * n_reversed > 2 * n)
      remark_on_file(
          "Zxy and Zyx lie in the quadrants of each other: E or H points the other way (an axis y to the "
          "west, "
          "or swapped electrodes); values are kept as they stand");
  }

  void remark_on_tipper() {
    constexpr double largest = 1.5;
    std::vector<double> moduli;
    for (const StationRow& row : station_.rows) {
      for (const Element element : {Element::tzx, Element::tzy}) {
        if (!row.is_missing(element)) moduli.push_back(std::abs(row.values[element]));
      }
    }
    if (moduli.empty()) return;
    const double middle = core::median(std::move(moduli));
    if (middle > largest)
      remark_on_file(
          fmt::format("the median modulus of the tipper is {:.3g}, which the earth does not have; "
                      "look at Hz before use",
                      middle));
  }

  text::LineReader lines_;
  Options options_;
  StationData station_, remote_;  ///< components over the field at the station, and at a reference
  const Component* component_ = nullptr;
  Element element_ = Element::zxx;
  bool has_component_ = false, has_local_ = false, has_remote_ = false;
  Columns columns_;
  double x_deg_ = not_given;
  std::map<std::string, double> azimuths_;  ///< by channel
  int n_skipped_ = 0, n_rho_ = 0, n_other_rho_ = 0;
};

}  // namespace

StationData parse(const std::string& bytes, const std::string& path, const Options& options) {
  const std::string text = core::clean_text(bytes);
  return AvgReader(text, path, options).read();
}

StationData read(const std::string& path, const Options& options) {
  return parse(text::read_bytes(path), path, options);
}

bool is_avg(std::string_view bytes) {
  bool has_entry = false;
  for (const auto line : text::split_lines(bytes)) {
    const auto text = text::trimmed(line);
    if (text.empty()) continue;
    if (text.front() != '$') return has_entry && is_table_head(text);
    has_entry = true;
    if (entry_of(text).key == "rx.cmp") return true;
  }
  return false;
}

}  // namespace lodestone::io::zonge
