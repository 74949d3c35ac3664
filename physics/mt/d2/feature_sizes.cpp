// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/feature_sizes.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d2 {
namespace {

constexpr double station_fraction =
    0.08;  // of the distance between a station and a contact: largest cells at the station, order 2
constexpr double step_depth_share =
    0.4;  // of the depth of cells at a contact, where it is a step of a slanted edge

}  // namespace

double contrast_strength(double decades) { return std::min(1.0, std::pow(0.5 * decades, 1.5)); }

FeatureCollector::FeatureCollector(const SectionResolution& earth, const MeshDesignOptions& options)
    : earth_(earth),
      options_(options),
      c_(options.coarsen / options.cells_per_skin_depth),
      kappa_(options.coarsen * options.contact_fraction),
      nearest_(earth.stations().size(), 1e300) {
  result_.perfect_conductor_below = earth.perfect_conductor_below();
  result_.penetration_m = earth.deepest_penetration_m();
  result_.bottom_m = earth.bottom_m(options.bottom_depth);
  result_.first_y_m = earth.stations().front();
  result_.last_y_m = earth.stations().back();
}

double FeatureCollector::conductor_size(double resistivity, double r) const {
  const double delta = earth_.skin_depth_m(resistivity);
  return c_ * std::sqrt(delta * std::max(delta, r));
}

double FeatureCollector::contact_size(const Requirement& required, double depth) const {
  return required.coarser * kappa_ * std::max(required.r, least_distance(depth));
}

/// A station's flux is a mean over two cells, the field bends over the distance to the contact, however weak
/// that is. Order 1 has small cells anyway.
double FeatureCollector::most_of_distance() const {
  return options_.order == 1 ? 1e300 : options_.coarsen * station_fraction;
}

/// A grid on the datum may hold slanted edges as steps. Under a sea, which keeps stations away from them, a
/// step smaller than the cells required gets no line: averages take it. On land charges on the steps beside
/// a station are required.
bool FeatureCollector::needs_line(double length, double size) const {
  return !earth_.sea() || options_.coarsen * length >= size;
}

void FeatureCollector::add_line(double y, double size) {
  add_size(y, size);
  result_.y_anchors.push_back(y);
}

void FeatureCollector::add_lateral(const Lateral& lateral, double most, double weight,
                                   const Requirement& required) {
  const double y = lateral.y, depth = lateral.depth, size = contact_size(required, depth) / weight;
  add_size(y, std::min(required.coarser * most, size));
  result_.first_y_m = std::min(result_.first_y_m, y);
  result_.last_y_m = std::max(result_.last_y_m, y);
  const double above = earth_.height_at(earth_.surface().z_at(y));
  const bool line = needs_line(lateral.height, size);
  levels_.push_back({above, depth, (line ? 1.0 : step_depth_share) * size});
  if (line) result_.y_anchors.push_back(y);
  if (depth > 0.0) levels_.push_back({above, 0.0, 2.0 * size});
  shrink_stations(lateral, weight);
}

/// Shrinks the cells of stations near a contact or kink.
void FeatureCollector::shrink_stations(const Lateral& lateral, double weight) {
  const auto& stations = earth_.stations();
  for (std::size_t i = 0; i < stations.size(); ++i) {
    const double distance =
        std::max(least_distance(lateral.depth), std::hypot(stations[i] - lateral.y, lateral.depth));
    nearest_[i] = std::min(
        {nearest_[i], distance / weight, lateral.station_cap * most_of_distance() / kappa_ * distance});
  }
}

void FeatureCollector::add_interface(int iz, int iy, double length, double size) {
  levels_.push_back({earth_.height_of_column(iy), earth_.depth_of_edge(iz, iy), size});
  if (needs_line(length, size)) interfaces_.push_back(levels_.back());
}

void FeatureCollector::add_water(double depth_m, double resistivity) {
  result_.sea_depth_m = depth_m;
  result_.sea_size_m = c_ * earth_.skin_depth_m(resistivity);
}

void FeatureCollector::add_station(std::size_t i) {
  const double y = earth_.stations()[i], penetration = earth_.penetration_m(earth_.grid().column_of(y));
  levels_.push_back({earth_.height_at(earth_.surface().z_at(y)), 0.0, c_ * penetration});
  add_size(y, std::min(0.5 * options_.coarsen * penetration, kappa_ * nearest_[i]));
}

MeshFeatures FeatureCollector::finish() {
  place_rows();
  result_.surface_size_m = 1e300;
  for (const auto& feature : result_.z) {
    if (feature.at_m == 0.0) result_.surface_size_m = std::min(result_.surface_size_m, feature.size_m);
  }
  return std::move(result_);
}

/// Rows level out at the first interface below the whole surface, so that they conform to those from there
/// on, unless that is very shallow.
void FeatureCollector::place_rows() {
  RowLevels& rows = result_.levels;
  const std::optional<mesh::Sea>& sea = earth_.sea();
  const double highest = std::ranges::min(earth_.surface().z_m());
  const double relief = earth_.height_at(sea ? std::min(highest, sea->level_m) : highest);
  rows = {earth_.is_draped(), std::max(4.0 * relief, 1e-3 * result_.bottom_m)};
  for (const Level& level : interfaces_) {
    const double below = level.depth - level.height;
    if (below > 0.0) rows.level_depth_m = std::min(rows.level_depth_m, std::max(below, 0.5 * relief));
  }
  for (const Level& level : interfaces_) result_.z_anchors.push_back(rows.row_at(level.depth, level.height));
  for (const Level& level : levels_) {
    const double stretch = rows.is_level(level.depth, level.height) ? 1.0 : rows.stretch(level.height);
    result_.z.push_back({rows.row_at(level.depth, level.height), level.size / stretch});
  }
}

}  // namespace lodestone::physics::mt::d2
