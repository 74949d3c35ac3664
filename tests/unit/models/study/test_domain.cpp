// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "io/model/read.hpp"
#include "models/earths/generator.hpp"
#include "models/earths/synthetic.hpp"
#include "models/study/domain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <set>

using namespace lodestone;
using namespace lodestone::models;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using physics::mesh::TensorGrid;
using tests::HasId;

namespace {

inversion::prior::DecoderPtr level(Index n_cells) {
  return inversion::prior::gaussian_decoder(VectorXd::Zero(n_cells), MatrixXd::Identity(n_cells, n_cells));
}

}  // namespace

TEST_CASE(
    "synthetic domain: the region of interest is 3 to 7 km along and 204 to 787 m deep, unknowns go on "
    "beyond 10 km",
    "[models]") {
  const study::Domain domain;
  const auto depth_m = domain.region_depths_m();
  CHECK(depth_m.size() == 33);
  CHECK(depth_m.front() == Approx(203.5).margin(1.0));
  CHECK(depth_m.back() == Approx(787.0).margin(2.0));
  CHECK(domain.region_cells().size() == 40 * 32);
  CHECK(domain.domain_cells().size() == 100 * 64);
  CHECK(domain.grid().z_edges_m().back() > 10e3);
  std::set<int> columns;
  for (const Index cell : domain.region_cells()) columns.insert(static_cast<int>(cell) % domain.grid().n_y());
  const study::Domain light(study::light_cells);
  CHECK(light.region_depths_m() == depth_m);
  CHECK(light.region_cells().size() == 20 * 32);
  CHECK(2 * light.grid().n_cells() < domain.grid().n_cells());
  CHECK(domain.grid().y_edges_m()[static_cast<std::size_t>(*columns.begin())] == Approx(3000.0));
  CHECK(domain.grid().y_edges_m()[static_cast<std::size_t>(*columns.rbegin()) + 1] == Approx(7000.0));
}

TEST_CASE("synthetic domain: a section on another grid becomes the mean of its log10 over each cell",
          "[models]") {
  const study::Domain domain;
  const TensorGrid coarse = TensorGrid::section({0.0, 4030.0, 10000.0}, {0.0, 300.0, 900.0});
  const VectorXd on_grid =
      domain.on_grid(physics::mesh::resistivity_model({coarse}, VectorXd{{10.0, 1000.0, 100.0, 100.0}}));
  const TensorGrid& grid = domain.grid();
  const auto at = [&](double y_m, double z_m) {
    return on_grid[grid.index(grid.row_of(z_m), grid.column_of(y_m))];
  };
  CHECK(at(2050.0, 2.0) == Approx(1.0));
  CHECK(at(-30000.0, 2.0) == Approx(1.0));  // the outermost columns and the bottom row go on
  CHECK(at(5050.0, 2.0) == Approx(3.0));
  CHECK(at(5050.0, 12000.0) == Approx(2.0));
  CHECK(at(4050.0, 2.0) == Approx(0.3 * 1.0 + 0.7 * 3.0));
  CHECK(domain.image_of_region(on_grid)(31, 0) == Approx(2.0));
}

TEST_CASE("synthetic domain: subdomains are the region's columns, or patches that overlap by half",
          "[models]") {
  const study::Domain domain;
  const auto columns =
      domain.subdomains(earths::patch_grid(domain.region_depths_m(), {0.0, 1000.0}), level(32));
  CHECK(columns.subdomains.size() == 40);
  std::vector<double> y_m;
  for (int i = 0; i <= 20; ++i) y_m.push_back(100.0 * i);
  const auto patches = domain.subdomains(earths::patch_grid(domain.region_depths_m(), y_m), level(640));
  CHECK(patches.subdomains.size() == 3);
  CHECK(patches.taper.minCoeff() > 0.0);
  const auto refusal = [&](const TensorGrid& grid, int n_cells) {
    return tests::error_of<core::InvalidArgument>([&] { (void)domain.subdomains(grid, level(n_cells)); });
  };
  CHECK_THAT(refusal(earths::patch_grid(domain.region_depths_m(), {0.0, 50.0, 100.0}), 64),
             HasId("other_columns", {"100 m"}));
  CHECK_THAT(refusal(earths::patch_grid({0.0, 10.0, 20.0}, {0.0, 1000.0}), 2),
             HasId("other_subdomains", {"32"}));
}

TEST_CASE("synthetic models: every family draws sections that can be read, of its resistivities",
          "[models]") {
  const tests::TemporaryFolder folder;
  const study::Domain domain;
  for (const earths::SyntheticFamily& family : earths::synthetic_families()) {
    for (int number = 0; number < 2; ++number) {
      const std::string text = earths::synthetic_model(family.name, number);
      const auto path = folder / "model.toml";
      core::write_file(path, text);
      const MatrixXd image = domain.image_of_region(domain.on_grid(io::model::read_model_toml(path)));
      INFO(family.name << " " << number);
      if (family.in_prior) {  // the prior's resistivities, and a body in the region
        CHECK(image.minCoeff() > 0.45);
        CHECK(image.maxCoeff() < 3.2);
        CHECK((image.minCoeff() < 1.2 || image.maxCoeff() > 2.85));
      } else {
        CHECK((image.minCoeff() < 0.7 && image.maxCoeff() > 3.2));
      }
    }
  }
}
