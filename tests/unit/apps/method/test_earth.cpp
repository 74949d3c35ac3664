// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/earth.hpp"
#include "apps/mt_invert/method/model_surface.hpp"
#include "apps/mt_invert/selftest/models.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/model/surface.hpp"
#include "physics/mt/site_depths.hpp"
#include "physics/mt/site_kinks.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::mt_invert;
namespace mt = physics::mt;

namespace {

/// Turns by 17, 48, 31 and 0.06 degrees.
physics::mesh::SurfaceLine kinked_hill() {
  return {{-1000.0, 0.0, 500.0, 10000.0}, {0.0, -300.0, 0.0, 10.0}};
}

/// The first, third and fourth at its kinks.
std::vector<mt::Station> sites_on_hill() {
  std::vector<mt::Station> stations;
  for (const double y_m : {-980.0, -979.0, 0.0, -10.0, 511.0, 10000.0}) {
    stations.emplace_back();
    stations.back().name = "s" + std::to_string(stations.size() - 1);
    stations.back().y_m = y_m;
  }
  return stations;
}

}  // namespace

TEST_CASE("sampling: a model on its own grid comes back, on another one it is read at the centres",
          "[apps]") {
  const auto block = selftest::benchmark_model("commemi2d1").section;
  CHECK((Eigen::pow(10.0, method::sampled_log10(block, block.earth.grid).array()).matrix() - block.values)
            .norm() < 1e-9);
  const physics::mesh::TensorGrid other =
      physics::mesh::TensorGrid::section({-100, 100, 800}, {0, 100, 600, 4000});
  const Eigen::VectorXd values = method::sampled_log10(block, other);
  CHECK(values[other.index(1, 0)] == Approx(std::log10(0.5)));
  CHECK(values[other.index(0, 0)] == Approx(2.0));
  CHECK(values[other.index(1, 1)] == Approx(std::log10(0.5)));  // centre at 450 m, in the block
}

TEST_CASE("benchmark models: sites within 2 % of a body's width from a contact are not judged", "[apps]") {
  const auto block = selftest::benchmark_model("commemi2d1");
  CHECK(block.is_at_contact(500.0));
  CHECK(block.is_at_contact(-519.0));
  CHECK_FALSE(block.is_at_contact(525.0));
  CHECK_THROWS_AS(selftest::benchmark_model("commemi9"), core::InvalidArgument);
}

TEST_CASE("surface file: y_m,z_m lines or two bare columns in order, errors with their line", "[apps]") {
  const tests::TemporaryFolder folder;
  const auto refusal = [&](const std::string& text) {
    core::write_file(folder / "s.csv", text);
    return tests::message_of<core::FormatError>(
        [&] { static_cast<void>(io::model::read_surface_file(folder / "s.csv")); });
  };
  core::write_file(folder / "hill.csv", "y_m,z_m\n-100,0\n0,-50\n\n100,0\n");
  CHECK(io::model::read_surface_file(folder / "hill.csv").z_at(-50.0) == Approx(-25.0));
  core::write_file(folder / "sea.prfl", "   0.0000000e+00   2.1900000e+03\n   1.0e+02   2.1880000e+03\n");
  CHECK(io::model::read_surface_file(folder / "sea.prfl").z_at(50.0) == Approx(2189.0));
  CHECK_THAT(refusal("0 1\n2\n"), Catch::Contains("s.csv:2"));
  CHECK_THAT(refusal("y,z\n0,0\n"), Catch::Contains("s.csv:1"));
  CHECK_THAT(refusal("y_m,z_m\n0,0\n0,1\n"), Catch::Contains("s.csv:3") && Catch::Contains("sort"));
  CHECK_THAT(refusal("y_m,z_m\n0,high\n"), Catch::Contains("s.csv:2"));
  CHECK_THAT(refusal("y_m,z_m\n"), Catch::Contains("got none"));
}

TEST_CASE("site depths: sites beside the surface are named with their distance, or moved onto it", "[apps]") {
  const physics::mesh::SurfaceLine slope({0.0, 1000.0}, {0.0, 100.0});
  std::vector<physics::mt::Station> stations(3);
  for (std::size_t i = 0; i < 3; ++i) {
    stations[i].name = std::string(1, static_cast<char>('a' + i));
    stations[i].y_m = 500.0 * static_cast<double>(i);
  }
  const auto check = [&](const std::array<double, 3>& z_m, physics::mt::OffSurface off_surface) {
    for (std::size_t i = 0; i < 3; ++i) stations[i].z_m = z_m[i];
    physics::mt::check_site_depths(stations, slope, off_surface, "set drape");
  };
  const double not_stated = physics::mt::not_given;
  CHECK_NOTHROW(check({not_stated, not_stated, not_stated}, physics::mt::OffSurface::refuse));
  CHECK_NOTHROW(check({0.9, not_stated, 99.1}, physics::mt::OffSurface::refuse));
  const auto message = tests::message_of<core::InvalidArgument>([&] {
    check({0.0, 30.0, 101.5}, physics::mt::OffSurface::refuse);
  });
  CHECK_THAT(message, Catch::Contains("b (20.0 m above), c (1.5 m below)") && Catch::Contains("set drape"));
  CHECK_NOTHROW(check({0.0, 30.0, 101.5}, physics::mt::OffSurface::drape));
  std::swap(stations[0], stations[2]);
  CHECK(physics::mt::surface_through(stations).z_at(750.0) == Approx(0.5 * (30.0 + 101.5)));
  stations[1].z_m = not_stated;
  CHECK_THAT(tests::message_of<core::InvalidArgument>([&] { (void)physics::mt::surface_through(stations); }),
             Catch::Contains("depth of station b"));
}

TEST_CASE("models of another surface or sea: what differs, where, and what becomes of the cells", "[apps]") {
  using physics::mesh::DepthReference;
  using physics::mesh::SurfaceLine;
  const physics::mesh::TensorGrid draped = physics::mesh::TensorGrid::section({-1000, 0, 1000}, {0, 500});
  const physics::mesh::TensorGrid on_datum =
      physics::mesh::TensorGrid::section({-1000, 1000}, {0, 500}, DepthReference::datum);
  const SurfaceLine hill({-500.0, 100.0, 500.0}, {0.0, -200.0, 0.0}),
      longer({-500.0, 100.0, 500.0, 900e3}, {0.0, -200.0, 0.5, 800.0});
  const std::optional<physics::mesh::Sea> none, sea{{0.0, 0.3}}, brackish{{0.0, 0.31}};
  const auto difference = [](const physics::mesh::Earth& model, const physics::mesh::Earth& ground) {
    const Eigen::VectorXd cells = Eigen::VectorXd::Ones(model.grid.n_cells());
    return method::difference_of_surfaces(physics::mesh::resistivity_model(model, cells), ground);
  };
  CHECK(difference({draped, hill}, {draped, hill, none}).empty());
  CHECK(difference({draped, longer}, {draped, hill, none}).empty());  // beyond the grid it may do as it likes
  CHECK_THAT(difference({draped, SurfaceLine()}, {draped, hill, none}),
             Catch::Contains(
                 "up to 200 m apart, at y = 100 m (z = 0 m there, -200 m here); its cells move up and down"));
  CHECK_THAT(difference({on_datum, hill}, {draped, SurfaceLine(-100.0), none}),
             Catch::Contains("stay at their z"));
  CHECK_THAT(difference({draped, hill, sea}, {draped, hill, none}),
             Catch::StartsWith("it has a sea of 0.3 ohm m up to z = 0 m, this run no sea"));
  CHECK_THAT(difference({draped, hill, sea}, {draped, hill, brackish}), Catch::Contains("0.31 ohm m"));
  CHECK(difference({draped, hill, sea}, {draped, hill, sea}).empty());
}

TEST_CASE("sites at kinks: those within 2 % of the shorter segment, of kinks sharper than 2 degrees",
          "[apps]") {
  const auto stations = sites_on_hill();
  const auto found = physics::mt::sites_at_kinks(stations, kinked_hill());
  REQUIRE(found.size() == 3);
  CHECK(std::vector{found[0].site, found[1].site, found[2].site} == std::vector<std::size_t>{0, 2, 3});
  CHECK(found[0].distance_m == Approx(20.0));
  CHECK(found[1].distance_m == 0.0);
  CHECK(found[1].angle_rad * mt::deg_per_rad == Approx(16.699 + 30.964).epsilon(1e-4));
  CHECK(physics::mt::sites_at_kinks(stations, physics::mesh::SurfaceLine(5.0)).empty());
}

TEST_CASE("sites at kinks: one warning names them with their distances, none where there are none",
          "[apps]") {
  const auto stations = sites_on_hill();
  const auto warned = [&](const std::vector<physics::mt::Station>& sites) {
    tests::Capture err(STDERR_FILENO);
    physics::mt::warn_of_sites_at_kinks(sites, kinked_hill(), "move them");
    return err.text();
  };
  CHECK_THAT(warned(stations), Catch::Contains("3 of 6 sites") &&
                                   Catch::Contains("s0 (20.0 m from a turn by 16.7° at y = -1000 m), s2") &&
                                   Catch::Contains("move them"));
  CHECK(warned({stations[1], stations[4], stations[5]}).empty());
  CHECK_THAT(warned(std::vector(13, stations[2])), Catch::Contains("and 3 more"));
}

TEST_CASE("profile files: COPROD2 and the marine line are read with their errors, masks and depths",
          "[apps]") {
  config::DataConfig coprod;
  coprod.mt2d_file = tests::source_path("data/coprod2/coprod2data.dat");
  coprod.selection.data = {physics::mt::Quantity::zxy_re, physics::mt::Quantity::zxy_im};
  coprod.selection.frequencies = physics::mt::FrequencyChoice::all;
  coprod.selection.floors = physics::mt::floor_rules({0.1, 0.0, 0.0, 0.0});
  const auto impedances = method::load_observations(coprod, config::ProfileConfig()).data;
  CHECK(impedances.survey.stations.size() == 20);
  const auto lowest = static_cast<Eigen::Index>(20 * (impedances.survey.frequencies_hz.size() - 1));
  CHECK(impedances.sigma[lowest] == Approx(6.692749e-05));  // above the floor
  config::DataConfig marine;
  marine.mare2dem_file = tests::source_path("data/mare2dem_demo/DemoSynthMT.emdata");
  marine.selection.data = {physics::mt::Quantity::log10_rho_xy, physics::mt::Quantity::phase_yx};
  config::ProfileConfig profile;
  CHECK_THAT(tests::message_of<core::InvalidArgument>(
                 [&] { static_cast<void>(method::load_observations(marine, profile)); }),
             Catch::Contains("1 (2172.1 m below)") && Catch::Contains("and 15 more") &&
                 Catch::Contains("profile.drape"));
  profile.elevation = config::Elevation::file;
  profile.surface_file = tests::source_path("data/mare2dem_demo/Topo.prfl");
  const auto line = method::load_observations(marine, profile);
  CHECK(line.data.n_kept() == 800);
  CHECK(line.surface.z_at(0.0) == 2190.0);
  config::ProfileConfig through_stations;
  through_stations.elevation = config::Elevation::stations;
  CHECK(method::load_observations(marine, through_stations).surface.z_at(1000.0) == Approx(2172.1));
}
