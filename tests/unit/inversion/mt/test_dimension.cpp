// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/mt/dimension.hpp"
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
  for (const int dimension : {1, 3}) {
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
