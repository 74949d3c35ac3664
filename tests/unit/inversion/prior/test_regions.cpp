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

std::vector<Eigen::Index> all_cells(const Earth& earth) {
  std::vector<Eigen::Index> cells(static_cast<std::size_t>(earth.grid.n_cells()));
  std::iota(cells.begin(), cells.end(), 0);
  return cells;
}

Regions cut(const Earth& earth, RegionOptions region) {
  return {{.regions = {std::move(region)}}, earth, all_cells(earth)};
}
Regions cut(const Earth& earth, const TensorGrid& patch = column) { return cut(earth, region_of(patch)); }

core::Error refusal(const Earth& earth, const RegionOptions& region) {
  return tests::error_of<core::Error>([&] { static_cast<void>(cut(earth, region)); });
}

Earth small_section() { return {TensorGrid::section({0, 50, 100, 150}, {0, 100, 200, 400})}; }
/// Returns 2 columns along x, 3 along y, 3 rows; cell (ix, iy, iz) is (3 iz + iy)·2 + ix.
Earth small_volume() { return {TensorGrid(Edges{{0, 50, 100}, {0, 50, 100, 150}, {0, 100, 200, 400}})}; }

using Subdomains = std::vector<std::vector<Eigen::Index>>;

const Subdomains& subdomains_of(const Regions& regions) { return regions.regions().front().subdomains; }

/// Returns the model in which every code is 1, where each decoder gives 1 in each cell.
Eigen::VectorXd ones(const Regions& regions) {
  const auto map = regions.map();
  return map->value(Eigen::VectorXd::Ones(map->size_in()));
}

}  // namespace

TEST_CASE("regions of a learned prior: sections and volumes are cut into columns, layers refused",
          "[inversion]") {
  CHECK(subdomains_of(cut(small_section())) == Subdomains{{0, 3}, {1, 4}, {2, 5}});
  CHECK(subdomains_of(cut(small_volume())) == Subdomains{{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 10}, {5, 11}});
  RegionOptions part = region_of(column);
  part.x_m = {40.0, 100.0};
  part.y_m = {60.0, 150.0};
  const Regions of_part = cut(small_volume(), part);
  CHECK(subdomains_of(of_part) == Subdomains{{3, 9}, {5, 11}});
  CHECK(of_part.map()->size_in() == 4 + 18 - 4);
  CHECK(of_part.numbers()[11] == 1.0);
  const Earth layers{TensorGrid(Edges{{}, {}, {0, 100, 200, 400}})};
  CHECK_THAT(refusal(layers, region_of(column)), tests::HasId("no_columns", {"layers"}));
}

TEST_CASE("regions of a learned prior: columns side by side share their codes", "[inversion]") {
  RegionOptions pairs = region_of(column);
  pairs.together = 2;
  pairs.y_m = {0.0, 100.0};
  const Regions square = cut(small_volume(), pairs);
  CHECK(subdomains_of(square) == Subdomains{{0, 1, 2, 3, 6, 7, 8, 9}});
  const Eigen::VectorXd model = square.map()->value(Eigen::VectorXd::LinSpaced(2 + 10, 1.0, 2.0));
  const auto at = [&](std::initializer_list<Eigen::Index> cells) {
    return Eigen::VectorXd(model(std::vector<Eigen::Index>(cells)));
  };
  CHECK(at({1, 2, 3}).isConstant(model[0]));
  CHECK(at({7, 8, 9}).isConstant(model[6]));
  CHECK(model[0] != model[6]);
  CHECK(square.map()
            ->encode(model, {.sigma_decades = 1e-6})
            .head(2)
            .isApprox(Eigen::Vector2d(1.0, 1.0 + 1.0 / 11.0), 1e-6));
  CHECK(subdomains_of(cut(small_section(), pairs)) == Subdomains{{0, 1, 3, 4}});
  pairs.y_m = {};
  CHECK_THAT(refusal(small_volume(), pairs),
             tests::HasId("region_wrong_columns", {"c.toml:7", "multiple of 2", "y_m", "got 3"}));
  RegionOptions patches = region_of(TensorGrid::section({0, 50, 100}, {0, 100, 200}));
  patches.together = 2;
  CHECK_THAT(refusal(small_volume(), patches), tests::HasId("region_patches_together", {"c.toml:7"}));
}

TEST_CASE("regions of a learned prior: patches of a section stand along either axis of a volume",
          "[inversion]") {
  RegionOptions patches = region_of(TensorGrid::section({0, 50, 100}, {0, 100, 200}));
  patches.overlap = 1;
  const Regions along_y = cut(small_volume(), patches);
  CHECK(subdomains_of(along_y) == Subdomains{{0, 2, 6, 8}, {1, 3, 7, 9}, {2, 4, 8, 10}, {3, 5, 9, 11}});
  CHECK(ones(along_y).isOnes(1e-12));  // shares of what overlaps sum to one
  patches.along = inversion::prior::Along::x;
  CHECK(subdomains_of(cut(small_volume(), patches)) ==
        Subdomains{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}});
  CHECK_THAT(refusal(small_section(), patches), tests::HasId("region_along_x", {"c.toml:7", "--dim 3"}));
  RegionOptions columns = region_of(column);
  columns.along = inversion::prior::Along::x;
  CHECK_THAT(refusal(small_volume(), columns), tests::HasId("region_along_x", {"patches of a section"}));
}

TEST_CASE("regions of a learned prior: patches of a volume overlap along both axes and are blended",
          "[inversion]") {
  RegionOptions blocks = region_of(TensorGrid(Edges{{0, 50, 100}, {0, 50, 100}, {0, 100, 200}}));
  blocks.overlap = 1;
  const Regions regions = cut(small_volume(), blocks);
  CHECK(subdomains_of(regions) == Subdomains{{0, 1, 2, 3, 6, 7, 8, 9}, {2, 3, 4, 5, 8, 9, 10, 11}});
  CHECK(ones(regions).isOnes(1e-12));
  CHECK(ones(cut(small_volume(), region_of(column))).isOnes(1e-12));
  const Earth wide{TensorGrid(Edges{{0, 50, 100, 150}, {0, 50, 100, 150}, {0, 100, 200, 400}})};
  CHECK(subdomains_of(cut(wide, blocks)).size() == 4);
  CHECK(ones(cut(wide, blocks)).isOnes(1e-12));
  CHECK(cut(wide, blocks).regions().front().taper.isConstant(0.25));
  const Earth other{TensorGrid(Edges{{0, 50, 110}, {0, 50, 100, 150}, {0, 100, 200, 400}})};
  CHECK_THAT(refusal(other, blocks), tests::HasId("region_other_patch", {"c.toml:7", "edges along x"}));
  CHECK_THAT(refusal(small_section(), blocks),
             tests::HasId("region_other_patch", {"c.toml:7", "2 cells along x", "--dim 3"}));
}

TEST_CASE("regions of a learned prior: in a volume subdomains with held cells are left out", "[inversion]") {
  std::vector<Eigen::Index> free = all_cells(small_volume());
  std::erase(free, 9);
  const Regions regions({.regions = {region_of(column)}}, small_volume(), free);
  CHECK(subdomains_of(regions) == Subdomains{{0, 6}, {1, 7}, {2, 8}, {4, 10}, {5, 11}});
  CHECK(regions.regions().front().n_left_out == 1);
  CHECK(regions.numbers()[3] == -1.0);
  CHECK(regions.map()->size_out() == 17);
  const std::vector<Eigen::Index> deep{12, 13, 14, 15, 16, 17};
  CHECK_THAT(tests::error_of<core::ConfigError>(
                 [&] { const Regions none({.regions = {region_of(column)}}, small_volume(), deep); }),
             tests::HasId("region_holds_fixed_cells", {"c.toml:7", "got 12"}));
}

TEST_CASE("regions of a learned prior: keys of a volume are refused in a section", "[inversion]") {
  RegionOptions region = region_of(column);
  region.x_m = {0.0, 100.0};
  CHECK_THAT(refusal(small_section(), region), tests::HasId("region_needs_volume", {"c.toml:7", "x_m"}));
  region.x_m = {0.0, 1000.0};
  CHECK_THAT(refusal(small_volume(), region), tests::HasId("region_outside_grid", {"x_m", "1000"}));
}
