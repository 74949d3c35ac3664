// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace lodestone::physics::mesh {

/// The earth's surface along a profile: a polyline z(y), z down (a hill has negative z), continued level
/// beyond its ends.
class Surface2D {
 public:
  /// Level surface at z.
  explicit Surface2D(double z_m = 0.0);
  /// shapes: equal lengths ≥ 1. errors: ShapeError; InvalidArgument when y does not increase or a value is
  /// not finite.
  Surface2D(std::vector<double> y_m, std::vector<double> z_m);

  [[nodiscard]] double z_at(double y_m) const;
  /// dz/dy at y (of the segment to the right at a corner).
  [[nodiscard]] double slope_at(double y_m) const;
  [[nodiscard]] bool is_flat() const;
  [[nodiscard]] const std::vector<double>& y_m() const { return y_m_; }
  [[nodiscard]] const std::vector<double>& z_m() const { return z_m_; }

 private:
  std::vector<double> y_m_, z_m_;
};

}  // namespace lodestone::physics::mesh
