// SPDX-License-Identifier: Apache-2.0
// Symbols: S inverse signal power, N residual covariance, as in physics::mt::SignalAndNoise.
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/zfile/zfile.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/holdings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::zfile {
namespace {

using physics::mt::Complex;
using physics::mt::Element;
using physics::mt::SignalAndNoise;
using physics::mt::StationData;
using physics::mt::StationRow;

constexpr std::size_t ex = 0, ey = 1, hz = 2;  // outputs of SignalAndNoise
constexpr std::array<Element, 3> first_elements{Element::zxx, Element::zyx, Element::tzx};

/// Returns a number with a blank in front, in twelve columns where it fits.
std::string column(double value) { return fmt::format(" {:>11}", text::shortest(value, "NaN")); }
std::string columns(Complex value) { return column(value.real()) + column(value.imag()); }
std::string file_columns(Complex ohm, bool is_in_ohm) {
  using physics::mt::in_field_units;
  return is_in_ohm ? columns({in_field_units(ohm.real()), in_field_units(ohm.imag())}) : columns(ohm);
}

bool is_number(Complex value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

/// Flags for what rows have and the file does not hold.
struct RowLosses {
  bool errors = false, covariance = false, frequencies = false;
};

/// Returns S and N closest to the errors of a row, those of Zxy and Zyx in any case; their own where a row
/// knows them.
SignalAndNoise estimates_of(const StationRow& row, RowLosses& losses) {
  if (row.estimates) return *row.estimates;
  losses.covariance = losses.covariance || row.covariance.has_value();
  std::array<double, 3> x{}, y{};  // errors of the two elements of each output; 0: not known
  double log_ratio = 0.0;
  int n_ratios = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto error_of = [&](std::size_t k) {
      const double sigma = row.errors.numbers[index_of(first_elements[i]) + k];
      return sigma > 0.0 && std::isfinite(sigma) ? sigma : 0.0;
    };
    x[i] = error_of(0);
    y[i] = error_of(1);
    if (x[i] > 0.0 && y[i] > 0.0) {
      log_ratio += std::log(y[i] / x[i]);
      ++n_ratios;
    }
  }
  const double ratio = n_ratios > 0 ? std::exp(log_ratio / n_ratios) : 1.0;
  SignalAndNoise out;
  out.inverse_signal = Eigen::Vector2cd(1.0, ratio * ratio).asDiagonal();
  out.noise.setZero();
  for (std::size_t i = 0; i < 3; ++i) {
    const bool both = x[i] > 0.0 && y[i] > 0.0;
    const double of_y = y[i] / ratio;  // brought to the other input
    double sigma = both ? std::sqrt(x[i] * of_y) : std::max(x[i], of_y);
    if (both && i == ex) sigma = of_y;
    if (both && i == ey) sigma = x[i];
    const auto k = static_cast<int>(i);
    out.noise(k, k) = 2.0 * sigma * sigma;
    constexpr double rounding = 1e-12;
    const bool is_same =
        both ? std::abs(sigma / x[i] - 1.0) <= rounding && std::abs(sigma * ratio / y[i] - 1.0) <= rounding
             : x[i] == y[i];
    losses.errors = losses.errors || !is_same;
  }
  return out;
}

class ZWriter {
 public:
  ZWriter(const StationData& station, RowLosses& losses) : station_(station), losses_(losses) {
    const auto has = [&](Element first) {
      return std::ranges::any_of(station.rows, [first](const StationRow& row) {
        return is_number(row.values.numbers[index_of(first)]) ||
               is_number(row.values.numbers[index_of(first) + 1]);
      });
    };
    outputs_.reserve(3);
    if (has(Element::tzx)) outputs_.push_back(hz);
    if (has(Element::zxx) || has(Element::zyx)) outputs_.insert(outputs_.end(), {ex, ey});
    if (outputs_.empty())
      throw core::InvalidArgument("io::zfile::text_of#nothing_to_write",
                                  "station {}: expected impedances or tippers, got none; a Z-file holds "
                                  "nothing else",
                                  station.site.name);
  }

  std::string text() {
    write_head();
    for (const StationRow& row : station_.rows) write_row(row);
    return std::move(out_);
  }

 private:
  void write_head() {
    const auto& site = station_.site;
    out_ = " TRANSFER FUNCTIONS IN MEASUREMENT COORDINATES\n ********* WITH FULL ERROR COVARIANCE ********\n";
    out_ += station_.remote_reference.empty() ? "Single station\n" : "Remote Reference\n";
    out_ += "station    :" + site.name;
    if (!station_.remote_reference.empty()) out_ += " remote " + station_.remote_reference;
    out_ += fmt::format("\ncoordinate{}{} declination     0.00\n", column(site.latitude_deg),
                        column(site.longitude_deg));
    out_ += fmt::format("number of channels {:>3}   number of frequencies {:>4}\n", outputs_.size() + 2,
                        station_.rows.size());
    out_ += " orientations and tilts of each channel\n";
    const auto& at = station_.rows.front().azimuths;
    write_channel("Hx", at.hx_deg);
    write_channel("Hy", at.hy_deg);
    for (const std::size_t output : outputs_) {
      if (output == hz) write_channel("Hz", 0.0);
      if (output == ex) write_channel("Ex", at.ex_deg);
      if (output == ey) write_channel("Ey", at.ey_deg);
    }
    out_ += "\n";
  }

  void write_channel(const char* name, double azimuth_deg) {
    std::string station = station_.site.name;
    std::ranges::replace_if(station, text::is_blank, '_');
    out_ += fmt::format("{:>5}{}        0 {}  {}\n", ++n_channels_, column(azimuth_deg), station, name);
  }

  void write_row(const StationRow& row) {
    const double period_s = 1.0 / row.frequency_hz;
    losses_.frequencies = losses_.frequencies || 1.0 / period_s != row.frequency_hz;
    out_ +=
        fmt::format("period :{}    decimation level   1    freq. band from    0 to    0\n", column(period_s));
    out_ += "number of data point      0 sampling freq.       0 Hz\n Transfer Functions\n";
    for (const std::size_t output : outputs_) {
      const std::size_t first = index_of(first_elements[output]);
      for (const std::size_t k : {first, first + 1})
        out_ += file_columns(row.values.numbers[k], output != hz);
      out_ += "\n";
    }
    const SignalAndNoise known = estimates_of(row, losses_);
    out_ += " Inverse Coherent Signal Power Matrix\n";
    const auto& s = known.inverse_signal;
    out_ += columns(s(0, 0)) + "\n" + columns(s(1, 0)) + columns(s(1, 1)) + "\n Residual Covariance\n";
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) out_ += noise_columns(known.noise, outputs_[i], outputs_[j]);
      out_ += "\n";
    }
  }

  /// 0 stands for a noise that is not known.
  static std::string noise_columns(const Eigen::Matrix3cd& noise, std::size_t i, std::size_t j) {
    const Complex known = noise(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    const Complex n = is_number(known) ? known : Complex(0.0, 0.0);
    if (i == hz || j == hz) return file_columns(n, i != hz || j != hz);
    using physics::mt::in_squared_field_units;
    return columns({in_squared_field_units(n.real()), in_squared_field_units(n.imag())});
  }

  const StationData& station_;
  RowLosses& losses_;
  std::vector<std::size_t> outputs_;  ///< in the order of the file
  int n_channels_ = 0;
  std::string out_;
};

}  // namespace

physics::mt::Written text_of(const StationData& station) {
  std::vector<std::string> lost = not_held(station, {.covariance = true});
  if (std::isfinite(station.site.elevation_m)) lost.emplace_back("elevation");
  StationData framed = station;
  if (std::string turned = put_in_one_frame(framed.rows, false); !turned.empty())
    lost.push_back(std::move(turned));
  RowLosses losses;
  std::string text = ZWriter(framed, losses).text();
  if (losses.errors) lost.emplace_back("errors of single elements (signal and noise were fitted to them)");
  if (losses.covariance) lost.emplace_back("covariance of the errors");
  if (losses.frequencies) lost.emplace_back("last bit of some frequencies");
  return {std::move(text), std::move(lost)};
}

}  // namespace lodestone::io::zfile
