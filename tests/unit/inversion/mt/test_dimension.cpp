// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/mt/dimension.hpp"
#include "inversion/mt/forward.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <functional>
#include <string>
#include <vector>

using namespace lodestone;
using namespace lodestone::inversion;
using physics::mesh::Edges;
using physics::mesh::TensorGrid;
using tests::error_of;
using tests::HasId;

TEST_CASE("recipe: dimensions without a simulation for inversions are refused by frame, cells and maps",
          "[inversion]") {
  for (const int dimension : {1, 4}) {
    const mt::ProblemOptions options{.dimension = dimension};
    const std::vector<std::function<void()>> choices{
        [&] { static_cast<void>(mt::problem(MPI_COMM_SELF, {}, options)); },
        [&] { static_cast<void>(mt::place_of({}, options)); },
        [&] { static_cast<void>(mt::grid_of({}, options)); },
        [&] {
          static_cast<void>(
              mt::forward_of(MPI_COMM_SELF, {TensorGrid::layers(1.0, 1.0, 2)}, {}, {}, options));
        }};
    for (const auto& choice : choices)
      CHECK_THAT(error_of<core::InvalidArgument>(choice),
                 HasId("no_simulation", {std::to_string(dimension)}));
  }
}

TEST_CASE("recipe: given cells must have as many axes as the problem", "[inversion]") {
  for (const TensorGrid& cells : {TensorGrid::layers(1.0, 1.0, 2), TensorGrid(Edges{{0, 1}, {0, 1}, {0, 1}})})
    CHECK_THAT(error_of<core::InvalidArgument>(
                   [&] { static_cast<void>(mt::grid_of({}, {.dimension = 2, .cells = cells})); }),
               HasId("other_dimension", {std::to_string(cells.dimension())}));
}

namespace {

/// Returns impedances of 100 ohm m at four sites on a map, one period.
physics::mt::Observations on_map() {
  using physics::mt::datum;
  physics::mt::Observations data;
  std::vector<physics::mt::Station> stations(4);
  for (std::size_t i = 0; i < 4; ++i) {
    stations[i].name = std::string(1, static_cast<char>('a' + i));
    stations[i].x_m = i < 2 ? -1000.0 : 1000.0;
    stations[i].y_m = i % 2 == 0 ? -1000.0 : 1000.0;
  }
  data.profile = physics::mt::map_along({-1e3, -1e3, 1e3, 1e3}, {-1e3, 1e3, -1e3, 1e3}, 0.0);
  data.survey = physics::mt::full_survey(std::move(stations), {0.1},
                                         {datum("log10_rho_xy"), datum("phase_xy"), datum("zyy_re")});
  const auto n = std::ssize(data.survey.keys);
  data.value = Eigen::VectorXd::Constant(n, 2.0);
  data.sigma = data.sigma_measured = Eigen::VectorXd::Constant(n, 0.05);
  data.reason.assign(static_cast<std::size_t>(n), physics::mt::MaskReason::kept);
  data.interpolated.assign(static_cast<std::size_t>(n), 0);
  data.absent.assign(static_cast<std::size_t>(n), 0);
  return data;
}

}  // namespace

TEST_CASE("recipe: a volume takes data on a map, with all elements", "[inversion]") {
  const physics::mt::Observations data = on_map();
  const Problem problem = mt::problem(MPI_COMM_SELF, data,
                                      {.dimension = 3,
                                       .forward = {.iteration = physics::mt::Accuracy::iteration,
                                                   .final_accuracy = physics::mt::Accuracy::iteration}});
  CHECK(problem.earth.grid.dimension() == 3);
  CHECK(problem.data.n_used() == data.value.size());
  CHECK(problem.sites.numbers("x_m") == std::vector<double>{-1e3, -1e3, 1e3, 1e3});
  CHECK(problem.forward.takes == physics::mesh::Scale::linear);
  CHECK(problem.forward.certificate);
}

TEST_CASE("recipe: a volume refuses profiles, data in other axes than the map's, and lines between stations",
          "[inversion]") {
  physics::mt::Observations data = on_map();
  const auto refused = [&](const mt::ProblemOptions& options = {.dimension = 3}) {
    return error_of<core::InvalidArgument>([&] { static_cast<void>(mt::place_of(data, options)); });
  };
  CHECK_THAT(refused({.dimension = 3, .ground = {.elevation = physics::mt::Elevation::stations}}),
             HasId("surface_through_map", {"flat_mean", "stations", "profile.surface_file"}));
  data.azimuth_deg = 30.0;
  CHECK_THAT(refused(), HasId("other_axes", {"0.00", "30.00", "strike"}));
  data.profile.is_map = false;
  CHECK_THAT(refused(), HasId("no_map"));
}

TEST_CASE("recipe: the iterations of a volume may run on its grid, those of a section may not",
          "[inversion]") {
  const physics::mesh::Earth earth{physics::mesh::TensorGrid(physics::mesh::Edges{
      .x_m = {-2e3, -1e3, 0, 1e3, 2e3}, .y_m = {-2e3, -1e3, 0, 1e3, 2e3}, .z_m = {0, 500, 1000, 2000}})};
  mt::ForwardOptions options{.iteration_meshes = mt::IterationMeshes::cells};
  const mt::Simulations<mt::Volumes> volumes(MPI_COMM_SELF, earth, options);
  CHECK(volumes.design_of_iterations().only_cells);
  CHECK_FALSE(volumes.design_of_results().only_cells);
  const auto refused = [&] {
    return error_of<core::InvalidArgument>(
        [&] { mt::Simulations<mt::Volumes>(MPI_COMM_SELF, earth, options); });
  };
  options.iteration_coarsen = 2.0;
  CHECK_THAT(refused(), HasId("meshes_of_cells", {"iteration_coarsen"}));
  options = {.iteration = physics::mt::Accuracy::standard, .iteration_meshes = mt::IterationMeshes::cells};
  CHECK_THAT(refused(), HasId("meshes_of_cells", {"iteration_accuracy"}));
  options = {.iteration_meshes = mt::IterationMeshes::cells};
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { mt::Simulations<mt::Sections>(MPI_COMM_SELF, earth, options); }),
      HasId("meshes_of_cells", {"--dim 3"}));
}

TEST_CASE("recipe: no refinement of a volume may be asked for as it is of a section, some may not",
          "[inversion]") {
  const physics::mesh::Earth earth{physics::mesh::TensorGrid(
      physics::mesh::Edges{.x_m = {-2e3, 0, 2e3}, .y_m = {-2e3, 0, 2e3}, .z_m = {0, 1000, 2000}})};
  CHECK_NOTHROW(mt::Simulations<mt::Volumes>(MPI_COMM_SELF, earth, {.max_nodes = 0}));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { mt::Simulations<mt::Volumes>(MPI_COMM_SELF, earth, {.max_nodes = 5000}); }),
             HasId("max_nodes_of_volume", {"5000", "set it to 0", "--dim 3"}));
}

TEST_CASE("recipe: matrices are further unknowns of a volume, as many as its impedances mix", "[inversion]") {
  const mt::ProblemOptions options{.dimension = 3,
                                   .distortion = mt::DistortionMatrixOptions{.sigma = 0.3},
                                   .forward = {.iteration = physics::mt::Accuracy::iteration,
                                               .final_accuracy = physics::mt::Accuracy::iteration}};
  physics::mt::Observations data = on_map();
  for (physics::mt::DatumKey& key : data.survey.keys)
    if (key.quantity == physics::mt::datum("zyy_re")) key.quantity = physics::mt::Datum::zyx_re;
  const Problem problem = mt::problem(MPI_COMM_SELF, data, options);
  CHECK((problem.further.n == 16 && problem.further.sigma == 0.3));
  const core::MapPtr cells = problem.forward.iterations.design(problem.start);
  const core::MapPtr map = problem.forward.iterations.with_further(cells);
  CHECK(cells->size_out() == 2 * 16);  // Zxy and Zyx of a period at four sites, Zyy and Zxx mixed in
  CHECK((map->size_in() == cells->size_in() + 16 && map->size_out() == problem.data.n_used() + 16));
}

TEST_CASE("recipe: sections, and data that no matrix changes, are refused matrices", "[inversion]") {
  const auto refused = [](const std::vector<physics::mt::Datum>& data, int dimension) {
    const auto survey = physics::mt::full_survey({{"a", 0.0}}, {1.0}, data);
    return error_of<core::InvalidArgument>(
        [&] { static_cast<void>(mt::distortion_of(mt::DistortionMatrixOptions{}, survey, dimension)); });
  };
  CHECK_THAT(refused({physics::mt::Datum::zxy_re}, 2), HasId("distortion_of_section", {"2", "--dim 3"}));
  CHECK_THAT(refused({physics::mt::datum("phase_tensor_xx"), physics::mt::Datum::tzy_re}, 3),
             HasId("nothing_distorted", {"full_impedance"}));
}

TEST_CASE("recipe: a volume stands under a map of depths, with its sites on it", "[inversion]") {
  using physics::mt::Elevation;
  physics::mt::Observations data = on_map();
  Eigen::MatrixXd z(2, 2);
  z << -100.0, -300.0, 0.0, -200.0;
  mt::ProblemOptions options{.dimension = 3,
                             .ground = {.elevation = Elevation::file,
                                        .surface = physics::mesh::Surface({-1e3, 1e3}, {-1e3, 1e3}, z)},
                             .forward = {.iteration = physics::mt::Accuracy::iteration,
                                         .final_accuracy = physics::mt::Accuracy::iteration}};
  CHECK(mt::problem(MPI_COMM_SELF, data, options).earth.surface.z_at(0.0, 0.0) == Approx(-150.0));
  data.survey.stations[1].z_m = -300.0;  // on the surface
  data.survey.stations[2].z_m = -70.0;   // 70 m above it
  const auto message =
      error_of<core::InvalidArgument>([&] { static_cast<void>(mt::place_of(data, options)); });
  CHECK_THAT(message, HasId("sites_off_surface", {"c (70.0 m above)", "profile.drape = true"}));
  CHECK(std::string_view(message.what()).find("elevation = \"stations\"") == std::string_view::npos);
  options.ground.off_surface = physics::mt::OffSurface::drape;
  CHECK(mt::place_of(data, options).ground.surface.is_map());
  options.dimension = 2;
  data.profile.is_map = false;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(mt::place_of(data, options)); }),
             HasId("is_a_map"));
  options.ground = {};
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(mt::place_of(data, options)); }),
             HasId("sites_off_surface", {"profile.elevation = \"stations\"", "[sea]"}));
}
