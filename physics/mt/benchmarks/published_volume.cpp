// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/benchmarks/published_volume.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace lodestone::physics::mt::benchmarks {
namespace {

/// A box of one resistivity, whose faces are edges of the grid.
struct Box {
  mesh::Interval x_m, y_m, z_m;
  double resistivity_ohm_m;
};

/// Returns layers with boxes in them. `layers`: one resistivity per layer of cells.
mesh::Model volume_of(mesh::Edges edges, const std::vector<double>& layers, const std::vector<Box>& boxes,
                      mesh::DepthReference depths = mesh::DepthReference::surface) {
  const mesh::TensorGrid grid(std::move(edges), depths);
  const auto middle = [&](mesh::Axis axis, int i) {
    return 0.5 * (grid.edges_m(axis)[i] + grid.edges_m(axis)[i + 1]);
  };
  const auto holds = [](const mesh::Interval& interval, double at) {
    return at > interval.from && at < interval.to;
  };
  Eigen::VectorXd cells(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      for (int ix = 0; ix < grid.n_x(); ++ix) {
        double& cell = cells[grid.index(iz, iy, ix)];
        cell = layers[iz];
        for (const Box& box : boxes) {
          if (holds(box.x_m, middle(mesh::Axis::x, ix)) && holds(box.y_m, middle(mesh::Axis::y, iy)) &&
              holds(box.z_m, middle(mesh::Axis::z, iz)))
            cell = box.resistivity_ohm_m;
        }
      }
    }
  }
  return mesh::resistivity_model({grid}, std::move(cells));
}

/// Returns two truncated cones over a conductor and a resistor.
mesh::Model two_mountains() {
  constexpr double centre_m = 8660.254, spacing_m = 250.0;
  std::vector<double> x, y;
  for (int i = -76; i <= 76; ++i) x.push_back(i * spacing_m);
  for (int j = -41; j <= 41; ++j) y.push_back(j * spacing_m);
  const auto height = [](double dx, double dy) {
    return std::clamp(0.375 * (10000.0 - std::hypot(dx, dy)), 0.0, 3000.0);
  };
  Eigen::MatrixXd z(std::ssize(x), std::ssize(y));
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    for (Eigen::Index j = 0; j < z.cols(); ++j)
      z(i, j) = -std::max(height(x[i] + centre_m, y[j]), height(x[i] - centre_m, y[j]));
  }
  mesh::Model model = volume_of({.x_m = {-18660, -13660, -3660, 3660, 13660, 18660},
                                 .y_m = {-10000, -5000, 5000, 10000},
                                 .z_m = {0, 3000, 8000, 12000}},
                                {100, 100, 100},
                                {{{-13660, -3660}, {-5000, 5000}, {3000, 8000}, 10},
                                 {{3660, 13660}, {-5000, 5000}, {3000, 8000}, 1000}},
                                mesh::DepthReference::datum);
  model.earth.surface = mesh::Surface(x, y, z);
  return model;
}

mesh::Model model_of(const std::string& name) {
  if (name == "commemi3d1")
    return volume_of(
        {.x_m = {-1500, -500, 500, 1500}, .y_m = {-2000, -1000, 1000, 2000}, .z_m = {0, 250, 2250, 4000}},
        {100, 100, 100}, {{{-500, 500}, {-1000, 1000}, {250, 2250}, 0.5}});
  if (name == "commemi3d2")
    return volume_of({.x_m = {-40e3, -20e3, 20e3, 40e3},
                      .y_m = {-40e3, -20e3, 0, 20e3, 40e3},
                      .z_m = {0, 10e3, 30e3, 50e3}},
                     {10, 100, 0.1},
                     {{{-20e3, 20e3}, {-20e3, 0}, {0, 10e3}, 1}, {{-20e3, 20e3}, {0, 20e3}, {0, 10e3}, 100}});
  if (name == "dtm1")
    return volume_of({.x_m = {-30e3, -20e3, -15e3, 0, 15e3, 20e3, 30e3},
                      .y_m = {-40e3, -22.5e3, -2.5e3, 2.5e3, 22.5e3, 40e3},
                      .z_m = {0, 5e3, 20e3, 25e3, 50e3, 70e3}},
                     {100, 100, 100, 100, 100},
                     {{{-20e3, 20e3}, {-2.5e3, 2.5e3}, {5e3, 20e3}, 10},
                      {{-15e3, 0}, {-2.5e3, 22.5e3}, {20e3, 25e3}, 1},
                      {{0, 15e3}, {-22.5e3, 2.5e3}, {20e3, 50e3}, 1e4}});
  if (name == "two_mountain_3d") return two_mountains();
  throw core::InvalidArgument("mt::benchmarks#unknown_volume",
                              "expected commemi3d1, commemi3d2, dtm1 or two_mountain_3d, got \"{}\"", name);
}

}  // namespace

PublishedVolume published_volume(const std::string& name, Accuracy accuracy) {
  PublishedVolume result{model_of(name)};
  if (accuracy == Accuracy::fine) {
    result.rho_limit_percent = 1.0;
    result.phase_limit_deg = 0.3;
  }
  return result;
}

}  // namespace lodestone::physics::mt::benchmarks
