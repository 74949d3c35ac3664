// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/info/info.hpp"
#include "io/mare2dem/model.hpp"
#include "io/model/read.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

namespace {

/// A sea 100 m deep left of y = 0, a beach down to it, and a box at 1000 m depth within the ground.
struct Files {
  std::string table =
      "Format: mare2dem_1.1 ! input\nModel File: m.poly ! beside it\nPenalty File: m.penalty\n"
      "Anisotropy: isotropic\nNumber of regions: 4\n!# Rho Param Lower Upper Prej Weight\n"
      "1 1e13 0 0 0 0 0\n2 0.3 0 0 0 0 0\n3 100 1 0 0 0 0\n4 5 2 0 0 0 0\n";
  std::string poly =
      "14 2 0 0\n1 -9000 -9000\n2 9000 -9000\n3 9000 0\n4 0 0\n5 -9000 0\n6 -500 100\n7 -9000 100\n"
      "8 -9000 9000\n9 9000 9000\n10 -1000 1000\n11 1000 1000\n12 2000 2000\n13 -1000 2000\n14 9000 -50\n"
      "15 0\n"
      "1 1 2\n2 2 14\n3 14 4\n4 4 5\n5 5 1\n6 4 6\n7 6 7\n8 7 5\n9 7 8\n10 8 9\n11 9 14\n"
      "12 10 11\n13 11 12\n14 12 13\n15 13 10\n0\n"
      "4\n1 0 -5000 1 -1\n2 -5000 50 2 -1\n3 5000 5000 3 -1\n4 0 1500 4 -1\n";
  [[nodiscard]] std::string write(const TemporaryFolder& folder) const {
    write_text(folder, "m.poly", poly);
    return write_text(folder, "m.resistivity", table);
  }
};

core::Error refusal(const Files& files) {
  const TemporaryFolder folder;
  return error_of<core::FormatError>([&] { static_cast<void>(mare2dem::read_model(files.write(folder))); });
}

}  // namespace

TEST_CASE("MARE2DEM model: regions become cells under a surface and a sea", "[mare2dem]") {
  Files files;
  files.poly = replaced(files.poly, "3 9000 0\n", "3 9000 -51\n");
  const TemporaryFolder folder;
  const std::string path = files.write(folder);
  const auto file = mare2dem::read_model_file(path);
  CHECK(file.n_regions == 4);
  CHECK(file.n_free == 2);
  CHECK(file.n_air == 1);
  CHECK(file.n_sea == 1);
  const auto& earth = file.model.earth;
  REQUIRE(earth.sea);
  CHECK(earth.sea->level_m == 0.0);
  CHECK(earth.sea->resistivity_ohm_m == 0.3);
  CHECK(earth.surface.y_m() == std::vector<double>{-9000.0, -500.0, 0.0, 9000.0});
  CHECK(earth.surface.profile().z_m() == std::vector<double>{100.0, 100.0, 0.0, -50.0});
  const auto at = [&](double y_m, double z_m) {
    return file.model.values[earth.grid.nearest({0.0, y_m, z_m})];
  };
  CHECK(at(0.0, 1500.0) == Approx(5.0));
  CHECK(at(-1500.0, 1500.0) == Approx(100.0));
  CHECK(at(500.0, 990.0) == Approx(100.0));
  CHECK(at(500.0, 1010.0) == Approx(5.0));
  CHECK(at(1990.0, 1050.0) == Approx(100.0));
  CHECK(at(1100.0, 1950.0) == Approx(5.0));
  CHECK(info::describe_file(path).format == "MARE2DEM model");
  double area = 0.0;  // of the box by conductance: half of a trapezium of 2000 and 3000 m
  for (int iz = 0; iz < earth.grid.n_z(); ++iz)
    for (int iy = 0; iy < earth.grid.n_y(); ++iy)
      area += (1.0 / file.model.values[earth.grid.index(iz, iy)] - 0.01) / 0.19 *
              earth.grid.width_m(physics::mesh::Axis::y, iy) * earth.grid.width_m(physics::mesh::Axis::z, iz);
  CHECK(area == Approx(2.5e6).epsilon(2e-3));
}

TEST_CASE("MARE2DEM model: the demo has its sea, its floor and the resistivities of its regions",
          "[mare2dem]") {
  const auto model = model::read_model(source_path("data/mare2dem_demo/Demo.0.resistivity"));
  const auto truth = model::read_model(source_path("data/mare2dem_demo/true_model.toml"));
  REQUIRE(model.earth.sea);
  CHECK(model.earth.sea->resistivity_ohm_m == 0.3);
  for (const double y_m : {0.0, 5000.0, 12000.0, 19000.0})
    CHECK(model.earth.surface.z_at(0.0, y_m) == Approx(truth.earth.surface.z_at(0.0, y_m)).margin(0.01));
  int n_far = 0, n = 0;
  for (double y_m = -20e3; y_m < 40e3; y_m += 311.0)
    for (double z_m = 2300.0; z_m < 40e3; z_m *= 1.07) {
      const double got = model.values[model.earth.grid.nearest({0.0, y_m, z_m})],
                   expected = truth.values[truth.earth.grid.nearest({0.0, y_m, z_m})];
      ++n;
      if (std::abs(got / expected - 1.0) > 1e-6) ++n_far;  // cells that an edge cuts
    }
  CHECK(n > 5000);
  CHECK(n_far < 0.05 * n);
  CHECK(model.earth.grid.n_cells() < 200'000);
}

TEST_CASE("MARE2DEM model: broken files are refused with their line", "[mare2dem]") {
  const auto with_table = [](const std::string& from, const std::string& to) {
    Files files;
    files.table = replaced(files.table, from, to);
    return refusal(files);
  };
  const auto with_poly = [](const std::string& from, const std::string& to) {
    Files files;
    files.poly = replaced(files.poly, from, to);
    return refusal(files);
  };
  CHECK_THAT(with_table("isotropic", "triaxial"), HasId("anisotropy", {"m.resistivity:4", "triaxial"}));
  CHECK_THAT(with_table("Number of regions: 4", "Number of regions: 5"),
             HasId("cut_off", {"m.resistivity:10"}));
  CHECK_THAT(with_table("Model File: m.poly ! beside it\n", ""), HasId("no_entry", {}));
  CHECK_THAT(with_table("\n4 5 2", "\n4 -5 2"),
             HasId("resistivity_out_of_range", {"m.resistivity:10", "-5"}));
  CHECK_THAT(with_table("\n3 100", "\n7 100"), HasId("wrong_region", {"m.resistivity:9", "3"}));
  CHECK_THAT(with_poly("\n15 13 10", "\n15 13 99"), HasId("not_in_range", {"m.poly:31"}));
  CHECK_THAT(with_poly("1500 4 -1", "1500 9 -1"), HasId("unknown_region", {"4", "9"}));
  CHECK_THAT(with_poly("4 0 1500 4", "4 0 5000 4"), HasId("region_twice", {"5000", "4"}));
}
