// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mesh/shapes.hpp"

#include <Eigen/Core>

#include <vector>

namespace lodestone::physics::mesh {

/// The zero from which the z edges of a grid are measured.
enum class DepthReference {
  datum,    ///< z = 0 of the frame; cells above the surface are not used, the top row continues upwards to it
  surface,  ///< the local surface: the grid is draped on the topography
};
constexpr auto words(DepthReference) {
  using enum DepthReference;
  return core::Words<DepthReference>{{surface, "surface"}, {datum, "datum"}};
}

/// Edges along each axis in metres; an axis without edges counts one cell.
struct Edges {
  std::vector<double> x_m{}, y_m{}, z_m{};
  [[nodiscard]] const std::vector<double>& operator[](Axis axis) const {
    return axis == Axis::x ? x_m : axis == Axis::y ? y_m : z_m;
  }
};

/// A grid of blocks with 1 to 3 axes: layers (z), a section (y, z) or a volume (x, y, z). Cell (ix, iy, iz)
/// has index (iz·n_y + iy)·n_x + ix, so that layers follow each other from the top.
///
/// Outermost columns continue sideways and the bottom layer downwards without end, so that the whole earth
/// has a value. Along a missing axis nothing changes; cells count as 1 there, without unit.
class TensorGrid {
 public:
  /// Makes a grid from its edges. errors: InvalidArgument without edges along z, with edges along x but not
  /// y, with a single edge, or when edges do not increase strictly.
  explicit TensorGrid(Edges edges, DepthReference reference = DepthReference::surface);
  /// Returns n layers from z = 0: the first of a thickness, each further one thicker by a factor. errors:
  /// InvalidArgument.
  [[nodiscard]] static TensorGrid layers(double first_m, double factor, int n);
  /// Returns the grid of a section. errors: as those of the constructor, also without edges along y.
  [[nodiscard]] static TensorGrid section(std::vector<double> y_edges_m, std::vector<double> z_edges_m,
                                          DepthReference reference = DepthReference::surface);

  /// Returns the number of axes, 1 to 3.
  [[nodiscard]] int dimension() const { return 1 + (has(Axis::y) ? 1 : 0) + (has(Axis::x) ? 1 : 0); }
  [[nodiscard]] bool has(Axis axis) const { return !edges_[axis].empty(); }
  [[nodiscard]] int n(Axis axis) const { return has(axis) ? static_cast<int>(edges_[axis].size()) - 1 : 1; }
  [[nodiscard]] int n_x() const { return n(Axis::x); }
  [[nodiscard]] int n_y() const { return n(Axis::y); }
  [[nodiscard]] int n_z() const { return n(Axis::z); }
  [[nodiscard]] int n_columns() const { return n_x() * n_y(); }
  [[nodiscard]] Eigen::Index n_cells() const { return static_cast<Eigen::Index>(n_columns()) * n_z(); }
  [[nodiscard]] Eigen::Index index(int iz, int iy = 0, int ix = 0) const {
    return (static_cast<Eigen::Index>(iz) * n_y() + iy) * n_x() + ix;
  }
  [[nodiscard]] const Edges& edges() const { return edges_; }
  [[nodiscard]] const std::vector<double>& edges_m(Axis axis) const { return edges_[axis]; }
  [[nodiscard]] DepthReference reference() const { return reference_; }
  [[nodiscard]] const std::vector<double>& y_edges_m() const { return edges_.y_m; }
  [[nodiscard]] const std::vector<double>& z_edges_m() const { return edges_.z_m; }
  /// Returns the centre of interval i along an axis, 0 on a missing one.
  [[nodiscard]] double centre_m(Axis axis, int i) const;
  [[nodiscard]] double y_centre_m(int iy) const { return centre_m(Axis::y, iy); }
  [[nodiscard]] double z_centre_m(int iz) const { return centre_m(Axis::z, iz); }
  /// Returns the length of interval i along an axis, 1 on a missing one.
  [[nodiscard]] double width_m(Axis axis, int i) const;
  /// Returns the thickness of each layer. shape: (n_z).
  [[nodiscard]] Eigen::VectorXd thickness_m() const;
  /// Returns the range along each axis, without bounds on a missing one.
  [[nodiscard]] Box extent() const;
  /// Returns the interval along an axis that holds a coordinate, clamped to the outermost ones.
  [[nodiscard]] int nearest(Axis axis, double coordinate_m) const;
  [[nodiscard]] int column_of(double y_m) const { return nearest(Axis::y, y_m); }
  [[nodiscard]] int row_of(double z_m) const { return nearest(Axis::z, z_m); }
  /// Returns the cell that holds a point, or the outermost cell that continues there.
  [[nodiscard]] Eigen::Index nearest(const Point& point) const;
  /// Returns the cell that holds a point, −1 outside. Coordinates are those of the grid: z counts from the
  /// depth reference.
  [[nodiscard]] Eigen::Index at(const Point& point) const;

 private:
  Edges edges_;
  DepthReference reference_;
};

/// Returns edges from cell widths: `first` then each times `factor`, n cells, starting at z = 0.
[[nodiscard]] std::vector<double> geometric_edges_m(double first_m, double factor, int n);

}  // namespace lodestone::physics::mesh
