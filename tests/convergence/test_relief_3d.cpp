// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_volume.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using tests::response_of;

namespace {

/// ρₐ and phase of xy, then of yx: one site of two codes.
using Curves = std::array<double, 4>;
struct Reference {
  double frequency_hz, x_m, y_m;
  Curves cubic, hybrid;
};

/// Reads the table of data/benchmarks at one frequency.
std::vector<Reference> references(double frequency_hz) {
  std::ifstream file(std::string(LODESTONE_SOURCE_DIR) + "/data/benchmarks/two_mountain_3d.csv");
  std::vector<Reference> rows;
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    std::vector<double> n;
    while (std::getline(cells, cell, ',')) n.push_back(std::stod(cell));
    if (n[0] != frequency_hz) continue;
    rows.push_back({n[0], n[1], n[2], {n[12], n[13], n[14], n[15]}, {n[16], n[17], n[18], n[19]}});
  }
  return rows;
}

/// Two truncated cones over two bodies (data/benchmarks/README.md).
mesh::Model two_mountains() {
  constexpr double centre = 8660.254, spacing = 250.0;
  std::vector<double> x, y;
  for (int i = -76; i <= 76; ++i) x.push_back(i * spacing);
  for (int j = -41; j <= 41; ++j) y.push_back(j * spacing);
  const auto cone = [](double dx, double dy) {
    return std::clamp(0.375 * (10000.0 - std::hypot(dx, dy)), 0.0, 3000.0);
  };
  Eigen::MatrixXd z(std::ssize(x), std::ssize(y));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < y.size(); ++j)
      z(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          -std::max(cone(x[i] + centre, y[j]), cone(x[i] - centre, y[j]));
  }
  const mesh::TensorGrid grid(mesh::Edges{.x_m = {-18660, -13660, -3660, 3660, 13660, 18660},
                                          .y_m = {-10000, -5000, 5000, 10000},
                                          .z_m = {0, 3000, 8000, 12000}},
                              mesh::DepthReference::datum);
  Eigen::VectorXd cells = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  cells[grid.index(1, 1, 1)] = 10.0;
  cells[grid.index(1, 1, 3)] = 1000.0;
  return mesh::resistivity_model({grid, mesh::Surface(x, y, z)}, cells);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("two mountains: responses on a relief lie within the spread of two published codes",
          "[physics][mt]") {
  const auto model = two_mountains();
  for (const double frequency : {0.25119, 0.0063096}) {
    const auto rows = references(frequency);
    REQUIRE(rows.size() == 24);
    Survey survey{{}, {frequency}, {}};
    for (const Reference& row : rows) {
      survey.stations.push_back({std::to_string(survey.stations.size()), row.y_m});
      survey.stations.back().x_m = row.x_m;
    }
    auto options = d3::design_options(d3::Accuracy::standard);
    options.max_edges = 6e5;
    const auto meshes = d3::design_meshes(model, survey, options);
    const auto layout = tests::full_layout(1, static_cast<int>(rows.size()));
    const d3::Simulation simulation(MPI_COMM_SELF, model.earth, layout, survey.stations,
                                    survey.frequencies_hz, meshes);
    const Eigen::VectorXd outputs = simulation.value(model.values);
    std::vector<double> ours, spread, phases;
    for (int s = 0; s < static_cast<int>(rows.size()); ++s) {
      for (int mode = 0; mode < 2; ++mode) {
        const Complex z = response_of(layout, outputs, {mode == 0 ? Element::zxy : Element::zyx, 0, s});
        const double rho = apparent_resistivity_ohm_m(z, frequency), phase = deg_per_rad * std::arg(z),
                     cubic = rows[s].cubic[2 * mode], hybrid = rows[s].hybrid[2 * mode],
                     phase_cubic = rows[s].cubic[2 * mode + 1];
        ours.push_back(100.0 * std::abs(rho / cubic - 1.0));
        spread.push_back(100.0 * std::abs(hybrid / cubic - 1.0));
        phases.push_back(std::abs(phase - phase_cubic));
        std::printf("%7.0f %7.0f %s ours %8.2f %8.2f cubic %8.2f %8.2f hybrid %8.2f %8.2f  %6.2f %%\n",
                    rows[s].x_m, rows[s].y_m, mode == 0 ? "xy" : "yx", rho, phase, cubic, phase_cubic, hybrid,
                    rows[s].hybrid[2 * mode + 1], 100.0 * (rho / cubic - 1.0));
      }
    }
    std::printf(
        "%g Hz: median %.2f %% and %.2f deg, worst %.2f %%; codes differ by %.2f %%, worst %.2f %%; %ld "
        "iterations of 2\n%s",
        frequency, median_of(ours), median_of(phases), std::ranges::max(ours), median_of(spread),
        std::ranges::max(spread), simulation.counts().iterations, meshes.summary().c_str());
    CHECK(median_of(ours) <= median_of(spread));
    CHECK(std::ranges::max(ours) <= std::ranges::max(spread));
  }
}
