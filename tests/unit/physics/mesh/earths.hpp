// SPDX-License-Identifier: Apache-2.0
// Small earths of each dimension, shared by the tests of this folder.
#pragma once

#include "physics/mesh/earth.hpp"

namespace lodestone::tests {

/// Returns 3 layers of 10, 20 and 40 m.
inline physics::mesh::Earth small_layers() { return {physics::mesh::TensorGrid::layers(10.0, 2.0, 3)}; }

/// Returns a coast: 100 m of land on the left, 100 m of sea on the right of y = 0; columns of 100 m and
/// layers of 60 m.
inline physics::mesh::Earth coast_section(physics::mesh::DepthReference reference) {
  namespace mesh = physics::mesh;
  return {mesh::TensorGrid::section({-250, -150, -50, 50, 150, 250}, {-120, -60, 0, 60, 120}, reference),
          mesh::SurfaceLine({-200, 200}, {-100, 100}), mesh::Sea{0.0, 0.3}};
}

/// Returns 2 × 3 × 2 cells of 10 m × 10 m × 5 m under a surface that dips towards x and y.
inline physics::mesh::Earth small_volume(physics::mesh::DepthReference reference) {
  namespace mesh = physics::mesh;
  Eigen::MatrixXd z(2, 2);
  z << -2.0, 1.0, 0.0, 3.0;
  return {mesh::TensorGrid(mesh::Edges{{0, 10, 20}, {0, 10, 20, 30}, {0, 5, 10}}, reference),
          mesh::Surface({0, 20}, {0, 30}, z)};
}

}  // namespace lodestone::tests
