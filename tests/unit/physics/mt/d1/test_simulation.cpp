// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_checks.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics;
using mt::Datum;

namespace {

const std::vector<Datum> all{Datum::zxy_re,       Datum::zxy_im,   Datum::zyx_re,       Datum::zyx_im,
                             Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx};

mt::Survey sounding_of(const std::vector<Datum>& quantities, std::vector<double> frequencies_hz) {
  return mt::full_survey({{"a"}}, std::move(frequencies_hz), quantities);
}

}  // namespace

TEST_CASE(
    "sounding: over a half-space every quantity has its closed form, quantity by quantity and frequency by "
    "frequency") {
  const auto map = mt::d1::data_map({1000.0, 2000.0}, sounding_of(all, {10.0, 0.1}));
  REQUIRE(map->size_in() == 3);
  REQUIRE(map->size_out() == 16);
  const Eigen::VectorXd data = map->value(Eigen::VectorXd::Constant(3, 2.0));
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
  const mt::Survey survey = sounding_of(all, {100.0, 1.0, 0.01});
  const auto fixed = mt::d1::data_map({600.0, 1400.0, 4000.0}, survey);
  const Eigen::VectorXd m = (Eigen::VectorXd(4) << 2.5, 3.1, 0.2, 2.0).finished();
  const auto free = mt::d1::data_map({600.0, 1400.0, 4000.0}, survey, mt::d1::Simulation::Thickness::free);
  const Eigen::VectorXd x = (Eigen::VectorXd(7) << 2.5, 3.1, 0.2, 2.0, 600.0, 1400.0, 4000.0).finished();
  for (const auto& [map, point] :
       {std::pair<const core::DifferentiableMap*, const Eigen::VectorXd*>{fixed.get(), &m},
        {free.get(), &x}}) {
    const auto derivative = core::check_derivative(*map, *point);
    INFO(derivative.report);
    CHECK(derivative.passed);
    const auto adjoint = core::check_adjoint(*map, *point);
    INFO(adjoint.report);
    CHECK(adjoint.passed);
  }
}

TEST_CASE("sounding: the determinant of a layered earth is that of its one impedance") {
  const std::vector<double> frequencies{100.0, 1.0, 0.01};
  const Eigen::Vector3d m(2.5, 0.3, 1.8);
  const auto data_of = [&](const std::vector<mt::Datum>& quantities) {
    return mt::d1::data_map({600.0, 1400.0}, sounding_of(quantities, frequencies))->value(m);
  };
  const std::vector effective{mt::datum("log10_rho_det"), mt::datum("phase_det")};
  const Eigen::VectorXd expected = data_of({mt::Datum::log10_rho_xy, mt::Datum::phase_xy});
  CHECK((data_of(effective) - expected).norm() < 1e-13);
  const mt::d1::LayeredEarth earth{{std::pow(10.0, m[0]), std::pow(10.0, m[1]), std::pow(10.0, m[2])},
                                   {600.0, 1400.0}};
  CHECK((mt::d1::layered_data(earth, sounding_of(effective, frequencies)) - expected).norm() < 1e-13);
}

TEST_CASE("sounding: responses come in the order of the layout, whichever the station") {
  const mt::ResponseLayout layout(
      {{mt::Element::zyx, 0, 3}, {mt::Element::zxy, 1, 3}, {mt::Element::zxy, 0, 3}});
  const mt::d1::Simulation simulation({1000.0}, layout, {10.0, 0.1});
  const Eigen::VectorXd z = simulation.value(Eigen::Vector2d(2.0, 2.0));
  REQUIRE(z.size() == 6);
  const double part = std::sqrt(mt::omega(10.0) * mt::mu0 * 100.0 / 2.0);
  for (const Eigen::Index i : {0, 1}) CHECK(z[i] == Approx(part));
  for (const Eigen::Index i : {2, 3}) CHECK(z[i] == Approx(0.1 * part));
  for (const Eigen::Index i : {4, 5}) CHECK(z[i] == Approx(-part));
}

TEST_CASE("sounding: what a layered earth cannot give is refused") {
  using tests::HasId;
  const auto refusal = [](std::vector<double> thickness_m, std::vector<mt::ResponseKey> keys,
                          std::vector<double> frequencies_hz) {
    return tests::error_of<core::Error>(
        [&] { (void)mt::d1::Simulation(thickness_m, mt::ResponseLayout(keys), frequencies_hz); });
  };
  using enum mt::Element;
  CHECK_THAT(refusal({1.0}, {{tzy, 0, 0}}, {1.0}), HasId("not_predicted", {"Tzy"}));
  CHECK_THAT(refusal({1.0}, {}, {1.0}), HasId("no_response"));
  CHECK_THAT(refusal({1.0}, {{zxy, 0, 0}, {zxy, 0, 2}}, {1.0}), HasId("several_stations", {"0", "2"}));
  CHECK_THAT(refusal({1.0}, {{zxy, 1, 0}}, {1.0}), HasId("wrong_frequency", {"1"}));
  CHECK_THAT(refusal({0.0}, {{zxy, 0, 0}}, {1.0}), HasId("thickness_not_positive"));
  CHECK_THAT(refusal({1.0}, {{zxy, 0, 0}}, {-1.0}), HasId("frequency_not_positive"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [] { (void)mt::d1::data_map({1.0}, sounding_of({Datum::tzy_re}, {1.0})); }),
             HasId("not_predicted", {"tzy_re", "Tzy"}));
  CHECK_THROWS_AS(mt::d1::data_map({1.0}, sounding_of(all, {1.0}))->value(Eigen::VectorXd::Zero(3)),
                  core::ShapeError);
}
