// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/features.hpp"

#include "physics/mt/d2/feature_sizes.hpp"
#include "physics/mt/d2/resolution.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d2 {

namespace {

constexpr double edge_fraction =
    0.5;  // of the distance between a station and the edge of its column: largest cells there

/// The content of the earth: contacts between columns, interfaces between rows, and the columns of the
/// stations.
class GridFeatures {
 public:
  GridFeatures(const SectionResolution& earth, const MeshDesignOptions& options, FeatureCollector& features)
      : earth_(earth),
        grid_(earth.grid()),
        options_(options),
        features_(features),
        least_ratio_(std::pow(10.0, options.least_contrast)),
        down_(steps_down()),
        across_(steps_across()) {}

  /// Adds the vertical contacts between columns iy − 1 and iy.
  void add_contacts(int iy) {
    const auto side = [&](int iz) { return conducting_side(across_(iz, iy - 1), across_(iz, iy)); };
    for_runs(earth_.n_rows(), side, [&](int first, int end) {
      const double height = earth_.is_draped() ? 1e300 : grid_.z_edges_m()[end] - grid_.z_edges_m()[first];
      for (int iz = first; iz < end; ++iz) add_contact(iz, iy, height);
    });
  }

  /// Adds the horizontal interfaces between rows iz − 1 and iz.
  void add_interfaces(int iz) {
    const auto side = [&](int iy) { return conducting_side(down_(iz - 1, iy), down_(iz, iy)); };
    for_runs(grid_.n_y(), side, [&](int first, int end) {
      const double length = earth_.is_draped() ? 1e300 : right_of(end - 1) - left_of(first);
      for (int iy = first; iy < end; ++iy) add_interface(iz, iy, length);
    });
  }

  /// Adds both edges of the column of a station.
  void add_edges(double station) {
    const int column = grid_.column_of(station);
    if (column > 0) add_edge(column, station);
    if (column + 1 < grid_.n_y()) add_edge(column + 1, station);
  }

 private:
  [[nodiscard]] double left_of(int iy) const { return iy == 0 ? -1e300 : grid_.y_edges_m()[iy]; }
  [[nodiscard]] double right_of(int iy) const {
    return iy + 1 == grid_.n_y() ? 1e300 : grid_.y_edges_m()[iy + 1];
  }

  /// Returns 1 or −1 by the side that conducts, 0 without a contrast that counts.
  [[nodiscard]] int conducting_side(double a, double b) const {
    return a / b >= least_ratio_ ? 1 : b / a >= least_ratio_ ? -1 : 0;
  }

  /// Returns the resistivity down each column as steps of at least the least contrast. A smooth section
  /// changes by less from cell to cell, and by much over a few of them.
  [[nodiscard]] Eigen::MatrixXd steps_down() const {
    Eigen::MatrixXd steps(earth_.n_rows(), grid_.n_y());
    for (int iy = 0; iy < grid_.n_y(); ++iy) {
      for (int iz = 0; iz < earth_.n_rows(); ++iz)
        steps(iz, iy) = step_to(earth_.rho(iz, iy), iz > 0 ? steps(iz - 1, iy) : earth_.rho(0, iy));
    }
    return steps;
  }
  /// Likewise along each row.
  [[nodiscard]] Eigen::MatrixXd steps_across() const {
    Eigen::MatrixXd steps(earth_.n_rows(), grid_.n_y());
    for (int iy = 0; iy < grid_.n_y(); ++iy) {
      for (int iz = 0; iz < earth_.n_rows(); ++iz)
        steps(iz, iy) = step_to(earth_.rho(iz, iy), iy > 0 ? steps(iz, iy - 1) : earth_.rho(iz, 0));
    }
    return steps;
  }
  [[nodiscard]] double step_to(double here, double before) const {
    return conducting_side(before, here) != 0 ? here : before;
  }

  /// Calls visit(first, end) for the runs of one conducting side among 0 … n − 1.
  template <class Side, class Visit>
  static void for_runs(int n, Side side, Visit visit) {
    for (int first = 0, end = 1; first < n; first = end++) {
      while (end < n && side(end) == side(first)) ++end;
      if (side(first) != 0) visit(first, end);
    }
  }

  /// Adds row iz of a contact between columns iy − 1 and iy, which is `height` tall.
  void add_contact(int iz, int iy, double height) {
    const double y = grid_.y_edges_m()[iy], surface = earth_.surface().z_at(y),
                 depth = earth_.depth_under(surface, iz);
    if (earth_.depth_under(surface, iz + 1) <= 0.0) return;
    const Requirement required = earth_.requirement(y, y, iz, iy, depth);
    if (!required.is_relevant()) return;
    const double a = across_(iz, iy - 1), b = across_(iz, iy),
                 weight = contrast_strength(std::abs(std::log10(a / b)));
    features_.add_lateral({y, depth, height}, features_.conductor_size(std::min(a, b), required.r), weight,
                          required);
  }

  /// Adds column iy of an interface between rows iz − 1 and iz, which is `length` long.
  void add_interface(int iz, int iy, double length) {
    if (earth_.depth_of_edge(iz, iy) <= 0.0) return;
    const Requirement required = earth_.requirement(left_of(iy), right_of(iy), iz, iy);
    if (!required.is_relevant()) return;
    const double conductor = std::min(down_(iz - 1, iy), down_(iz, iy));
    features_.add_interface(iz, iy, length,
                            required.coarser * features_.conductor_size(conductor, required.r));
  }

  /// The edges of a station's column get lines unless the surface is the same on both sides: across them E
  /// changes by the whole contrast. Not so under water, which carries the current past them: cells much
  /// narrower than deep would only show the error of the cells' depth.
  void add_edge(int edge, double station) {
    const double y_edge = grid_.y_edges_m()[edge];
    if (earth_.is_under_water(y_edge)) return;
    const int row = earth_.top_row(y_edge);
    if (std::abs(std::log10(earth_.rho(row, edge - 1) / earth_.rho(row, edge))) < 0.01) return;
    const double r = std::max(features_.least_distance(0.0), std::abs(station - y_edge));
    features_.add_line(y_edge, options_.coarsen * edge_fraction * r);
  }

  const SectionResolution& earth_;
  const mesh::TensorGrid& grid_;
  const MeshDesignOptions& options_;
  FeatureCollector& features_;
  double least_ratio_;
  Eigen::MatrixXd down_, across_;  // ohm m; shape (n_rows, n_y)
};

}  // namespace

MeshFeatures MeshFeatures::coarsened(double factor) const {
  MeshFeatures result = *this;
  for (auto* features : {&result.y, &result.z}) {
    for (auto& feature : *features) feature.size_m *= factor;
  }
  result.surface_size_m *= factor;
  result.sea_size_m *= factor;
  return result;
}

MeshFeatures find_features(const mesh::Model& model, const Survey& survey, const BandRange& band,
                           const MeshDesignOptions& options) {
  const SectionResolution earth(model, survey, band);
  FeatureCollector features(earth, options);
  GridFeatures grid(earth, options, features);
  for (int iy = 1; iy < earth.grid().n_y(); ++iy) grid.add_contacts(iy);
  for (int iz = 1; iz < earth.n_rows(); ++iz) grid.add_interfaces(iz);
  add_surface_features(earth, options, features);
  for (std::size_t i = 0; i < earth.stations().size(); ++i) {
    grid.add_edges(earth.stations()[i]);
    features.add_station(i);
  }
  return features.finish();
}

}  // namespace lodestone::physics::mt::d2
