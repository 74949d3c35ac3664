// SPDX-License-Identifier: Apache-2.0
#include "io/mt2d/data.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/transfer_functions.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

namespace lodestone::io::mt2d {
namespace {

using physics::mt::DatumKey;
using physics::mt::not_given;
using physics::mt::Quantity;
using physics::mt::Station;

constexpr const char* reader = "io::read_mt2d_data";
constexpr int most_rows = 100'000'000;

struct Component {
  std::string_view name;  ///< in lower case
  Quantity quantity;      ///< of the first part of an impedance
};

constexpr std::array<Component, 2> impedances{{{"zxy", Quantity::zxy_re}, {"zyx", Quantity::zyx_re}}};
constexpr std::array<Component, 4> rho_and_phase{{{"rhoxy", Quantity::log10_rho_xy},
                                                  {"phsxy", Quantity::phase_xy},
                                                  {"rhoyx", Quantity::log10_rho_yx},
                                                  {"phsyx", Quantity::phase_yx}}};

template <std::size_t n>
std::optional<Quantity> quantity_of(const std::array<Component, n>& components, const std::string& name) {
  for (const auto& component : components) {
    if (component.name == name) return component.quantity;
  }
  return {};
}

/// The text behind the first colon.
std::string_view after_colon(std::string_view line) { return text::trimmed(line.substr(line.find(':') + 1)); }

class Mt2dReader {
 public:
  Mt2dReader(const std::string& bytes, const std::string& path)
      : lines_(bytes, path, reader, "#"), path_(path) {}

  profile::ProfileData read() {
    lines_.require_next("\"Format: MT2DData_1.0\"");
    if (!is_mt2d_data(lines_.text()))
      lines_.refuse(
          fmt::format("expected \"Format: MT2DData_1.0\", got \"{}\"", text::printable(lines_.text())));
    while (lines_.next()) read_entry();
    if (!collector_) lines_.refuse("expected a \"Data Block:\", got the end of the file; is it cut off?");
    result_.data = collector_->data();
    result_.warnings = collector_->warnings(path_);
    if (result_.data.value.size() == 0) lines_.refuse("expected rows of data, got none");
    return std::move(result_);
  }

 private:
  void read_entry() {
    const std::string name = text::lower(lines_.text().substr(0, lines_.text().find(':')));
    if (lines_.text().find(':') == std::string_view::npos)
      lines_.refuse(fmt::format("expected \"Name: value\", got \"{}\"", text::printable(lines_.text())));
    if (name.starts_with("receiver location")) return read_receivers();
    if (name.starts_with("frequencies")) return read_frequencies();
    if (name == "datatype") return read_type();
    if (name == "datacomp") return read_components();
    if (name == "data block") return read_rows();
    lines_.refuse(
        fmt::format("expected Receiver Location, Frequencies, DataType, DataComp or Data Block, got \"{}\"",
                    text::printable(lines_.text())));
  }

  int count() const { return lines_.whole(after_colon(lines_.text()), "a count", 0, most_rows); }

  void read_receivers() {
    for (int n = count(); n > 0; --n) {
      lines_.require_next("a receiver");
      const auto row = text::words(lines_.text());
      if (row.size() != 2)
        lines_.refuse(fmt::format("expected a receiver's Y and Z, got {} columns", row.size()));
      Station station;
      station.name = fmt::format("{}", stations_.size() + 1);
      station.y_m = lines_.finite(row[0], "Y in m");
      station.latitude_deg = station.longitude_deg = station.elevation_m = not_given;
      result_.z_m.push_back(lines_.finite(row[1], "Z in m"));
      result_.tilt_deg.push_back(0.0);
      stations_.push_back(station);
    }
  }

  void read_frequencies() {
    for (int n = count(); n > 0; --n) {
      lines_.require_next("a frequency in Hz");
      const double frequency = lines_.finite(lines_.text(), "a frequency in Hz");
      if (!(frequency > 0.0))
        lines_.refuse(fmt::format("expected a frequency above 0 Hz, got {}", frequency));
      frequencies_hz_.push_back(frequency);
    }
  }

  void read_type() {
    const std::string word = text::lower(after_colon(lines_.text()));
    if (word != "impedance" && word != "rho_pha")
      lines_.refuse(fmt::format("expected Impedance or Rho_Pha, got \"{}\"",
                                text::printable(after_colon(lines_.text()))));
    is_complex_ = word == "impedance";
  }

  void read_components() {
    if (!is_complex_) lines_.refuse("expected \"DataType:\" before \"DataComp:\"");
    for (int n = count(); n > 0; --n) {
      lines_.require_next("a component");
      const std::string name = text::lower(lines_.text());
      const auto quantity = *is_complex_ ? quantity_of(impedances, name) : quantity_of(rho_and_phase, name);
      if (!quantity)
        lines_.refuse(fmt::format("expected {}, got \"{}\"",
                                  *is_complex_ ? "ZXY or ZYX" : "RhoXY, PhsXY, RhoYX or PhsYX",
                                  text::printable(lines_.text())));
      components_.push_back(*quantity);
    }
  }

  void read_rows() {
    if (stations_.empty() || frequencies_hz_.empty() || components_.empty() || collector_)
      lines_.refuse("expected receivers, frequencies and components before one \"Data Block:\"");
    const int n_rows = count();
    collector_.emplace(reader, stations_, frequencies_hz_);
    for (int n = n_rows; n > 0; --n) {
      lines_.require_next(fmt::format("{} more rows of data", n));
      read_row(text::words(lines_.text()));
    }
  }

  void read_row(const std::vector<std::string_view>& row) {
    const std::size_t n_columns = *is_complex_ ? 6 : 5;
    if (row.size() != n_columns)
      lines_.refuse(fmt::format("expected {} columns, got {}", n_columns, row.size()));
    DatumKey key{};
    key.frequency =
        lines_.whole(row[0], "a frequency number", 1, static_cast<int>(frequencies_hz_.size())) - 1;
    key.station = lines_.whole(row[1], "a receiver number", 1, static_cast<int>(stations_.size())) - 1;
    key.quantity = components_[static_cast<std::size_t>(
        lines_.whole(row[2], "a component number", 1, static_cast<int>(components_.size())) - 1)];
    const double value = lines_.finite(row[3], "a value"), error = lines_.finite(row.back(), "an error");
    if (*is_complex_) {
      collector_->set(key, value, error, lines_.here());
      key.quantity = key.quantity == Quantity::zxy_re ? Quantity::zxy_im : Quantity::zyx_im;
      collector_->set(key, lines_.finite(row[4], "an imaginary part"), error, lines_.here());
    } else if (physics::mt::is_phase(key.quantity)) {
      collector_->set(key, value / physics::mt::deg_per_rad, error / physics::mt::deg_per_rad, lines_.here());
    } else {
      collector_->set(key, value > 0.0 ? std::log10(value) : not_given, error / (value * physics::mt::ln10),
                      lines_.here());
    }
  }

  profile::LineReader lines_;
  std::string path_;
  profile::ProfileData result_;
  std::optional<bool> is_complex_;
  std::vector<Station> stations_;
  std::vector<double> frequencies_hz_;
  std::vector<Quantity> components_;
  std::optional<profile::ProfileDataCollector> collector_;
};

}  // namespace

profile::ProfileData read_mt2d_data(const std::string& path) {
  const std::string bytes = text::read_bytes(path);
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
