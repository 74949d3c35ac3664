// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/benchmarks/comparisons.hpp"
#include "physics/mt/d1/layered.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_volume.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
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

/// Reads a table of numbers in data/benchmarks, all its rows or those of some periods.
core::Table table_of(const std::string& name, const std::vector<double>& periods_s = {}) {
  std::ifstream file(std::string(LODESTONE_SOURCE_DIR) + "/data/benchmarks/" + name + ".csv");
  std::string line, cell;
  std::getline(file, line);
  core::Table table;
  std::stringstream header(line);
  while (std::getline(header, cell, ',')) table.add_numbers(cell, "");
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    std::vector<core::Table::Cell> row;
    while (std::getline(cells, cell, ',')) row.emplace_back(std::stod(cell));
    if (periods_s.empty() || std::ranges::find(periods_s, std::get<double>(row[0])) != periods_s.end())
      table.append_row(row);
  }
  return table;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Checks a published volume against a table and prints the worst judged differences. Returns the median of
/// those of ρₐ in per cent.
double check_published(const std::string& name, Accuracy accuracy, const d3::MeshDesignOptions& rules,
                       const core::Table& table, std::size_t least_judged) {
  const auto rows =
      benchmarks::compare_volume(MPI_COMM_SELF, benchmarks::published_volume(name, accuracy), table, rules);
  std::map<std::string, const core::Comparison*> worst;  // by units
  std::vector<double> rho_a;
  std::size_t n_judged = 0;
  for (const auto& row : rows) {
    if (row.units == "ohm m") rho_a.push_back(std::abs(row.difference));
    if (!row.judged) continue;
    ++n_judged;
    CHECK(row.passed());
    auto& of_units = worst[row.units];
    if (of_units == nullptr || std::abs(row.difference) > std::abs(of_units->difference)) of_units = &row;
  }
  const double median = median_of(std::move(rho_a));
  std::printf("%s, %s: rho_a median %.2f %%", name.c_str(), std::string(core::word(accuracy)).c_str(),
              median);
  for (const auto& [units, row] : worst)
    std::printf("; worst %.3g%s at %s", row->difference, row->difference_units.c_str(), row->what.c_str());
  std::printf("; %zu of %zu judged\n", n_judged, rows.size());
  CHECK(n_judged >= least_judged);
  return median;
}
void check_published(const std::string& name, Accuracy accuracy, std::size_t least_judged) {
  check_published(name, accuracy, d3::design_options(accuracy), table_of(name), least_judged);
}

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
    std::printf("%8ld cells, error %.3e, order %.2f\n", static_cast<long>(meshes.bands[0].grid.n_cells()),
                error, level > 0 ? std::log2(before / error) : 0.0);
    if (level > 0) CHECK(std::log2(before / error) >= 1.8);
    before = error;
    meshes = refined(meshes);
  }
  CHECK(before < 2e-3);
}

TEST_CASE(
    "COMMEMI 3D-1A: within 1.5 % and 0.7 degrees on default meshes, within 1 % and 0.3 degrees on fine ones",
    "[physics][mt]") {
  check_published("commemi3d1", Accuracy::standard, 136);
  check_published("commemi3d1", Accuracy::fine, 132);
}

TEST_CASE("COMMEMI 3D-2A: within 1.5 % and 0.7 degrees where the reference is as good as that",
          "[physics][mt]") {
  check_published("commemi3d2", Accuracy::standard, 156);
}

TEST_CASE("two mountains: responses on a relief lie within the spread of two published codes",
          "[physics][mt]") {
  auto rules = d3::design_options(Accuracy::standard);
  rules.max_edges = 6e5;
  for (const double period_s : {3.9810502, 158.48865}) {
    const core::Table table = table_of("two_mountain_3d", {period_s});
    REQUIRE(table.n_rows() == 24);
    std::vector<double> spread;
    for (const std::string mode : {"xy", "yx"}) {
      const auto &one = table.numbers("rho_" + mode + "_ohm_m"),
                 &other = table.numbers("rho_" + mode + "_other_ohm_m");
      for (std::size_t row = 0; row < table.n_rows(); ++row)
        spread.push_back(100.0 * std::abs(other[row] / one[row] - 1.0));
    }
    CHECK(check_published("two_mountain_3d", Accuracy::standard, rules, table, 96) <= median_of(spread));
  }
}
