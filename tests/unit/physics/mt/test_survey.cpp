// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/responses.hpp"
#include "physics/mt/survey.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::physics::mt;

namespace {

Station at(const std::string& name, double y_m) {
  Station station;
  station.name = name;
  station.y_m = y_m;
  return station;
}

}  // namespace

TEST_CASE("half-space: apparent resistivity equals resistivity and the phase is 45 degrees", "[survey]") {
  const Complex z = std::polar(std::sqrt(250.0 * omega(0.7) * mu0), std::numbers::pi / 4);
  CHECK(apparent_resistivity_ohm_m(z, 0.7) == Approx(250.0));
  CHECK(phase_deg(z) == Approx(45.0));
  CHECK(phase_deg(-z) == Approx(-135.0));
}

TEST_CASE("quantities: modes and units are those of the field", "[survey]") {
  CHECK(mode_of(Datum::tzy_re) == Mode::te);
  CHECK(mode_of(Datum::phase_yx) == Mode::tm);
  CHECK(units_of(Datum::phase_yx) == "rad");
  CHECK_THROWS_AS(mode_of(datum("phase_det")), core::InvalidArgument);
}

TEST_CASE("survey: equal positions, bad frequencies and keys outside are refused", "[survey]") {
  const auto validate = [](std::vector<Station> stations, std::vector<double> frequencies) {
    full_survey(std::move(stations), std::move(frequencies), {Datum::zxy_re}).validate();
  };
  CHECK_NOTHROW(validate({at("a", 0.0), at("b", 1.0)}, {1.0}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               validate({at("a", 0.0), at("c", 1.0), at("b", 0.0)}, {1.0});
             }),
             tests::HasId("same_place", {"a", "b", "y = 0 m"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               validate({at("a", 0.0), at("b", 0.0001)}, {1.0});
             }),
             tests::HasId("same_place", {"a stands at y = 0 m", "b at y = 0.0001 m", "0.001"}));
  CHECK_THROWS_AS(validate({at("a", 0.0)}, {-1.0}), core::InvalidArgument);
  CHECK_THROWS_AS(validate({}, {1.0}), core::InvalidArgument);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(validate({at("a", 0.0), at("far", 1e300)}, {1.0}));
             }),
             tests::HasId("station_far", {"far", "y = 1e+300 m"}));
  auto survey = full_survey({at("a", 0.0)}, {1.0}, {Datum::zxy_re});
  survey.keys[0].station = 1;
  CHECK_THROWS_AS(survey.validate(), core::ShapeError);
}

TEST_CASE("responses: predictions become one row per mode, frequency and site", "[survey]") {
  const auto survey = response_survey({at("a", 0.0), at("b", 10.0)}, {1.0, 0.1});
  Eigen::VectorXd predicted(static_cast<Eigen::Index>(survey.keys.size()));
  for (Eigen::Index i = 0; i < predicted.size(); ++i) predicted[i] = static_cast<double>(i);
  const auto rows = responses_from(survey, predicted, {0.0, -5.0});
  REQUIRE(rows.size() == 8);
  CHECK(rows[0].site == "a");
  CHECK(rows[3].site == "b");
  CHECK(rows[3].frequency_hz == 0.1);
  CHECK(rows[3].z_m == -5.0);
  CHECK(rows[3].impedance_ohm == Complex(3, 7));
  CHECK(rows[3].tipper == Complex(11, 15));
  CHECK(rows[4].mode == Mode::tm);
  CHECK(rows[4].impedance_ohm == Complex(16, 20));
  CHECK(std::isnan(rows[4].tipper.real()));
  CHECK_THAT(tests::error_of<core::ShapeError>([&] {
               (void)responses_from(survey, predicted.head(3), {0.0, 0.0});
             }),
             tests::HasId("wrong_size", {"3", "2"}));
}

TEST_CASE("responses: log10 apparent resistivity and phase become an impedance", "[survey]") {
  const auto survey = full_survey({at("a", 0.0)}, {2.0}, {Datum::log10_rho_yx, Datum::phase_yx});
  Eigen::VectorXd predicted(2);
  predicted << 2.0, -135.0 / deg_per_rad;
  const auto rows = responses_from(survey, predicted, {0.0});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].mode == Mode::tm);
  CHECK(apparent_resistivity_ohm_m(rows[0].impedance_ohm, 2.0) == Approx(100.0));
  CHECK(phase_deg(rows[0].impedance_ohm) == Approx(-135.0));
}
