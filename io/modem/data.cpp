// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/modem/words.hpp"
#include "io/profile/profile_data.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/transfer_functions.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace lodestone::io::modem {
namespace {

using physics::mt::not_given;
using physics::mt::ObservedData;
using physics::mt::Quantity;
using physics::mt::Station;

constexpr const char* reader = "io::read_data";
constexpr double placeholder_error =
    1e12;  ///< errors from here on say "no error given" (ModEM writes 1e13 or 2e15)

/// Quantities a block kind fills, first and second number of a row (or component).
std::array<Quantity, 2> quantities_of(ModemBlockKind kind) {
  switch (kind) {
    case ModemBlockKind::te:
      return {Quantity::zxy_re, Quantity::zxy_im};
    case ModemBlockKind::tm:
      return {Quantity::zyx_re, Quantity::zyx_im};
    case ModemBlockKind::tzy:
      return {Quantity::tzy_re, Quantity::tzy_im};
    default:
      return {Quantity::log10_rho_yx, Quantity::phase_yx};
  }
}

struct Header {
  ModemBlockKind kind = ModemBlockKind::te;
  bool conjugate = false;
  double factor = 1.0;  ///< file units to ohm (1 for tipper and ρₐ)
  int n_periods = 0, n_sites = 0;
  int line = 0;
};

/// Collects rows in any order; stations and frequencies are those the rows name.
class Collector {
 public:
  int frequency(double period_s) {
    const double f = 1.0 / period_s;
    const auto [found, is_new] = frequencies_.try_emplace(f, static_cast<int>(list_.size()));
    if (is_new) list_.push_back(f);
    return found->second;
  }

  int station(const Station& here, const std::string& where) {
    const auto [found, is_new] = names_.try_emplace(here.name, static_cast<int>(stations_.size()));
    if (is_new) stations_.push_back(here);
    const double y = stations_[static_cast<std::size_t>(found->second)].y_m;
    if (std::abs(y - here.y_m) > 1e-3) {
      throw core::FormatError(
          reader, "{}: site {} stands at y = {} m here and at {} m before; give each place its own code",
          where, here.name, here.y_m, y);
    }
    return found->second;
  }

  void set(Quantity quantity, int frequency, int station, std::pair<double, double> value_and_sigma,
           const std::string& where) {
    if (!values_.try_emplace({quantity, frequency, station}, value_and_sigma).second) {
      throw core::FormatError(
          reader, "{}: expected one value of each kind per site and period, got a second {} of site {}",
          where, name_of(quantity), stations_[static_cast<std::size_t>(station)].name);
    }
  }

  [[nodiscard]] ObservedData data() const { return profile::on_full_survey(stations_, list_, values_); }

  [[nodiscard]] std::size_t n_stations() const { return stations_.size(); }
  [[nodiscard]] std::size_t n_frequencies() const { return list_.size(); }

 private:
  std::vector<Station> stations_;
  std::vector<double> list_;
  std::map<std::string, int> names_;
  std::map<double, int> frequencies_;
  profile::DataByKey values_;
};

class DataReader {
 public:
  DataReader(const std::string& bytes, const std::string& path)
      : lines_(text::split_lines(bytes)), path_(path) {}

  ObservedData read() {
    while (skip_empty()) {
      const Header header = read_header();
      while (skip_empty() && !is_header_line()) read_row(header);
    }
    if (collector_.n_stations() == 0)
      throw core::FormatError(reader, "{}:{}: expected rows of data, got none", path_, lines_.size());
    return collector_.data();
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

  /// Text after ">" of the next header line, comments passed over.
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
    throw core::FormatError(reader, "{}: expected a header line `> {}`, got {}", here(), what,
                            next_ < lines_.size() ? "\"" + text::printable(lines_[next_]) + "\""
                                                  : std::string("the end of the file"));
  }

  ModemBlockKind read_kind() {
    const auto name = header_entry("data type");
    if (const auto kind = modem_block_kind(name)) return *kind;
    if (is_modem_3d_block(name)) {
      throw core::FormatError(reader,
                              "{}:{}: expected a 2-D block (TE_Impedance, TM_Impedance, Tzy_Impedance, "
                              "Rho_Phs_TM), got {} of a 3-D data file; "
                              "only profiles in ModEM's 2-D format can be read",
                              path_, next_, name);
    }
    throw core::FormatError(
        reader, "{}:{}: expected TE_Impedance, TM_Impedance, Tzy_Impedance or Rho_Phs_TM, got \"{}\"", path_,
        next_, text::printable(name));
  }

  Header read_header() {
    Header header;
    header.kind = read_kind();
    header.line = static_cast<int>(next_);
    header.conjugate = header_entry("exp(+i\\omega t)").find('-') != std::string_view::npos;
    const auto units_text = header_entry("units");
    if (header.kind == ModemBlockKind::te || header.kind == ModemBlockKind::tm) {
      const auto units = modem_units(units_text);
      if (!units)
        throw core::FormatError(reader, "{}:{}: expected units [mV/km]/[nT], [V/m]/[T] or Ohm, got \"{}\"",
                                path_, next_, text::printable(units_text));
      header.factor = ohm_per(*units);
    }
    (void)header_entry("orientation");
    (void)header_entry("latitude longitude");
    const auto counts = text::words(header_entry("nPeriods nSites"));
    const auto n_periods = counts.size() == 2 ? text::integer(counts[0]) : std::nullopt,
               n_sites = counts.size() == 2 ? text::integer(counts[1]) : std::nullopt;
    if (!n_periods || !n_sites)
      throw core::FormatError(reader, "{}:{}: expected two counts, periods and sites", path_, next_);
    header.n_periods = *n_periods;
    header.n_sites = *n_sites;
    return header;
  }

  double number_at(const std::vector<std::string_view>& row, std::size_t i, const char* what) const {
    const auto value = text::number(row[i]);
    if (!value || !std::isfinite(*value))
      throw core::FormatError(reader, "{}: expected {} in column {}, got \"{}\"", here(), what, i + 1,
                              text::printable(row[i]));
    return *value;
  }

  void read_row(const Header& header) {
    const bool is_real = header.kind == ModemBlockKind::rho_phase_tm;
    const std::size_t n_columns = is_real ? 10 : 11;
    const auto row = text::words(lines_[next_]);
    if (row.size() != n_columns) {
      throw core::FormatError(reader,
                              "{}: expected {} columns in a row of {}, got {}; is the file cut off or a code "
                              "written with blanks?",
                              here(), n_columns, name_of(header.kind), row.size());
    }
    const double period = number_at(row, 0, "a period in s");
    if (!(period > 0.0))
      throw core::FormatError(reader, "{}: expected a period above 0 s, got {}", here(), period);
    Station site{std::string(row[1]), number_at(row, 5, "y in m"), number_at(row, 2, "a latitude"),
                 number_at(row, 3, "a longitude"), not_given};
    if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)
      site.latitude_deg = site.longitude_deg = not_given;
    const int station = collector_.station(site, here()), frequency = collector_.frequency(period);
    if (is_real) {
      set_real(header, row, frequency, station);
    } else {
      set_complex(header, row, frequency, station);
    }
    ++next_;
  }

  void set_complex(const Header& header, const std::vector<std::string_view>& row, int frequency,
                   int station) {
    const double error = number_at(row, 10, "an error");
    const double sigma = error > 0.0 && error < placeholder_error ? error * header.factor : not_given;
    const auto parts = quantities_of(header.kind);
    const double imaginary = number_at(row, 9, "an imaginary part") * header.factor;
    collector_.set(parts[0], frequency, station, {number_at(row, 8, "a real part") * header.factor, sigma},
                   here());
    collector_.set(parts[1], frequency, station, {header.conjugate ? -imaginary : imaginary, sigma}, here());
  }

  /// ModEM writes the phase of Zyx folded by +180 degrees and for exp(+i omega t), whatever the header says.
  void set_real(const Header& header, const std::vector<std::string_view>& row, int frequency, int station) {
    const double value = number_at(row, 8, "a value"), error = number_at(row, 9, "an error");
    const bool has_error = error > 0.0 && error < placeholder_error;
    const auto parts = quantities_of(header.kind);
    if (text::equals_ignoring_case(row[7], "Rho_TM")) {
      if (!(value > 0.0))
        throw core::FormatError(reader, "{}: expected an apparent resistivity above 0, got {}", here(),
                                value);
      collector_.set(parts[0], frequency, station,
                     {std::log10(value), has_error ? error / (value * physics::mt::ln10) : not_given},
                     here());
    } else if (text::equals_ignoring_case(row[7], "Phs_TM")) {
      const double unfolded = std::remainder(value > -90.0 ? value - 180.0 : value, 360.0);
      collector_.set(
          parts[1], frequency, station,
          {unfolded / physics::mt::deg_per_rad, has_error ? error / physics::mt::deg_per_rad : not_given},
          here());
    } else {
      throw core::FormatError(reader, "{}: expected component Rho_TM or Phs_TM, got \"{}\"", here(),
                              text::printable(row[7]));
    }
  }

  std::vector<std::string_view> lines_;
  const std::string& path_;
  std::size_t next_ = 0;
  Collector collector_;
};

}  // namespace

ObservedData read_data(const std::string& path) {
  const std::string bytes = text::read_bytes(path);
  ObservedData data = DataReader(bytes, path).read();
  try {
    data.survey.validate();
  } catch (const core::InvalidArgument& error) {
    throw core::FormatError(reader, "{}: {}", path, error.what());
  }
  return data;
}

}  // namespace lodestone::io::modem
