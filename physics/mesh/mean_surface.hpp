// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/surface.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <vector>

namespace lodestone::physics::mesh {

/// A map of means, and how many points stand around each of its own.
struct MeanMap {
  Surface surface{};
  Eigen::MatrixXi n_points{};  ///< shape: (n_x, n_y); 0: the depth continues that of the neighbours

  /// Returns true when points stand around the nearest point of the map.
  [[nodiscard]] bool covers(double x_m, double y_m) const;
};

/// Sums up the points of a rough surface by the lines of a grid; the points themselves are not kept.
class MeanSurface {
 public:
  /// Takes the edges of a volume along x and y as lines. errors: InvalidArgument without one of these axes.
  explicit MeanSurface(const TensorGrid& grid);
  /// Adds a point to the crossing of the nearest lines. Leaves it out where it lies farther outside than half
  /// a cell.
  void add(const Point& point);
  /// Returns the number of points added.
  [[nodiscard]] std::size_t n_points() const { return n_points_; }

  /// Returns the map through the crossings of the lines.
  ///
  /// Lines are left out until neighbours are 1.5 distances of points apart. The depth at a crossing is that
  /// of the least-squares plane through its points, their mean where they lie evenly around it. Where they
  /// are few, those of neighbours count as well. Beyond all points the map continues level.
  /// errors: InvalidArgument without points.
  [[nodiscard]] MeanMap map() const;

 private:
  /// Sums of products with (1, x, y) from the crossing, and the range of z.
  struct Sums {
    Eigen::Matrix3d products = Eigen::Matrix3d::Zero();
    Eigen::Vector3d with_z = Eigen::Vector3d::Zero();
    double least_m = 0.0, most_m = 0.0;
    /// Adds sums from a crossing this far away.
    void add(const Sums& other, double off_x_m, double off_y_m);
    [[nodiscard]] double n() const { return products(0, 0); }
  };
  /// Sums at lines, x in the outer loop.
  struct Lines {
    std::vector<double> x_m, y_m;
    std::vector<Sums> sums;
    [[nodiscard]] const Sums& at(std::size_t i, std::size_t j) const { return sums[i * y_m.size() + j]; }
    /// Returns the sums of a crossing and of those up to so many lines away.
    [[nodiscard]] Sums around(std::size_t i, std::size_t j, std::size_t n_lines) const;
    /// Returns the depth at a crossing; NaN without points near it.
    [[nodiscard]] double depth_m(std::size_t i, std::size_t j) const;
  };
  [[nodiscard]] Lines thinned() const;

  Lines lines_;
  Box extent_of_points_;
  std::size_t n_points_ = 0;
};

}  // namespace lodestone::physics::mesh
