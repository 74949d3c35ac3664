// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "inversion/prior/regions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <numeric>

using namespace lodestone;
using inversion::prior::RegionOptions;
using inversion::prior::Regions;
using physics::mesh::Earth;
using physics::mesh::Edges;
using physics::mesh::TensorGrid;

namespace {

/// Returns a region of a decoder for these patches with a code for each cell.
RegionOptions region_of(const TensorGrid& patch) {
  const Eigen::Index n = patch.n_cells();
  auto decoder =
      inversion::prior::gaussian_decoder(Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Identity(n, n));
  return {.decoder = inversion::prior::with_card(std::move(decoder), {.patch = patch, .kind = "gaussian"}),
          .place = "c.toml:7"};
}

/// Returns single columns of two cells of 100 m.
const TensorGrid column(Edges{{}, {}, {0, 100, 200}});

Regions cut(const Earth& earth, const TensorGrid& patch = column) {
  std::vector<Eigen::Index> free_cells(static_cast<std::size_t>(earth.grid.n_cells()));
  std::iota(free_cells.begin(), free_cells.end(), 0);
  return {{.regions = {region_of(patch)}}, earth, std::move(free_cells)};
}

}  // namespace

TEST_CASE("regions of a learned prior: sections are cut, volumes and layers refused", "[inversion]") {
  const Earth section{TensorGrid::section({0, 50, 100, 150}, {0, 100, 200, 400})};
  CHECK(cut(section).regions().front().subdomains ==
        std::vector<std::vector<Eigen::Index>>{{0, 3}, {1, 4}, {2, 5}});
  const Earth volume{TensorGrid(Edges{{0, 50, 100}, {0, 50, 100, 150}, {0, 100, 200, 400}})},
      layers{TensorGrid(Edges{{}, {}, {0, 100, 200, 400}})};
  for (const Earth* earth : {&volume, &layers})
    CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(cut(*earth)); }),
               tests::HasId("not_a_section", {"inversion::Regions"}));
}

TEST_CASE("regions of a learned prior: patches of a volume are refused with their place", "[inversion]") {
  const Earth section{TensorGrid::section({0, 50, 100, 150}, {0, 100, 200, 400})};
  const TensorGrid block(Edges{{0, 50, 100}, {0, 50}, {0, 100, 200}});
  CHECK_THAT(tests::error_of<core::ConfigError>([&] { static_cast<void>(cut(section, block)); }),
             tests::HasId("region_other_patch", {"c.toml:7", "2 cells along x"}));
}
