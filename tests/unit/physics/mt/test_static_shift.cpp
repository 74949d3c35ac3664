// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "physics/mt/static_shift.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;
using Catch::Matchers::Contains;

namespace {

Survey two_stations(const std::vector<Quantity>& quantities) {
  return full_survey({{"a", 0.0}, {"b", 100.0}}, {1.0, 10.0}, quantities);
}

core::MapPtr doubled(Eigen::Index size) {
  return core::pointwise(
      "double", size, [](double v) { return 2.0 * v; }, [](double) { return 2.0; });
}

}  // namespace

TEST_CASE(
    "static shift: adds to log10 apparent resistivity, scales the impedance by its root, leaves phase and "
    "tipper",
    "[physics][mt]") {
  const Survey survey =
      two_stations({Quantity::log10_rho_xy, Quantity::phase_xy, Quantity::zyx_im, Quantity::tzy_re});
  const auto keys = static_shift_keys(survey, {Mode::te, Mode::tm});
  REQUIRE(keys.size() == 4);
  CHECK(
      (keys[1].mode == Mode::te && keys[1].station == 1 && keys[2].mode == Mode::tm && keys[2].station == 0));
  const Eigen::VectorXd data = Eigen::VectorXd::LinSpaced(16, 1.0, 16.0),
                        shifts = Eigen::Vector4d(0.1, -0.2, 0.4, 0.0);
  const Eigen::VectorXd moved = shifted(data, survey, keys, shifts);
  for (std::size_t i = 0; i < 16; ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const bool first = survey.keys[i].station == 0;
    INFO("datum " << i);
    switch (survey.keys[i].quantity) {
      case Quantity::log10_rho_xy:
        CHECK(moved[k] == Approx(data[k] + (first ? 0.1 : -0.2)));
        break;
      case Quantity::zyx_im:
        CHECK(moved[k] == Approx(data[k] * (first ? std::pow(10.0, 0.2) : 1.0)));
        break;
      default:
        CHECK(moved[k] == data[k]);
    }
  }
}

TEST_CASE("static shift: a shifted impedance has the apparent resistivity 10^s times larger",
          "[physics][mt]") {
  const Survey survey = two_stations({Quantity::zxy_re, Quantity::zxy_im});
  const auto keys = static_shift_keys(survey, {Mode::te, Mode::tm});
  REQUIRE(keys.size() == 2);
  const Eigen::VectorXd data = Eigen::VectorXd::Constant(8, 3.0),
                        moved = shifted(data, survey, keys, Eigen::Vector2d(0.7, 0.0));
  CHECK(moved[0] * moved[0] + moved[4] * moved[4] == Approx(18.0 * std::pow(10.0, 0.7)));
}

TEST_CASE("static shift: stations with phases alone and modes not asked for have none", "[physics][mt]") {
  CHECK(
      static_shift_keys(two_stations({Quantity::phase_xy, Quantity::tzy_im}), {Mode::te, Mode::tm}).empty());
  CHECK(static_shift_keys(two_stations({Quantity::zxy_re, Quantity::log10_rho_yx}), {Mode::tm}).size() == 2);
}

TEST_CASE("static shift: the map hands the shifts themselves out below the data", "[physics][mt]") {
  const Survey survey = two_stations({Quantity::log10_rho_xy});
  const auto map = with_static_shifts(doubled(4), survey, static_shift_keys(survey, {Mode::te}));
  CHECK(map->size_in() == 6);
  CHECK(map->size_out() == 6);
  Eigen::VectorXd x(6);
  x << 1.0, 2.0, 3.0, 4.0, 0.5, -0.25;
  Eigen::VectorXd expected(6);
  expected << 2.5, 3.75, 6.5, 7.75, 0.5, -0.25;
  CHECK(map->value(x).isApprox(expected, 1e-14));
  CHECK_THROWS_WITH(with_static_shifts(doubled(3), survey, {}), Contains("survey's 4 data"));
  CHECK_THROWS_WITH(with_static_shifts(doubled(4), survey, {{Mode::te, 2}}), Contains("station below 2"));
}
