// SPDX-License-Identifier: Apache-2.0
#include "io/mt2d/data.hpp"

#include "engine/core/error.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

namespace lodestone::io::mt2d {
namespace {

using physics::mt::Datum;
using physics::mt::Element;
using physics::mt::not_given;
using physics::mt::StationData;

constexpr const char* reader = "io::mt2d::read_data";
constexpr int most_rows = 100'000'000;

struct Component {
  std::string_view name;  ///< in lower case
  Datum datum;            ///< the first part of an impedance
};

constexpr std::array<Component, 2> impedances{{{"zxy", Datum::zxy_re}, {"zyx", Datum::zyx_re}}};
constexpr std::array<Component, 4> rho_and_phase{{{"rhoxy", Datum::log10_rho_xy},
                                                  {"phsxy", Datum::phase_xy},
                                                  {"rhoyx", Datum::log10_rho_yx},
                                                  {"phsyx", Datum::phase_yx}}};

template <std::size_t n>
std::optional<Datum> datum_of(const std::array<Component, n>& components, const std::string& name) {
  for (const auto& component : components) {
    if (component.name == name) return component.datum;
  }
  return {};
}

/// The text behind the first colon.
std::string_view after_colon(std::string_view line) { return text::trimmed(line.substr(line.find(':') + 1)); }

class Mt2dReader {
 public:
  Mt2dReader(const std::string& bytes, const std::string& path)
      : lines_(bytes, path, reader, "#"), path_(path) {}

  std::vector<StationData> read() {
    lines_.require_next("\"Format: MT2DData_1.0\"");
    if (!is_mt2d_data(lines_.text()))
      lines_.refuse("no_format_line", fmt::format("expected \"Format: MT2DData_1.0\", got \"{}\"",
                                                  text::printable(lines_.text())));
    while (lines_.next()) read_entry();
    if (!has_block_)
      lines_.refuse("no_block", "expected a \"Data Block:\", got the end of the file; is it cut off?");
    if (!has_rows_) lines_.refuse("no_rows", "expected rows of data, found none");
    if (n_negative_ > 0)
      stations_.front().remarks.push_back(physics::mt::remark_on_negative_errors(path_, n_negative_));
    for (StationData& station : stations_) station.sort();
    return std::move(stations_);
  }

 private:
  void read_entry() {
    const std::string name = text::lower(lines_.text().substr(0, lines_.text().find(':')));
    if (lines_.text().find(':') == std::string_view::npos)
      lines_.refuse("not_an_entry",
                    fmt::format("expected \"Name: value\", got \"{}\"", text::printable(lines_.text())));
    if (name.starts_with("receiver location")) return read_receivers();
    if (name.starts_with("frequencies")) return read_frequencies();
    if (name == "datatype") return read_type();
    if (name == "datacomp") return read_components();
    if (name == "data block") return read_rows();
    lines_.refuse(
        "unknown_entry",
        fmt::format("expected Receiver Location, Frequencies, DataType, DataComp or Data Block, got \"{}\"",
                    text::printable(lines_.text())));
  }

  int count() const { return lines_.whole(after_colon(lines_.text()), "a count", 0, most_rows); }

  void read_receivers() {
    for (int n = count(); n > 0; --n) {
      lines_.require_next("a receiver");
      const auto row = text::words(lines_.text());
      if (row.size() != 2)
        lines_.refuse("wrong_receiver",
                      fmt::format("expected a receiver's Y and Z, got {} columns", row.size()));
      StationData& station = stations_.emplace_back();
      station.site.name = fmt::format("{}", stations_.size());
      station.site.y_m = lines_.within(row[0], "Y in m", physics::mt::largest_coordinate_m);
      station.site.z_m = lines_.within(row[1], "Z in m", physics::mt::largest_coordinate_m);
      station.site.latitude_deg = station.site.longitude_deg = station.site.elevation_m = not_given;
      station.path = path_;
      station.format = "MT2DData";
      station.units_in_file = "ohm";
    }
  }

  void read_frequencies() {
    for (int n = count(); n > 0; --n) {
      lines_.require_next("a frequency in Hz");
      const double frequency = lines_.finite(lines_.text(), "a frequency in Hz");
      if (!physics::mt::is_in_frequency_range(frequency))
        lines_.refuse(
            "frequency_not_positive",
            fmt::format("expected a frequency from {:g} to {:g} Hz, got {:g}",
                        physics::mt::least_frequency_hz, physics::mt::largest_frequency_hz, frequency));
      frequencies_hz_.push_back(frequency);
    }
  }

  void read_type() {
    const std::string word = text::lower(after_colon(lines_.text()));
    if (word != "impedance" && word != "rho_pha")
      lines_.refuse("unknown_data_type", fmt::format("expected Impedance or Rho_Pha, got \"{}\"",
                                                     text::printable(after_colon(lines_.text()))));
    is_complex_ = word == "impedance";
  }

  void read_components() {
    if (!is_complex_) lines_.refuse("no_data_type", "expected \"DataType:\" before \"DataComp:\"");
    for (int n = count(); n > 0; --n) {
      lines_.require_next("a component");
      const std::string name = text::lower(lines_.text());
      const auto datum = *is_complex_ ? datum_of(impedances, name) : datum_of(rho_and_phase, name);
      if (!datum)
        lines_.refuse("unknown_component",
                      fmt::format("expected {}, got \"{}\"",
                                  *is_complex_ ? "ZXY or ZYX" : "RhoXY, PhsXY, RhoYX or PhsYX",
                                  text::printable(lines_.text())));
      components_.push_back(*datum);
    }
  }

  void read_rows() {
    if (stations_.empty() || frequencies_hz_.empty() || components_.empty() || has_block_)
      lines_.refuse("early_block",
                    "expected receivers, frequencies and components before one \"Data Block:\"");
    has_block_ = true;
    for (int n = count(); n > 0; --n) {
      lines_.require_next(fmt::format("{} more rows of data", n));
      read_row(text::words(lines_.text()));
    }
  }

  void read_row(const std::vector<std::string_view>& row) {
    const std::size_t n_columns = *is_complex_ ? 6 : 5;
    if (row.size() != n_columns)
      lines_.refuse("wrong_columns", fmt::format("expected {} columns, got {}", n_columns, row.size()));
    const auto number = [&](std::size_t column, const char* what, std::size_t most) {
      return static_cast<std::size_t>(lines_.whole(row[column], what, 1, static_cast<int>(most)) - 1);
    };
    const double frequency_hz = frequencies_hz_[number(0, "a frequency number", frequencies_hz_.size())];
    StationData& station = stations_[number(1, "a receiver number", stations_.size())];
    const Datum datum = components_[number(2, "a component number", components_.size())];
    const double value = lines_.finite(row[3], "a value"), error = lines_.finite(row.back(), "an error");
    has_rows_ = true;
    if (*is_complex_) {
      set_impedance(station, frequency_hz, datum, {value, lines_.finite(row[4], "an imaginary part")}, error);
    } else if (physics::mt::is_phase(datum)) {
      add(station,
          {datum, frequency_hz, value / physics::mt::deg_per_rad, error / physics::mt::deg_per_rad, {}});
    } else {
      add(station, {datum,
                    frequency_hz,
                    value > 0.0 ? std::log10(value) : not_given,
                    error / (std::abs(value) * physics::mt::ln10),
                    {}});
    }
  }

  /// A negative error counts as none.
  double sigma_of(double error, int n_data) {
    if (!(error < 0.0)) return error;
    n_negative_ += n_data;
    return not_given;
  }

  [[noreturn]] void refuse_second(Datum datum, const StationData& station) const {
    lines_.refuse(
        "second_value",
        fmt::format(
            "expected one value of each kind per station and frequency, got a second {} of station {}",
            name_of(datum), station.site.name));
  }

  void set_impedance(StationData& station, double frequency_hz, Datum first_part, physics::mt::Complex value,
                     double error) {
    const Element element = element_of(physics::mt::rule_of(first_part));
    physics::mt::StationRow& row = station.row_at(frequency_hz);
    if (!row.is_missing(element)) refuse_second(first_part, station);
    row.values[element] = value;
    row.errors[element] = sigma_of(error, 2);
  }

  void add(StationData& station, physics::mt::Reading reading) {
    if (std::isfinite(reading.value)) reading.sigma = sigma_of(reading.sigma, 1);
    if (!station.add(reading)) refuse_second(reading.datum, station);
  }

  text::LineReader lines_;
  std::string path_;
  std::optional<bool> is_complex_;
  bool has_block_ = false, has_rows_ = false;
  int n_negative_ = 0;  ///< errors
  std::vector<StationData> stations_;
  std::vector<double> frequencies_hz_;
  std::vector<Datum> components_;
};

}  // namespace

std::vector<StationData> read_data(const std::string& path) {
  const std::string bytes = text::read_text(path);
  return Mt2dReader(bytes, path).read();
}

bool is_mt2d_data(std::string_view bytes) {
  for (const auto line : text::split_lines(bytes)) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    const auto parts = text::words(text);
    return parts.size() == 2 && text::lower(parts[0]) == "format:" && text::lower(parts[1]) == "mt2ddata_1.0";
  }
  return false;
}

}  // namespace lodestone::io::mt2d
