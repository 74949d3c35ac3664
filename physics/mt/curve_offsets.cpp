// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/curve_offsets.hpp"

#include "engine/core/median.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace lodestone::physics::mt {
namespace {

constexpr double least_level = 0.08;  // decades; smooth earths stay below it
constexpr int least_periods = 5, least_curves = 4;
constexpr double deviation_of_median = 0.6745;  // median size of a normal variable over its deviation

/// log10 ρₐ of one curve, by frequency.
using Curve = std::map<int, double>;
/// Curves of a mode, by station.
using Curves = std::map<int, Curve>;

/// Returns the curves of used data: apparent resistivities as they are, or of the parts of impedances.
std::map<Mode, Curves> curves_of(const Observations& data) {
  std::map<Mode, std::map<int, std::map<int, Complex>>> impedances;
  std::map<Mode, Curves> curves;
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const auto& [quantity, frequency, station] = data.survey.keys[i];
    const DatumRule& rule = rule_of(quantity);
    const std::optional<Mode> mode = mode_of(rule);
    if (data.reason[i] != MaskReason::kept || !mode) continue;
    const double value = data.value[static_cast<Eigen::Index>(i)];
    if (rule.floor == FloorKind::log10_rho) curves[*mode][station][frequency] = value;
    if (rule.floor != FloorKind::impedance) continue;
    Complex& z = impedances[*mode][station][frequency];
    z += is_second_of_pair(quantity) ? Complex{0.0, value} : Complex{value, 0.0};
  }
  for (const auto& [mode, of_stations] : impedances) {
    for (const auto& [station, of_frequencies] : of_stations) {
      for (const auto& [frequency, z] : of_frequencies) {
        if (z.real() == 0.0 || z.imag() == 0.0) continue;  // a part is not used
        const double frequency_hz = data.survey.frequencies_hz[static_cast<std::size_t>(frequency)];
        curves[mode][station][frequency] = std::log10(apparent_resistivity_ohm_m(z, frequency_hz));
      }
    }
  }
  return curves;
}

/// Level and change of the offsets of one curve.
struct Offset {
  double level, change;
};
std::optional<Offset> offset_of(const Curve& curve, const Curve& before, const Curve& after,
                                double weight_after) {
  std::vector<double> offsets;
  for (const auto& [frequency, value] : curve) {
    const auto left = before.find(frequency), right = after.find(frequency);
    if (left == before.end() || right == after.end()) continue;
    offsets.push_back(value - std::lerp(left->second, right->second, weight_after));
  }
  if (std::ssize(offsets) < least_periods) return {};
  const double level = core::median(offsets);
  for (double& each : offsets) each = std::abs(each - level);
  // An independent shift of each curve adds the squares of its weights.
  const double scale = std::sqrt(1.0 + std::pow(weight_after, 2) + std::pow(1.0 - weight_after, 2));
  return Offset{std::abs(level) / scale, core::median(offsets) / deviation_of_median / scale};
}

/// Returns the offsets of the curves of a mode whose stations are ordered along the profile.
std::vector<Offset> offsets_of(const Curves& curves, const std::vector<int>& order,
                               const std::vector<Station>& stations) {
  std::vector<Offset> found;
  std::vector<int> present;
  std::ranges::copy_if(order, std::back_inserter(present),
                       [&](int station) { return curves.contains(station); });
  const auto y = [&](int station) { return stations[static_cast<std::size_t>(station)].y_m; };
  for (std::size_t k = 1; k + 1 < present.size(); ++k) {
    const int before = present[k - 1], here = present[k], after = present[k + 1];
    if (!(y(after) > y(before))) continue;
    const double weight_after = (y(here) - y(before)) / (y(after) - y(before));
    if (auto offset = offset_of(curves.at(here), curves.at(before), curves.at(after), weight_after))
      found.push_back(*offset);
  }
  return found;
}

double median_of(const std::vector<Offset>& offsets, double Offset::*member) {
  std::vector<double> values(offsets.size());
  std::ranges::transform(offsets, values.begin(), [member](const Offset& each) { return each.*member; });
  return core::median(values);
}

}  // namespace

bool CurveOffsets::demand_shifts() const {
  return n_curves >= least_curves && level > least_level && level > change;
}

CurveOffsets curve_offsets(const Observations& data) {
  const std::vector<Station>& stations = data.survey.stations;
  std::vector<int> order(stations.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](int station) { return stations[static_cast<std::size_t>(station)].y_m; });
  CurveOffsets result;
  double levels = 0.0, changes = 0.0, n_modes = 0.0;
  for (const auto& [mode, curves] : curves_of(data)) {
    const std::vector<Offset> offsets = offsets_of(curves, order, stations);
    if (offsets.empty()) continue;
    result.n_curves += static_cast<int>(offsets.size());
    levels += std::pow(median_of(offsets, &Offset::level) / deviation_of_median, 2);
    changes += std::pow(median_of(offsets, &Offset::change), 2);
    n_modes += 1.0;
  }
  if (n_modes == 0.0) return {};
  result.level = std::sqrt(levels / n_modes);
  result.change = std::sqrt(changes / n_modes);
  return result;
}

}  // namespace lodestone::physics::mt
