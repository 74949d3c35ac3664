// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/small_volume.hpp"

#include <algorithm>
#include <iterator>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using tests::error_of;
using tests::HasId;

namespace {

bool has_line(const std::vector<double>& lines, double at) {
  return std::any_of(lines.begin(), lines.end(), [at](double line) { return std::abs(line - at) < 1e-6; });
}

}  // namespace

TEST_CASE(
    "3-D mesh design: contacts are lines, the surface too, and the extents follow the penetration depth",
    "[physics][mt]") {
  auto model = tests::small_volume();
  model.values.setConstant(100.0);
  model.values[model.earth.grid.index(1, 1, 1)] = 1.0;
  const auto meshes = d3::design_meshes(model, tests::volume_survey());
  REQUIRE(meshes.bands.size() == 2);
  for (const auto& band : meshes.bands) {
    const auto& grid = band.grid;
    CHECK(grid.lines_m(2)[band.ground()] == 0.0);
    for (const double x : {-600.0, 500.0}) CHECK(has_line(grid.lines_m(0), x));
    for (const double y : {-400.0, 700.0}) CHECK(has_line(grid.lines_m(1), y));
    for (const double z : {300.0, 1000.0}) CHECK(has_line(grid.lines_m(2), z));
    const double penetration = skin_depth_m(100.0, tests::volume_frequencies_hz()[band.frequencies.back()]);
    CHECK(grid.lines_m(0).back() >= 5.0 * penetration);
    CHECK(grid.lines_m(2).back() >= 5.0 * penetration);
    CHECK(grid.lines_m(2).front() == Approx(-5.0 * penetration));
  }
  CHECK(meshes.summary().find(std::to_string(meshes.bands[0].grid.n_inner_edges())) != std::string::npos);
}

TEST_CASE("3-D mesh design: frequencies within the ratio share a mesh, and the limit of edges coarsens it",
          "[physics][mt]") {
  const auto model = tests::small_volume();
  const Survey survey{tests::volume_stations(), {1.0, 3.0, 0.9, 0.01}, {}};
  auto options = d3::design_options(d3::Accuracy::standard);
  const auto meshes = d3::design_meshes(model, survey, options);
  REQUIRE(meshes.bands.size() == 3);
  CHECK(meshes.bands[0].frequencies == std::vector<int>{1, 0});
  options.max_edges = 2e4;
  for (const auto& band : d3::design_meshes(model, survey, options).bands) {
    CHECK(static_cast<double>(band.grid.n_inner_edges()) <= 2e4);
    CHECK(band.coarsened > 1.0);
  }
  options.max_edges = 5;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)d3::design_meshes(model, survey, options); }),
             HasId("too_many_edges", {"2"}));
}

TEST_CASE("3-D mesh design: meshes along cells hold every line beside stations, whatever the model",
          "[physics][mt]") {
  auto model = tests::small_volume();
  model.values.setConstant(100.0);
  const auto count_lines = [&](d3::Accuracy accuracy) {
    int count = 0;
    for (const auto& band :
         d3::design_meshes(model, tests::volume_survey(), d3::design_options(accuracy)).bands) {
      for (const mesh::Axis axis : mesh::all_axes) {
        const auto& cells = model.earth.grid.edges_m(axis);
        for (std::size_t line = 1; line + 1 < cells.size(); ++line)
          count += has_line(band.grid.lines_m(static_cast<int>(axis)), cells[line]) ? 1 : 0;
      }
    }
    return count;
  };
  const int all = 2 * 3 * 2;  // bands, axes, inner lines along each
  CHECK(count_lines(d3::Accuracy::iteration) == all);
  CHECK(count_lines(d3::Accuracy::standard) == 0);
  model.values[model.earth.grid.index(1, 1, 1)] = 20.0;
  CHECK(count_lines(d3::Accuracy::iteration) == all);
}

TEST_CASE("3-D mesh design: the limit of edges thins the lines along cells when nothing else is left",
          "[physics][mt]") {
  std::vector<double> lines;
  for (int i = -40; i <= 40; ++i) lines.push_back(100.0 * i);
  const auto model = mesh::resistivity_model(
      {mesh::TensorGrid(mesh::Edges{.x_m = lines, .y_m = lines, .z_m = {0, 300, 1000, 3000}})},
      Eigen::VectorXd::Constant(80 * 80 * 3, 100.0));
  auto options = d3::design_options(d3::Accuracy::iteration);
  const auto whole = d3::design_meshes(model, tests::volume_survey(), options).bands[0];
  const auto with_share = [&](double share) {
    options.max_edges = share * static_cast<double>(whole.grid.n_inner_edges());
    return d3::design_meshes(model, tests::volume_survey(), options).bands[0];
  };
  const auto relaxed = with_share(0.9), thinned = with_share(0.1);
  CHECK(whole.coarsened == 1.0);
  CHECK(thinned.coarsened > 1.0);
  CHECK(static_cast<double>(thinned.grid.n_inner_edges()) <= options.max_edges);
  const auto n_kept = [&](const d3::BandMesh& band) {
    return std::ranges::count_if(lines, [&](double line) { return has_line(band.grid.lines_m(0), line); });
  };
  CHECK(relaxed.coarsened > 1.1);
  CHECK(n_kept(relaxed) == n_kept(whole));
  CHECK(n_kept(thinned) >= 5);
  CHECK(n_kept(thinned) < n_kept(whole));
}

TEST_CASE("3-D mesh design: meshes of cells are the grid of the model at all frequencies", "[physics][mt]") {
  const auto model = tests::small_volume();
  auto options = d3::design_options(d3::Accuracy::iteration);
  options.only_cells = true;
  const auto meshes = d3::design_meshes(model, tests::volume_survey(), options);
  REQUIRE(meshes.bands.size() == 2);
  for (const auto& band : meshes.bands) {
    CHECK(band.is_linear);
    for (const mesh::Axis axis : mesh::all_axes) {
      const auto &cells = model.earth.grid.edges_m(axis), &lines = band.grid.lines_m(static_cast<int>(axis));
      const auto is_within = [&](double line) { return line >= cells.front() && line <= cells.back(); };
      std::vector<double> within;
      std::ranges::copy_if(lines, std::back_inserter(within), is_within);
      CHECK(within == cells);
      CHECK(lines.size() > cells.size());  // the grid ends far too near for these frequencies
    }
    const auto& z = band.grid.lines_m(2);
    CHECK(band.ground() == 12);
    CHECK(z.front() <= -0.99e6);
    for (int k = 2; k < 12; ++k)
      CHECK((z[k - 1] - z[k - 2]) / (z[k] - z[k - 1]) == Approx((z[1] - z[0]) / (z[2] - z[1])));
  }
  CHECK(d3::companions(meshes).bands[0].is_linear);
  options.only_cells = false;
  CHECK_FALSE(d3::design_meshes(model, tests::volume_survey(), options).bands[0].is_linear);
}

TEST_CASE("3-D mesh design: companions keep the lines of contacts", "[physics][mt]") {
  auto model = tests::small_volume();
  model.values.setConstant(100.0);
  model.values[model.earth.grid.index(1, 1, 1)] = 1.0;
  for (const auto& band : d3::companions(d3::design_meshes(model, tests::volume_survey())).bands) {
    for (const double x : {-600.0, 500.0}) CHECK(has_line(band.grid.lines_m(0), x));
    for (const double y : {-400.0, 700.0}) CHECK(has_line(band.grid.lines_m(1), y));
    for (const double z : {300.0, 1000.0}) CHECK(has_line(band.grid.lines_m(2), z));
  }
}

TEST_CASE("3-D mesh design: companions have every second line and keep the surface", "[physics][mt]") {
  const auto meshes =
      d3::design_meshes(tests::small_volume(), tests::volume_survey(), tests::coarse_design());
  const auto coarse = d3::companions(meshes);
  for (std::size_t i = 0; i < meshes.bands.size(); ++i) {
    const auto &fine_grid = meshes.bands[i].grid, &coarse_grid = coarse.bands[i].grid;
    CHECK(coarse_grid.lines_m(2)[coarse.bands[i].ground()] == 0.0);
    for (int axis = 0; axis < 3; ++axis) {
      CHECK(coarse_grid.n(axis) <= fine_grid.n(axis) / 2 + 1);
      CHECK(coarse_grid.lines_m(axis).front() == fine_grid.lines_m(axis).front());
      CHECK(coarse_grid.lines_m(axis).back() == fine_grid.lines_m(axis).back());
    }
  }
}

TEST_CASE("3-D mesh design: sections are refused by name", "[physics][mt]") {
  const auto section =
      mesh::resistivity_model({mesh::TensorGrid::section({0, 1}, {0, 1})}, Eigen::VectorXd::Ones(1));
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { (void)d3::design_meshes(section, tests::volume_survey()); }),
      HasId("no_volume", {"2"}));
}
