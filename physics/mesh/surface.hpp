// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <vector>

namespace lodestone::physics::mesh {

/// The earth's surface along a profile: a polyline z(y), z down (a hill has negative z), continued level
/// beyond its ends.
class SurfaceLine {
 public:
  /// Makes a level surface at z.
  explicit SurfaceLine(double z_m = 0.0);
  /// Takes the points of a line. shapes: equal lengths ≥ 1. errors: ShapeError; InvalidArgument when y does
  /// not increase or a value is not finite.
  SurfaceLine(std::vector<double> y_m, std::vector<double> z_m);

  [[nodiscard]] double z_at(double y_m) const;
  /// Returns dz/dy at y (of the segment to the right at a corner).
  [[nodiscard]] double slope_at(double y_m) const;
  [[nodiscard]] bool is_flat() const;
  [[nodiscard]] const std::vector<double>& y_m() const { return y_m_; }
  [[nodiscard]] const std::vector<double>& z_m() const { return z_m_; }

 private:
  std::vector<double> y_m_, z_m_;
};

/// The surface of the solid earth, z down: level, a profile z(y) that is the same at every x, or a map z(x,
/// y). Beyond its points it continues level.
class Surface {
 public:
  explicit Surface(double z_m = 0.0) : Surface(SurfaceLine(z_m)) {}
  Surface(SurfaceLine profile);
  /// Makes a map on a grid of points, bilinear between them. shapes: z (n_x, n_y), at least 2 × 2.
  /// errors: ShapeError; InvalidArgument when x or y does not increase or a value is not finite.
  Surface(std::vector<double> x_m, std::vector<double> y_m, Eigen::MatrixXd z_m);

  [[nodiscard]] double z_at(double x_m, double y_m) const;
  /// Returns true when z depends on x.
  [[nodiscard]] bool is_map() const { return !x_m_.empty(); }
  [[nodiscard]] bool is_flat() const { return lowest_m() == highest_m(); }
  /// Returns the polyline z(y). errors: InvalidArgument when the surface is a map.
  [[nodiscard]] const SurfaceLine& profile() const;
  /// Returns the largest z, that of the deepest point.
  [[nodiscard]] double lowest_m() const;
  /// Returns the smallest z, that of the highest point.
  [[nodiscard]] double highest_m() const;
  /// Returns the points along x; empty unless the surface is a map.
  [[nodiscard]] const std::vector<double>& x_m() const { return x_m_; }
  [[nodiscard]] const std::vector<double>& y_m() const { return is_map() ? y_m_ : profile_.y_m(); }
  /// Returns the depths of a map. shape: (n_x, n_y); (1, n_y) of a profile.
  [[nodiscard]] Eigen::MatrixXd z_m() const;

 private:
  SurfaceLine profile_;  // not used by a map
  std::vector<double> x_m_, y_m_;
  Eigen::MatrixXd z_m_;
};

/// Sea water, which fills all space below its level and above the surface of the solid earth. Its resistivity
/// is fixed.
struct Sea {
  double level_m = 0.0;  ///< z of its surface
  double resistivity_ohm_m = 0.3;
};

}  // namespace lodestone::physics::mesh
