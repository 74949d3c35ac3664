// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/mt/soundings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using physics::mesh::TensorGrid;

TEST_CASE(
    "soundings: sections are linear between stations, constant beyond, and count depth from the surface on "
    "any grid",
    "[inversion]") {
  std::vector<inversion::mt::SoundingModel> models{
      {.station = 1, .log10_resistivity = Eigen::Vector2d(1.0, 2.0)},
      {.station = 0, .log10_resistivity = Eigen::Vector2d(3.0, 2.0)}};
  const TensorGrid grid = TensorGrid::section({0, 100, 200, 300}, {0, 100, 300});
  const std::vector<physics::mt::Station> stations{{"a", 50.0}, {"b", 250.0}};
  const Eigen::VectorXd section =
      inversion::mt::stitched(models, stations, grid, physics::mesh::SurfaceLine());
  CHECK(section[0] == Approx(3.0));
  CHECK(section[1] == Approx(2.0));
  CHECK(section[2] == Approx(1.0));
  CHECK(section[4] == Approx(2.0));
  const TensorGrid datum =
      TensorGrid::section({0, 100, 200, 300}, {0, 100, 300}, physics::mesh::DepthReference::datum);
  CHECK(inversion::mt::stitched(models, stations, datum, physics::mesh::SurfaceLine(-150.0))[0] ==
        Approx(2.0));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(inversion::mt::stitched(models, stations, TensorGrid::layers(1.0, 1.0, 2),
                                                         physics::mesh::SurfaceLine()));
             }),
             tests::HasId("no_columns"));
}

TEST_CASE("soundings: volumes weigh stations by the inverse square of their distance", "[inversion]") {
  const std::vector<inversion::mt::SoundingModel> models{
      {.station = 0, .log10_resistivity = Eigen::Vector2d(3.0, 2.0)},
      {.station = 1, .log10_resistivity = Eigen::Vector2d(1.0, 2.0)}};
  std::vector<physics::mt::Station> stations{{"a", 50.0}, {"b", 50.0}};
  stations[0].x_m = 50.0;
  stations[1].x_m = 350.0;
  const TensorGrid volume(physics::mesh::Edges{{0, 100, 200, 300}, {0, 100}, {0, 100, 300}});
  const Eigen::VectorXd model = inversion::mt::stitched(models, stations, volume, physics::mesh::Surface());
  CHECK(model[volume.index(0, 0, 0)] == 3.0);  // at station a itself
  CHECK(model[volume.index(0, 0, 1)] == Approx((3.0 / 1e4 + 1.0 / 4e4) / (1.0 / 1e4 + 1.0 / 4e4)));
  CHECK(model[volume.index(0, 0, 2)] == Approx((3.0 / 4e4 + 1.0 / 1e4) / (1.0 / 1e4 + 1.0 / 4e4)));
  CHECK(model[volume.index(1, 0, 1)] == Approx(2.0));
}

namespace {

/// Returns apparent resistivities of half-spaces at two stations, 100 ohm m in TE and `tm_log10_rho` in TM.
physics::mt::Observations half_spaces(const std::vector<physics::mt::Datum>& quantities,
                                      double tm_log10_rho) {
  physics::mt::Observations data;
  data.survey = physics::mt::full_survey({{"a", 50.0}, {"b", 250.0}}, {100.0, 10.0, 1.0, 0.1}, quantities);
  const auto n = static_cast<Eigen::Index>(data.survey.keys.size());
  data.value.resize(n);
  for (Eigen::Index i = 0; i < n; ++i)
    data.value[i] = data.survey.keys[static_cast<std::size_t>(i)].quantity == physics::mt::Datum::log10_rho_xy
                        ? 2.0
                        : tm_log10_rho;
  data.sigma = Eigen::VectorXd::Constant(n, 0.01);
  data.reason.assign(static_cast<std::size_t>(n), physics::mt::MaskReason::kept);
  data.interpolated.assign(static_cast<std::size_t>(n), 0);
  return data;
}

const physics::mesh::Earth earth_of_soundings{
    TensorGrid::section({0, 100, 200, 300}, {0, 100, 300, 1000, 3000, 10000})};

}  // namespace

TEST_CASE("soundings: a likely section leans to one mode and the other where they differ", "[inversion]") {
  using physics::mt::Datum;
  const auto both = inversion::mt::likely_section(
      {}, half_spaces({Datum::log10_rho_xy, Datum::log10_rho_yx}, 3.0), earth_of_soundings);
  REQUIRE(both);
  const double even = (*both)[0], odd = (*both)[1];
  CHECK(even > 2.6);
  CHECK(odd < 2.4);
  CHECK(even + odd == Approx(5.0).epsilon(0.02));
  const auto te =
      inversion::mt::likely_section({}, half_spaces({Datum::log10_rho_xy}, 3.0), earth_of_soundings);
  REQUIRE(te);
  CHECK((*te)[0] == Approx(2.0).epsilon(0.02));
  CHECK((*te)[1] == Approx((*te)[0]));
  CHECK_FALSE(inversion::mt::likely_section({}, half_spaces({Datum::tzy_re}, 3.0), earth_of_soundings));
}
