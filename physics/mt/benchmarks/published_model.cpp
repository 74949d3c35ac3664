// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/benchmarks/published_model.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::benchmarks {
namespace {

using mesh::DepthReference;
using mesh::TensorGrid;

/// Returns a section from edges and resistivities written row by row.
mesh::Model section_of(std::vector<double> y_edges_m, std::vector<double> z_edges_m,
                       const std::vector<double>& resistivity_ohm_m) {
  TensorGrid grid = TensorGrid::section(std::move(y_edges_m), std::move(z_edges_m), DepthReference::datum);
  Eigen::VectorXd values = Eigen::Map<const Eigen::VectorXd>(resistivity_ohm_m.data(), grid.n_cells());
  return mesh::resistivity_model({std::move(grid)}, std::move(values));
}

constexpr double fine_slope = 2.0;  // steps of 33 m: those of the default, 66 m, cost 2D-4 0.07 degrees at
                                    // the site above the slope's end
constexpr double conductor = 1e-6;  // below the limit that makes a bottom row a perfect conductor

/// Returns the geometry, and the limits of the default accuracy.
PublishedModel model_of(const std::string& name, const ReadSection& read, double refine) {
  if (name == "commemi2d0") {
    return {section_of({-100e3, -10e3, 10e3, 100e3}, {0.0, 50e3, 60e3},
                       {10, 1, 2, conductor, conductor, conductor}),
            {-10e3, 10e3},
            20e3};
  }
  if (name == "commemi2d1") {
    return {section_of({-2000, -500, 500, 2000}, {0.0, 250, 2250, 5000},
                       {100, 100, 100, 100, 0.5, 100, 100, 100, 100}),
            {-500, 500},
            1000};
  }
  if (name == "commemi2d2") {
    const double b = 0.1, h = 100;
    return {section_of({-60e3, -22e3, -4e3, 10e3, 22e3, 60e3}, {0.0, 7e3, 9e3, 75e3, 100e3},
                       {h, h, h, h, h, h, b, h, b, h, h, h, h, h, h, 10, 10, 10, 10, 10}),
            {-22e3, -4e3, 10e3, 22e3},
            12e3};
  }
  if (name == "commemi2d4") return {read(name, refine), {}};
  if (name == "wannamaker_hill") {
    return {.section = read(name, refine),
            .contacts_m = {-1000, -225, 225, 1000},
            .body_width_m = 2000,
            .rho_limit_percent = 1.0,
            .phase_limit_deg = 0.4};
  }
  throw core::InvalidArgument(
      "mt::benchmarks#unknown_model",
      "expected commemi2d0, commemi2d1, commemi2d2, commemi2d4 or wannamaker_hill, got \"{}\"", name);
}

}  // namespace

bool PublishedModel::is_at_contact(double y_m) const {
  return std::ranges::any_of(contacts_m,
                             [&](double contact) { return std::abs(y_m - contact) <= 0.02 * body_width_m; });
}

PublishedModel published_model(const std::string& name, const ReadSection& read, d2::Accuracy accuracy) {
  const bool fine = accuracy == d2::Accuracy::fine;
  PublishedModel model = model_of(name, read, fine && name == "commemi2d4" ? fine_slope : 1.0);
  if (fine) {
    model.rho_limit_percent = 0.1;
    model.phase_limit_deg = 0.05;
  }
  return model;
}

}  // namespace lodestone::physics::mt::benchmarks
