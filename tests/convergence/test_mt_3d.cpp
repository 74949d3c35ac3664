// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d1/layered.hpp"
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

/// Returns meshes with every cell cut into eight.
d3::MeshSet refined(const d3::MeshSet& meshes) {
  d3::MeshSet result = meshes;
  for (auto& band : result.bands) {
    std::array<std::vector<double>, 3> lines;
    for (int axis = 0; axis < 3; ++axis) {
      for (const double line : band.grid.lines_m(axis)) {
        if (!lines[axis].empty()) lines[axis].push_back(0.5 * (lines[axis].back() + line));
        lines[axis].push_back(line);
      }
    }
    band.grid = fem::EdgeGrid(lines);
  }
  return result;
}

/// A row of a table of reference responses (data/benchmarks/README.md).
struct Reference {
  double period_s, x_m, y_m;
  PerElement<Complex> value;
};

/// Reads a table of data/benchmarks.
std::vector<Reference> references(const std::string& name) {
  std::ifstream file(std::string(LODESTONE_SOURCE_DIR) + "/data/benchmarks/" + name);
  std::vector<Reference> rows;
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    std::vector<double> numbers;
    while (std::getline(cells, cell, ',')) numbers.push_back(std::stod(cell));
    const auto at = [&](int i) { return Complex(numbers[i], numbers[i + 1]); };
    Reference& row = rows.emplace_back(Reference{numbers[0], numbers[1], numbers[2], {}});
    row.value[Element::zxx] = at(3);
    row.value[Element::zxy] = at(5);
    row.value[Element::zyx] = at(7);
    row.value[Element::zyy] = at(9);
    row.value[Element::tzx] = at(15);
    row.value[Element::tzy] = at(17);
  }
  return rows;
}

/// Deviations of default meshes from a table.
struct Deviations {
  std::vector<double> rho_a_percent;  ///< sorted
  double phase_deg = 0.0, tipper = 0.0, diagonal = 0.0;

  Deviations(const std::string& name, const mesh::Model& model) {
    const auto rows = references(name);
    Survey survey{{}, {1.0 / rows.front().period_s}, {}};
    for (const Reference& row : rows) {
      survey.stations.push_back({std::to_string(survey.stations.size()), row.y_m});
      survey.stations.back().x_m = row.x_m;
    }
    const auto layout = tests::full_layout(1, static_cast<int>(rows.size()));
    const auto meshes = d3::design_meshes(model, survey);
    const d3::Simulation simulation(MPI_COMM_SELF, model.earth, layout, survey.stations,
                                    survey.frequencies_hz, meshes);
    const Eigen::VectorXd outputs = simulation.value(model.values);
    for (int s = 0; s < static_cast<int>(rows.size()); ++s) {
      const auto ours = [&](Element element) { return response_of(layout, outputs, {element, 0, s}); };
      const auto& value = rows[s].value;
      for (const Element element : {Element::zxy, Element::zyx}) {
        rho_a_percent.push_back(100.0 * std::abs(std::norm(ours(element) / value[element]) - 1.0));
        phase_deg = std::max(phase_deg, deg_per_rad * std::abs(std::arg(ours(element) / value[element])));
      }
      for (const Element element : {Element::tzx, Element::tzy})
        tipper = std::max(tipper, std::abs(ours(element) - value[element]));
      for (const Element element : {Element::zxx, Element::zyy})
        diagonal =
            std::max(diagonal, std::abs(ours(element) - value[element]) / std::abs(value[Element::zxy]));
    }
    std::sort(rho_a_percent.begin(), rho_a_percent.end());
    std::printf(
        "%s, %ld edges, %ld iterations: rho_a median %.2f %%, within 1.5 %% %.0f %%, worst %.2f %%; phase "
        "%.2f deg; tipper %.4f; diagonal %.4f of |Zxy|\n%s",
        name.c_str(), static_cast<long>(meshes.bands[0].grid.n_inner_edges()), simulation.counts().iterations,
        median(), 100.0 * share_within(1.5), rho_a_percent.back(), phase_deg, tipper, diagonal,
        meshes.summary().c_str());
  }
  [[nodiscard]] double median() const { return rho_a_percent[rho_a_percent.size() / 2]; }
  [[nodiscard]] double share_within(double percent) const {
    const auto end = std::upper_bound(rho_a_percent.begin(), rho_a_percent.end(), percent);
    return static_cast<double>(end - rho_a_percent.begin()) / static_cast<double>(rho_a_percent.size());
  }
};

}  // namespace

TEST_CASE("3-D edge elements: the error against a layered earth falls with the square of the cell size",
          "[physics][mt]") {
  const mesh::TensorGrid grid(
      mesh::Edges{.x_m = {-1000, 0, 1000}, .y_m = {-1000, 0, 1000}, .z_m = {0, 400, 2000}});
  Eigen::VectorXd cells(grid.n_cells());
  cells << 50, 50, 50, 50, 500, 500, 500, 500;
  const auto model = mesh::resistivity_model({grid}, cells);
  Survey survey{{{"a", 130.0}}, {3.0}, {}};
  auto options = d3::design_options(d3::Accuracy::iteration);
  options.bottom_depth = 10.0;
  d3::MeshSet meshes = d3::design_meshes(model, survey, options);
  const Complex exact = d1::layered_impedance({{50.0, 500.0}, {400.0}}, 3.0);
  const auto layout = tests::full_layout(1, 1);
  double before = 0.0;
  for (int level = 0; level < 3; ++level) {
    const d3::Simulation simulation(MPI_COMM_SELF, model.earth, layout, survey.stations,
                                    survey.frequencies_hz, meshes);
    const double error =
        std::abs(response_of(layout, simulation.value(cells), {Element::zxy, 0, 0}) / exact - 1.0);
    if (level > 0) CHECK(std::log2(before / error) >= 1.8);
    before = error;
    meshes = refined(meshes);
  }
  CHECK(before < 2e-3);
}

TEST_CASE("COMMEMI 3D-1A: phases and tippers within the target, apparent resistivities but for three sites",
          "[physics][mt]") {
  const mesh::TensorGrid grid(mesh::Edges{
      .x_m = {-1500, -500, 500, 1500}, .y_m = {-2000, -1000, 1000, 2000}, .z_m = {0, 250, 2250, 4000}});
  Eigen::VectorXd cells = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  cells[grid.index(1, 1, 1)] = 0.5;
  const Deviations found("commemi3d1.csv", mesh::resistivity_model({grid}, cells));
  CHECK(found.median() < 0.5);
  CHECK(found.share_within(1.5) > 0.85);
  CHECK(found.rho_a_percent.back() < 3.0);  // the target of 1.5 % is missed beside the contacts
  CHECK(found.phase_deg < 0.7);
  CHECK(found.tipper < 0.01);
  CHECK(found.diagonal < 0.01);
}

TEST_CASE("COMMEMI 3D-2A: phases and tippers within the target, most apparent resistivities",
          "[physics][mt]") {
  const mesh::TensorGrid grid(mesh::Edges{.x_m = {-40000, -20000, 20000, 40000},
                                          .y_m = {-40000, -20000, 0, 20000, 40000},
                                          .z_m = {0, 10000, 30000, 50000}});
  Eigen::VectorXd cells(grid.n_cells());
  for (int iz = 0; iz < 3; ++iz)
    cells.segment(grid.index(iz), grid.n_columns()).setConstant(iz == 0 ? 10.0 : iz == 1 ? 100.0 : 0.1);
  cells[grid.index(0, 1, 1)] = 1.0;
  cells[grid.index(0, 2, 1)] = 100.0;
  const Deviations found("commemi3d2.csv", mesh::resistivity_model({grid}, cells));
  CHECK(found.median() < 0.8);
  CHECK(found.share_within(1.5) > 0.75);
  CHECK(found.rho_a_percent.back() < 3.0);  // the target of 1.5 % is missed beside the contacts
  CHECK(found.phase_deg < 0.7);
  CHECK(found.tipper < 0.01);
  CHECK(found.diagonal < 0.015);
}
