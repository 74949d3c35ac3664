// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/transfer_functions.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <functional>

namespace lodestone::physics::mt {
namespace {

using Matrix2 = std::array<std::array<double, 2>, 2>;

/// Σ c_k e_k with independent errors; a factor that is zero up to rounding does not spread a missing value.
template <std::size_t n>
Estimate combination(const std::array<double, n>& factors, const std::array<Estimate, n>& estimates) {
  constexpr double negligible = 1e-14;
  Complex value = 0.0;
  double variance = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    if (std::abs(factors[k]) < negligible) continue;
    value += factors[k] * estimates[k].value;
    variance += factors[k] * factors[k] * estimates[k].sigma * estimates[k].sigma;
  }
  return {value, std::sqrt(variance)};
}

TransferFunctionRow rotated(const TransferFunctionRow& row, const Matrix2& r) {
  TransferFunctionRow out;
  out.frequency_hz = row.frequency_hz;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const std::array<double, 4> factors{r[i][0] * r[j][0], r[i][0] * r[j][1], r[i][1] * r[j][0],
                                          r[i][1] * r[j][1]};
      out.impedance[2 * i + j] = combination(factors, row.impedance);
    }
    out.tipper[i] = combination(r[i], row.tipper);
  }
  return out;
}

/// Scales √f out of impedances so that what is interpolated is flat over a half-space.
double scale_at(double frequency_hz, bool is_impedance) {
  return is_impedance ? std::sqrt(frequency_hz) : 1.0;
}

/// One element at frequency f out of its rows (highest frequency first).
Estimate interpolated(const std::vector<TransferFunctionRow>& rows, double f, bool is_impedance,
                      const std::function<const Estimate&(const TransferFunctionRow&)>& element) {
  constexpr std::ptrdiff_t largest_step = 2;  // neighbours, or one missing frequency between them
  std::ptrdiff_t above = -1;
  for (std::ptrdiff_t i = 0; i < std::ssize(rows); ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    const Estimate& here = element(row);
    if (here.is_missing()) continue;
    if (std::abs(row.frequency_hz / f - 1.0) <= same_frequency) return here;
    if (row.frequency_hz > f) {
      above = i;
      continue;
    }
    if (above < 0 || i - above > largest_step) return {};
    const auto& upper = rows[static_cast<std::size_t>(above)];
    const double weight = std::log(f / row.frequency_hz) / std::log(upper.frequency_hz / row.frequency_hz);
    const double low = (1.0 - weight) * scale_at(f, is_impedance) / scale_at(row.frequency_hz, is_impedance);
    const double high = weight * scale_at(f, is_impedance) / scale_at(upper.frequency_hz, is_impedance);
    // Errors add linearly: an interpolated value knows no more than the two it comes from.
    return {low * here.value + high * element(upper).value, low * here.sigma + high * element(upper).sigma};
  }
  return {};
}

}  // namespace

TransferFunctions rotated_to(const TransferFunctions& station, double azimuth_deg) {
  const double angle = (azimuth_deg - station.frame_deg) / deg_per_rad;
  const double c = std::cos(angle), s = std::sin(angle);
  const Matrix2 r{{{c, s}, {-s, c}}};
  TransferFunctions out = station;
  out.frame_deg = azimuth_deg;
  std::transform(station.rows.begin(), station.rows.end(), out.rows.begin(),
                 [&r](const auto& row) { return rotated(row, r); });
  return out;
}

TransferFunctions interpolated_to(const TransferFunctions& station,
                                  const std::vector<double>& frequencies_hz) {
  TransferFunctions out = station;
  std::vector<double> list = frequencies_hz;
  std::sort(list.begin(), list.end(), std::greater<>());
  out.rows.clear();
  for (const double f : list) {
    if (!(f > 0.0) || !std::isfinite(f)) {
      throw core::InvalidArgument(
          "mt::interpolated_to",
          "expected positive frequencies for station {}, got {} Hz; check the frequency list", station.name,
          f);
    }
    TransferFunctionRow row;
    row.frequency_hz = f;
    for (std::size_t k = 0; k < row.impedance.size(); ++k) {
      row.impedance[k] = interpolated(station.rows, f, true,
                                      [k](const auto& r) -> const Estimate& { return r.impedance[k]; });
    }
    for (std::size_t k = 0; k < row.tipper.size(); ++k) {
      row.tipper[k] =
          interpolated(station.rows, f, false, [k](const auto& r) -> const Estimate& { return r.tipper[k]; });
    }
    out.rows.push_back(row);
  }
  return out;
}

double apparent_resistivity_ohm_m(Complex impedance_ohm, double frequency_hz) {
  return std::norm(impedance_ohm) / (omega(frequency_hz) * mu0);
}

double phase_deg(Complex impedance_ohm) { return std::arg(impedance_ohm) * deg_per_rad; }

}  // namespace lodestone::physics::mt
