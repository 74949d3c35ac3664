// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/modem/words.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lodestone::io::modem {
namespace {

using physics::mt::Complex;
using physics::mt::Datum;
using physics::mt::Element;
using physics::mt::largest_angle_deg;
using physics::mt::largest_coordinate_m;
using physics::mt::not_given;
using physics::mt::Station;
using physics::mt::StationData;

/// The element of a block of complex numbers.
Element element_in(ModemBlockKind kind) {
  return kind == ModemBlockKind::te ? Element::zxy : kind == ModemBlockKind::tm ? Element::zyx : Element::tzy;
}

/// A number of a row with its error; NaN: none given.
struct Uncertain {
  double value, sigma;
};

struct Header {
  ModemBlockKind kind = ModemBlockKind::te;
  bool conjugate = false;
  double factor = 1.0;  ///< file units to ohm (1 for tipper and ρₐ)
  std::string units;
  int n_periods = 0, n_sites = 0;
  int line = 0;
};

/// Collects rows in any order; stations are those the rows name.
class Collector {
 public:
  explicit Collector(const std::string& path) : path_(path) {}

  StationData& station(const Station& here, const std::string& where) {
    const auto [found, is_new] = places_.try_emplace(here.name, stations_.size());
    if (is_new) {
      StationData& added = stations_.emplace_back();
      added.site = here;
      added.path = path_;
      added.format = "ModEM 2-D data";
    }
    const double y = stations_[found->second].site.y_m;
    if (std::abs(y - here.y_m) > 1e-3) {
      throw core::FormatError(
          "io::modem::read_data#site_moved",
          "{}: site {} stands at y = {} m here and at {} m before; give each place its own code", where,
          here.name, here.y_m, y);
    }
    return stations_[found->second];
  }

  [[nodiscard]] std::vector<StationData> stations() {
    for (StationData& station : stations_) {
      station.sort();
      station.drop_zero_tippers();
    }
    return std::move(stations_);
  }
  [[nodiscard]] bool empty() const { return stations_.empty(); }

 private:
  const std::string& path_;
  std::vector<StationData> stations_;
  std::map<std::string, std::size_t> places_;
};

class DataReader {
 public:
  DataReader(const std::string& bytes, const std::string& path)
      : lines_(text::split_lines(bytes)), path_(path), collector_(path) {}

  std::vector<StationData> read() {
    while (skip_empty()) {
      const Header header = read_header();
      while (skip_empty() && !is_header_line()) read_row(header);
    }
    if (collector_.empty())
      throw core::FormatError("io::modem::read_data#no_rows", "{}:{}: expected rows of data, found none",
                              path_, lines_.size());
    return collector_.stations();
  }

 private:
  [[nodiscard]] std::string here() const { return fmt::format("{}:{}", path_, next_ + 1); }

  bool skip_empty() {
    while (next_ < lines_.size() && text::trimmed(lines_[next_]).empty()) ++next_;
    return next_ < lines_.size();
  }

  [[nodiscard]] bool is_header_line() const {
    const char c = text::trimmed(lines_[next_]).front();
    return c == '#' || c == '>' || c == '+';
  }

  /// Returns the text after ">" of the next header line, comments passed over.
  std::string_view header_entry(const char* what) {
    while (skip_empty()) {
      const auto text = text::trimmed(lines_[next_]);
      if (text.front() == '>') {
        ++next_;
        return text::trimmed(text.substr(1));
      }
      if (text.front() != '#' && text.front() != '+') break;
      ++next_;
    }
    throw core::FormatError("io::modem::read_data#no_header_line",
                            "{}: expected a header line `> {}`, got {}", here(), what,
                            next_ < lines_.size() ? "\"" + text::printable(lines_[next_]) + "\""
                                                  : std::string("the end of the file"));
  }

  ModemBlockKind read_kind() {
    const auto name = header_entry("data type");
    if (const auto kind = modem_block_kind(name)) return *kind;
    if (is_modem_3d_block(name)) {
      throw core::FormatError("io::modem::read_data#block_3d",
                              "{}:{}: expected a 2-D block (TE_Impedance, TM_Impedance, Tzy_Impedance, "
                              "Rho_Phs_TM), got {} of a 3-D data file; "
                              "only profiles in ModEM's 2-D format can be read",
                              path_, next_, name);
    }
    throw core::FormatError(
        "io::modem::read_data#unknown_block",
        "{}:{}: expected TE_Impedance, TM_Impedance, Tzy_Impedance or Rho_Phs_TM, got \"{}\"", path_, next_,
        text::printable(name));
  }

  ModemSign read_sign() {
    const auto text = header_entry("exp(+i\\omega t)");
    if (const auto sign = modem_sign(text)) return *sign;
    throw core::FormatError("io::modem::read_data#no_sign",
                            "{}:{}: expected a time factor exp(+i\\omega t) or exp(-i\\omega t), got \"{}\"",
                            path_, next_, text::printable(text));
  }

  /// Checks an entry of the header that is not used, of `n` angles.
  void check_angles(const char* entry, std::size_t n) {
    const auto text = header_entry(entry);
    const auto row = text::words(text);
    const auto is_angle = [](std::string_view word) {
      const auto value = text::number(word);
      return value && std::abs(*value) <= largest_angle_deg;
    };
    if (row.size() != n || !std::ranges::all_of(row, is_angle))
      throw core::FormatError("io::modem::read_data#not_an_angle",
                              "{}:{}: expected {} ({} from {:g} to {:g} degrees), got \"{}\"", path_, next_,
                              entry, n, -largest_angle_deg, largest_angle_deg, text::printable(text));
  }

  Header read_header() {
    Header header;
    header.kind = read_kind();
    header.line = static_cast<int>(next_);
    header.conjugate = read_sign() == ModemSign::minus;
    const auto units_text = header_entry("units");
    if (header.kind == ModemBlockKind::te || header.kind == ModemBlockKind::tm) {
      const auto units = modem_units(units_text);
      if (!units)
        throw core::FormatError("io::modem::read_data#unknown_units",
                                "{}:{}: expected units [mV/km]/[nT], [V/m]/[T] or Ohm, got \"{}\"", path_,
                                next_, text::printable(units_text));
      header.factor = ohm_per(*units);
      header.units = short_name_of(*units);
    }
    check_angles("orientation", 1);
    check_angles("latitude longitude", 2);
    const auto counts = text::words(header_entry("nPeriods nSites"));
    const auto n_periods = counts.size() == 2 ? text::integer(counts[0]) : std::nullopt,
               n_sites = counts.size() == 2 ? text::integer(counts[1]) : std::nullopt;
    if (!n_periods || !n_sites)
      throw core::FormatError("io::modem::read_data#no_counts",
                              "{}:{}: expected two counts, periods and sites", path_, next_);
    header.n_periods = *n_periods;
    header.n_sites = *n_sites;
    return header;
  }

  double number_at(const std::vector<std::string_view>& row, std::size_t i, const char* what,
                   double most = std::numeric_limits<double>::infinity()) const {
    const auto value = text::number(row[i]);
    if (!value || !std::isfinite(*value))
      throw core::FormatError("io::modem::read_data#not_a_number", "{}: expected {} in column {}, got \"{}\"",
                              here(), what, i + 1, text::printable(row[i]));
    if (!(std::abs(*value) <= most))
      throw core::FormatError("io::modem::read_data#out_of_range",
                              "{}: expected {} from {:g} to {:g} in column {}, got {:g}", here(), what, -most,
                              most, i + 1, *value);
    return *value;
  }

  void check_component(const Header& header, std::string_view component) const {
    if (is_component(header.kind, component)) return;
    throw core::FormatError("io::modem::read_data#unknown_component",
                            "{}: expected a component of {}, got \"{}\"", here(), name_of(header.kind),
                            text::printable(component));
  }

  void read_row(const Header& header) {
    const bool is_real = header.kind == ModemBlockKind::rho_phase_tm;
    const std::size_t n_columns = is_real ? 10 : 11;
    const auto row = text::words(lines_[next_]);
    if (row.size() != n_columns) {
      throw core::FormatError("io::modem::read_data#wrong_columns",
                              "{}: expected {} columns in a row of {}, got {}; is the file cut off or a code "
                              "written with blanks?",
                              here(), n_columns, name_of(header.kind), row.size());
    }
    const double period = number_at(row, 0, "a period in s");
    if (!physics::mt::is_in_frequency_range(period))
      throw core::FormatError("io::modem::read_data#period_not_positive",
                              "{}: expected a period from {:g} to {:g} s, got {:g}", here(),
                              physics::mt::least_frequency_hz, physics::mt::largest_frequency_hz, period);
    Station site{text::checked_name(row[1], "io::modem::read_data", here()),
                 number_at(row, 5, "y in m", largest_coordinate_m), number_at(row, 2, "a latitude", 90.0),
                 number_at(row, 3, "a longitude", largest_angle_deg), not_given};
    (void)number_at(row, 4, "x in m", largest_coordinate_m);
    (void)number_at(row, 6, "z in m", largest_coordinate_m);
    check_component(header, row[7]);
    if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)
      site.latitude_deg = site.longitude_deg = not_given;
    StationData& station = collector_.station(site, here());
    if (!header.units.empty()) station.units_in_file = header.units;
    if (header.conjugate) station.sign_in_file = "-";
    if (is_real) {
      set_real(row, 1.0 / period, station);
    } else {
      set_complex(header, row, 1.0 / period, station);
    }
    ++next_;
  }

  /// Errors from here on state that there is none (ModEM writes 1e13 or 2e15).
  static double sigma_of(double error, double factor) {
    constexpr double placeholder_error = 1e12;
    return error > 0.0 && error < placeholder_error ? error * factor : not_given;
  }

  [[noreturn]] void refuse_second(std::string_view datum, const StationData& station) const {
    throw core::FormatError(
        "io::modem::read_data#second_value",
        "{}: expected one value of each kind per site and period, got a second {} of site {}", here(), datum,
        station.site.name);
  }

  void set_complex(const Header& header, const std::vector<std::string_view>& row, double frequency_hz,
                   StationData& station) const {
    const double error = number_at(row, 10, "an error");
    const double imaginary = number_at(row, 9, "an imaginary part") * header.factor;
    const Complex value(number_at(row, 8, "a real part") * header.factor,
                        header.conjugate ? -imaginary : imaginary);
    const Element element = element_in(header.kind);
    physics::mt::StationRow& at = station.row_at(frequency_hz);
    if (!at.is_missing(element)) refuse_second(rule_of(real_part_of(element)).name, station);
    at.values[element] = value;
    at.errors[element] = sigma_of(error, header.factor);
  }

  void add(Datum datum, double frequency_hz, const Uncertain& number, StationData& station) const {
    if (!station.add({datum, frequency_hz, number.value, number.sigma, {}}))
      refuse_second(rule_of(datum).name, station);
  }

  /// ModEM writes the phase of Zyx folded by +180 degrees and for exp(+i omega t), for any header.
  void set_real(const std::vector<std::string_view>& row, double frequency_hz, StationData& station) const {
    const double value = number_at(row, 8, "a value"), error = number_at(row, 9, "an error");
    if (text::equals_ignoring_case(row[7], "Rho_TM")) {
      if (!(value > 0.0))
        throw core::FormatError("io::modem::read_data#resistivity_not_positive",
                                "{}: expected an apparent resistivity above 0, got {}", here(), value);
      add(Datum::log10_rho_yx, frequency_hz,
          {std::log10(value), sigma_of(error, 1.0) / (value * physics::mt::ln10)}, station);
    } else {
      const double unfolded = std::remainder(value > -90.0 ? value - 180.0 : value, 360.0);
      add(Datum::phase_yx, frequency_hz,
          {unfolded / physics::mt::deg_per_rad, sigma_of(error, 1.0) / physics::mt::deg_per_rad}, station);
    }
  }

  std::vector<std::string_view> lines_;
  const std::string& path_;
  std::size_t next_ = 0;
  Collector collector_;
};

}  // namespace

std::vector<StationData> read_data(const std::string& path) {
  const std::string bytes = text::read_text(path);
  return DataReader(bytes, path).read();
}

}  // namespace lodestone::io::modem
