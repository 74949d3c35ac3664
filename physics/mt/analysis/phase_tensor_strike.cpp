// SPDX-License-Identifier: Apache-2.0
// In axes turned by θ the elements xy and yx of Φ have the sum o cos 2θ − d sin 2θ and the difference a,
// where o = Φxy + Φyx, d = Φxx − Φyy and a = Φxy − Φyx. Over a section of that strike both are 0. So χ² is ½
// Σ w ((o cos 2θ − d sin 2θ)² + a²), a constant and one wave of 4θ.
#include "physics/mt/analysis/phase_tensor.hpp"
#include "physics/mt/analysis/strike.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

/// Sums over tensors of o², o d, d² and a², by their weights.
struct Sums {
  double oo = 0.0, od = 0.0, dd = 0.0, aa = 0.0;
  int n_tensors = 0, n_stations = 0;

  void add(const MeasuredPhaseTensor& tensor, double relative_floor) {
    const Eigen::Matrix2d& phi = tensor.value.phi;
    const double floor = relative_floor * (1.0 + 0.5 * phi.squaredNorm());  // of tan φ for that of φ
    const double of_errors = 0.25 * tensor.error.phi.squaredNorm();
    const double variance = std::fmax(of_errors, floor * floor);
    if (!(variance > 0.0)) return;
    const double o = phi(0, 1) + phi(1, 0), d = phi(0, 0) - phi(1, 1), a = phi(0, 1) - phi(1, 0);
    oo += o * o / variance;
    od += o * d / variance;
    dd += d * d / variance;
    aa += a * a / variance;
    ++n_tensors;
  }
};

}  // namespace

std::optional<Strike> phase_tensor_strike(const std::vector<StationData>& stations,
                                          const StrikeOptions& options) {
  Sums sums;
  for (const StationData& station : stations) {
    const int n_before = sums.n_tensors;
    for (const StatedPhaseTensor& each : stated_phase_tensors(station)) {
      const double period_s = 1.0 / each.frequency_hz;
      if (period_s >= options.min_period_s && period_s < options.max_period_s)
        sums.add(each.tensor, options.relative_floor);
    }
    sums.n_stations += sums.n_tensors > n_before;
  }
  const int n_freedom = 2 * sums.n_tensors - 1;
  if (n_freedom <= 0) return {};
  constexpr double quarter_deg = 90.0, most_error_deg = 45.0;
  const double wave = 0.5 * std::hypot(0.5 * (sums.dd - sums.oo), sums.od);
  const double middle = 0.25 * (sums.oo + sums.dd) + 0.5 * sums.aa;
  const double least = std::max(middle - wave, 0.0);
  Strike out{.n_stations = sums.n_stations, .n_rows = sums.n_tensors, .n_freedom = n_freedom};
  const double azimuth_deg = 0.25 * deg_per_rad * std::atan2(2.0 * sums.od, sums.dd - sums.oo);
  out.azimuth_deg = azimuth_deg < 0.0 ? azimuth_deg + quarter_deg : azimuth_deg;
  out.rms = std::sqrt(least / n_freedom);
  out.worst_rms = std::sqrt((middle + wave) / n_freedom);
  const double curvature = 16.0 * wave;  // of a wave of 4θ
  const double scale = std::max(out.rms, 1.0);
  out.error_deg = curvature > 0.0 ? std::min(deg_per_rad * scale * std::sqrt(2.0 / curvature), most_error_deg)
                                  : most_error_deg;
  return out;
}

}  // namespace lodestone::physics::mt
