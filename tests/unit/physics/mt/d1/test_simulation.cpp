// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_checks.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics;
using mt::Quantity;

namespace {

const std::vector<Quantity> all{Quantity::zxy_re,       Quantity::zxy_im,       Quantity::zyx_re,
                                Quantity::zyx_im,       Quantity::log10_rho_xy, Quantity::phase_xy,
                                Quantity::log10_rho_yx, Quantity::phase_yx};

}  // namespace

TEST_CASE(
    "sounding: over a half-space every quantity has its closed form, quantity by quantity and frequency by "
    "frequency") {
  const mt::d1::Simulation simulation({1000.0, 2000.0}, {10.0, 0.1}, all);
  REQUIRE(simulation.size_in() == 3);
  REQUIRE(simulation.size_out() == 16);
  const Eigen::VectorXd data = simulation.value(Eigen::VectorXd::Constant(3, 2.0));
  for (Eigen::Index f = 0; f < 2; ++f) {
    const double part = std::sqrt(mt::omega(f == 0 ? 10.0 : 0.1) * mt::mu0 * 100.0 / 2.0);
    for (const Eigen::Index quantity : {0, 1}) CHECK(data[2 * quantity + f] == Approx(part).epsilon(1e-12));
    for (const Eigen::Index quantity : {2, 3}) CHECK(data[2 * quantity + f] == Approx(-part).epsilon(1e-12));
    CHECK(data[8 + f] == Approx(2.0).epsilon(1e-12));
    CHECK(data[10 + f] == Approx(std::numbers::pi / 4).epsilon(1e-12));
    CHECK(data[12 + f] == Approx(2.0).epsilon(1e-12));
    CHECK(data[14 + f] == Approx(-3 * std::numbers::pi / 4).epsilon(1e-12));
  }
}

TEST_CASE("sounding: derivative and adjoint hold for resistivities and thicknesses") {
  const mt::d1::Simulation fixed({600.0, 1400.0, 4000.0}, {100.0, 1.0, 0.01}, all);
  const Eigen::VectorXd m = (Eigen::VectorXd(4) << 2.5, 3.1, 0.2, 2.0).finished();
  const mt::d1::Simulation free({600.0, 1400.0, 4000.0}, {100.0, 1.0, 0.01}, all,
                                mt::d1::Simulation::Thickness::free);
  const Eigen::VectorXd x = (Eigen::VectorXd(7) << 2.5, 3.1, 0.2, 2.0, 600.0, 1400.0, 4000.0).finished();
  for (const auto& [map, point] :
       {std::pair<const core::DifferentiableMap*, const Eigen::VectorXd*>{&fixed, &m}, {&free, &x}}) {
    const auto derivative = core::check_derivative(*map, *point);
    INFO(derivative.report);
    CHECK(derivative.passed);
    const auto adjoint = core::check_adjoint(*map, *point);
    INFO(adjoint.report);
    CHECK(adjoint.passed);
  }
}

TEST_CASE("sounding: what a layered earth cannot give is refused") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(mt::d1::Simulation({1.0}, {1.0}, {Quantity::tzy_re}), Contains("tipper"));
  CHECK_THROWS_WITH(mt::d1::Simulation({1.0}, {}, all), Contains("at least one frequency"));
  CHECK_THROWS_WITH(mt::d1::Simulation({1.0}, {1.0}, {}), Contains("one quantity"));
  CHECK_THROWS_WITH(mt::d1::Simulation({0.0}, {1.0}, all), Contains("positive layer thicknesses"));
  CHECK_THROWS_WITH(mt::d1::Simulation({1.0}, {-1.0}, all), Contains("positive frequencies"));
  CHECK_THROWS_AS(mt::d1::Simulation({1.0}, {1.0}, all).value(Eigen::VectorXd::Zero(3)), core::ShapeError);
}
