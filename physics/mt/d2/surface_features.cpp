// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/feature_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lodestone::physics::mt::d2 {
namespace {

constexpr double steep = 1.05;        // arc length over width, 18 degrees
constexpr double most_of_kink = 0.2;  // the weight of the sharpest kink

/// Returns the weight of the shape of the surface at y. Charges on it are as the reflection coefficient, 1
/// under air.
double floor_strength(const SectionResolution& earth, double y) {
  if (!earth.is_under_water(y)) return 1.0;
  const double ground = earth.rho(earth.top_row(y), earth.grid().column_of(y)),
               water = earth.sea()->resistivity_ohm_m;
  return std::max(0.1, std::abs(ground - water) / (ground + water));
}

/// A kink of the floor is a step too if others are closer to it than the cells required. Those at the ends of
/// the piece on which a station lies are none.
double kink_length(const SectionResolution& earth, std::size_t i) {
  const auto &y = earth.surface().y_m(), &stations = earth.stations();
  if (!earth.sea() || i == 0 || i + 1 == y.size()) return 1e300;
  const auto next = std::lower_bound(stations.begin(), stations.end(), y[i - 1]);
  return next != stations.end() && *next <= y[i + 1] ? 1e300 : std::min(y[i] - y[i - 1], y[i + 1] - y[i]);
}

void add_kinks(const SectionResolution& earth, FeatureCollector& features) {
  const auto& surface = earth.surface();
  const auto& y = surface.y_m();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double before = i == 0 ? 0.0 : surface.slope_at(0.5 * (y[i - 1] + y[i])),
                 after = surface.slope_at(y[i]);
    const double change = std::abs(after - before);
    const Requirement required = earth.requirement_at_surface(y[i]);
    if (change < 1e-3 || !required.is_relevant()) continue;
    const double weight = std::min(most_of_kink, 0.4 * change) *
                          floor_strength(earth, y[i]);  // a slope of 27° counts like half a decade
    const double station_cap = earth.is_under_water(y[i]) ? std::sqrt(most_of_kink / weight) : 1.0;
    features.add_lateral({y[i], 0.0, kink_length(earth, i), station_cap}, 1e300, weight, required);
  }
}

/// A steep slope is long in arc length but short in y: cells along it shall be no longer there than beside a
/// kink on level ground.
void add_slopes(const SectionResolution& earth, const MeshDesignOptions& options,
                FeatureCollector& features) {
  const auto &y = earth.surface().y_m(), &z = earth.surface().z_m();
  for (std::size_t i = 0; i + 1 < y.size(); ++i) {
    const double width = y[i + 1] - y[i], length = std::hypot(width, z[i + 1] - z[i]);
    if (length < steep * width) continue;
    const Requirement required =
        earth.requirement(y[i], y[i + 1], 0, earth.grid().column_of(0.5 * (y[i] + y[i + 1])));
    if (!required.is_relevant()) continue;
    const double at_end = features.contact_size(required, 0.0);
    for (int k = 0; k <= 16; ++k) {
      const double t = 0.5 - 0.5 * std::cos(k * std::numbers::pi / 16.0),
                   from_end = std::min(t, 1.0 - t) * length;
      const double along = at_end + (options.growth - 1.0) * options.coarsen * from_end;
      features.add_size(y[i] + t * width, along * width / length);
    }
  }
}

/// Adds a contact of the water with the ground at its top.
void add_coast(const SectionResolution& earth, const mesh::Sea& sea, double y, FeatureCollector& features) {
  const Requirement required = earth.requirement_at_surface(y);
  if (!required.is_relevant()) return;
  const double ground = earth.rho(earth.top_row(y), earth.grid().column_of(y));
  const double weight = contrast_strength(std::abs(std::log10(ground / sea.resistivity_ohm_m)));
  features.add_lateral({y, 0.0, 1e300}, features.conductor_size(sea.resistivity_ohm_m, required.r), weight,
                       required);
}

void add_coasts(const SectionResolution& earth, const mesh::Sea& sea, FeatureCollector& features) {
  const auto &y = earth.surface().y_m(), &z = earth.surface().z_m();
  for (std::size_t i = 0; i + 1 < y.size(); ++i) {
    if ((z[i] > sea.level_m) == (z[i + 1] > sea.level_m)) continue;
    const double t = (sea.level_m - z[i]) / (z[i + 1] - z[i]);
    add_coast(earth, sea, y[i] + t * (y[i + 1] - y[i]), features);
  }
}

/// Returns the depth of the water, a conductor above the stations: at them and at the relevant kinks of the
/// floor.
double water_depth(const SectionResolution& earth, const mesh::Sea& sea) {
  const auto& surface = earth.surface();
  double depth = 0.0;
  for (std::size_t i = 0; i < surface.y_m().size(); ++i) {
    if (earth.requirement_at_surface(surface.y_m()[i]).is_relevant())
      depth = std::max(depth, surface.z_m()[i] - sea.level_m);
  }
  for (const double station : earth.stations()) depth = std::max(depth, surface.z_at(station) - sea.level_m);
  return depth;
}

}  // namespace

void add_surface_features(const SectionResolution& earth, const MeshDesignOptions& options,
                          FeatureCollector& features) {
  add_kinks(earth, features);
  add_slopes(earth, options, features);
  if (!earth.sea()) return;
  const mesh::Sea& sea = *earth.sea();
  add_coasts(earth, sea, features);
  features.add_water(water_depth(earth, sea), sea.resistivity_ohm_m);
}

}  // namespace lodestone::physics::mt::d2
