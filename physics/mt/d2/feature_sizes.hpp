// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: how small cells are at what the finders of features name.
#pragma once

#include "physics/mt/d2/features.hpp"
#include "physics/mt/d2/resolution.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lodestone::physics::mt::d2 {

/// Returns the weight of a contrast in decades, 1 at two decades and more. It covers its scattering, and the
/// shielding by which large fields become small.
[[nodiscard]] double contrast_strength(double decades);

/// A contact or kink: the depth of its top, its height below that, and the factor of `most_of_distance` that
/// suits a station near it.
struct Lateral {
  double y, depth, height, station_cap = 1.0;
};

/// Turns contacts, kinks, interfaces, water and stations into `MeshFeatures`. Keeps references.
class FeatureCollector {
 public:
  FeatureCollector(const SectionResolution& earth, const MeshDesignOptions& options);

  /// Returns the cell size at a place of the given resistivity and distance from the nearest station.
  [[nodiscard]] double conductor_size(double resistivity, double r) const;
  /// Returns the cell size at a contact or kink of full weight.
  [[nodiscard]] double contact_size(const Requirement& required, double depth) const;
  /// Returns the distance from a contact below which stations are not resolved further. Its charges act at
  /// all frequencies alike, so the survey's highest one sets it.
  [[nodiscard]] double least_distance(double depth) const { return std::max(depth, earth_.shortest_m()); }

  /// Adds a size along the profile, without or with a line.
  void add_size(double y, double size) { result_.y.push_back({y, size}); }
  void add_line(double y, double size);
  /// Adds a contact (or kink) that scatters with `weight` ≤ 1. `most` limits the lines beside it, across
  /// which the field decays into the conductor; along the contact it varies with the distance r alone.
  void add_lateral(const Lateral& lateral, double most, double weight, const Requirement& required);
  /// Adds column iy of an interface above row iz, which is `length` long.
  void add_interface(int iz, int iy, double length, double size);
  /// Adds water `depth_m` deep, which matters to the stations.
  void add_water(double depth_m, double resistivity);
  /// Adds the i-th of `SectionResolution::stations`, after all contacts and kinks.
  void add_station(std::size_t i);

  /// Returns the features; is called once, at the end.
  [[nodiscard]] MeshFeatures finish();

 private:
  /// A depth under the local surface, which stands `height` above its lowest point, and the size of cells
  /// there.
  struct Level {
    double height, depth, size;
  };

  [[nodiscard]] double most_of_distance() const;
  [[nodiscard]] bool needs_line(double length, double size) const;
  void shrink_stations(const Lateral& lateral, double weight);
  void place_rows();

  const SectionResolution& earth_;
  const MeshDesignOptions& options_;
  double c_, kappa_;
  std::vector<Level> levels_, interfaces_;
  std::vector<double> nearest_;  ///< per station: distance of the nearest contact, weighted by its contrast
  MeshFeatures result_;
};

/// Adds kinks and steep slopes of the surface, coasts and the water above stations (surface_features.cpp).
void add_surface_features(const SectionResolution& earth, const MeshDesignOptions& options,
                          FeatureCollector& features);

}  // namespace lodestone::physics::mt::d2
