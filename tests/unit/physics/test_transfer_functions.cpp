// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/responses.hpp"
#include "physics/mt/survey.hpp"
#include "physics/mt/transfer_functions.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::physics::mt;
using lodestone::tests::message_of;

namespace {

TransferFunctions one_row(std::array<Complex, 4> z, std::array<Complex, 2> t) {
  TransferFunctions out;
  out.name = "s";
  TransferFunctionRow row;
  row.frequency_hz = 1.0;
  for (std::size_t k = 0; k < 4; ++k) row.impedance[k] = {z[k], 0.1};
  for (std::size_t k = 0; k < 2; ++k) row.tipper[k] = {t[k], 0.01};
  out.rows = {row};
  return out;
}

/// Z/√f linear in log f by construction.
TransferFunctions smooth(const std::vector<double>& frequencies) {
  TransferFunctions out;
  out.name = "s";
  for (const double f : frequencies) {
    TransferFunctionRow row;
    row.frequency_hz = f;
    const double l = std::log(f);
    row.impedance[1] = {Complex(2.0 + 0.3 * l, 1.0 - 0.1 * l) * std::sqrt(f), 0.1};
    row.tipper[1] = {Complex(0.1 * l, 0.2), 0.01};
    out.rows.push_back(row);
  }
  return out;
}

Station at(const std::string& name, double y_m) {
  Station station;
  station.name = name;
  station.y_m = y_m;
  return station;
}

}  // namespace

TEST_CASE("rotation: a 2-D tensor becomes off-diagonal in its own frame and comes back", "[transfer]") {
  // In the strike frame Zxy = 2+1i, Zyx = -3-2i; measured in a frame turned by 30 degrees.
  auto strike = one_row({0.0, Complex(2, 1), Complex(-3, -2), 0.0}, {0.0, Complex(0.3, 0.1)});
  strike.frame_deg = 30.0;
  const auto north = rotated_to(strike, 0.0);
  CHECK(std::abs(north.rows[0].impedance[0].value) > 0.1);
  const auto back = rotated_to(north, 30.0);
  CHECK(back.frame_deg == 30.0);
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(std::abs(back.rows[0].impedance[k].value - strike.rows[0].impedance[k].value) < 1e-14);
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(std::abs(back.rows[0].tipper[k].value - strike.rows[0].tipper[k].value) < 1e-15);
}

TEST_CASE(
    "rotation by 90 degrees swaps the elements: Zxy' = -Zyx, Tx' = Ty, Ty' = -Tx, even where others are "
    "missing",
    "[transfer]") {
  auto station = one_row({1.0, Complex(2, 1), Complex(-3, -2), 4.0}, {0.1, Complex(0.3, 0.1)});
  station.rows[0].impedance[0] = {};
  const auto r = rotated_to(station, 90.0).rows[0];
  CHECK(std::abs(r.impedance[1].value - Complex(3, 2)) < 1e-14);
  CHECK(std::abs(r.impedance[2].value - Complex(-2, -1)) < 1e-14);
  CHECK(r.impedance[3].is_missing());
  CHECK(std::abs(r.tipper[0].value - Complex(0.3, 0.1)) < 1e-15);
  CHECK(std::abs(r.tipper[1].value - Complex(-0.1, 0)) < 1e-15);
  CHECK(rotated_to(station, 45.0).rows[0].impedance[1].is_missing());
}

TEST_CASE("rotation: equal independent errors of all elements stay equal", "[transfer]") {
  const auto r = rotated_to(one_row({1.0, 2.0, 3.0, 4.0}, {0.1, 0.2}), 37.0).rows[0];
  for (const auto& e : r.impedance) CHECK(e.sigma == Approx(0.1));
  for (const auto& e : r.tipper) CHECK(e.sigma == Approx(0.01));
}

TEST_CASE(
    "interpolation is exact where Z over root f is linear in log f, and takes measured frequencies as they "
    "are",
    "[transfer]") {
  const auto station = smooth({100.0, 10.0, 1.0});
  const auto out = interpolated_to(station, {3.0, 100.0, 42.0});
  REQUIRE(out.rows.size() == 3);
  CHECK(out.rows[0].frequency_hz == 100.0);
  CHECK(out.rows[0].impedance[1].value == station.rows[0].impedance[1].value);
  const auto exact = smooth({42.0, 3.0});
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(std::abs(out.rows[i + 1].impedance[1].value - exact.rows[i].impedance[1].value) < 1e-12);
    CHECK(std::abs(out.rows[i + 1].tipper[1].value - exact.rows[i].tipper[1].value) < 1e-12);
  }
}

TEST_CASE("interpolation never goes beyond the band nor across more than one missing frequency",
          "[transfer]") {
  auto station = smooth({1000.0, 100.0, 10.0, 1.0, 0.1});
  CHECK(interpolated_to(station, {2000.0}).rows[0].impedance[1].is_missing());
  CHECK(interpolated_to(station, {0.05}).rows[0].impedance[1].is_missing());
  station.rows[1].impedance[1] = {};
  CHECK_FALSE(interpolated_to(station, {50.0}).rows[0].impedance[1].is_missing());
  station.rows[2].impedance[1] = {};
  CHECK(interpolated_to(station, {50.0}).rows[0].impedance[1].is_missing());
  CHECK_FALSE(interpolated_to(station, {50.0}).rows[0].tipper[1].is_missing());
  CHECK_THROWS_AS(interpolated_to(station, {0.0}), core::InvalidArgument);
}

TEST_CASE("half-space: apparent resistivity equals resistivity and the phase is 45 degrees", "[transfer]") {
  const Complex z = std::polar(std::sqrt(250.0 * omega(0.7) * mu0), std::numbers::pi / 4);
  CHECK(apparent_resistivity_ohm_m(z, 0.7) == Approx(250.0));
  CHECK(phase_deg(z) == Approx(45.0));
  CHECK(phase_deg(-z) == Approx(-135.0));
}

TEST_CASE("quantities: names lead back to their quantity, modes and units are those of the field",
          "[survey]") {
  for (int i = 0; i < n_quantities; ++i)
    CHECK(quantity_from(name_of(static_cast<Quantity>(i))) == static_cast<Quantity>(i));
  CHECK(mode_of(Quantity::tzy_re) == Mode::te);
  CHECK(mode_of(Quantity::phase_yx) == Mode::tm);
  CHECK(units_of(Quantity::phase_yx) == "rad");
  CHECK_THAT(message_of<core::InvalidArgument>([] { (void)quantity_from("zxx_re"); }),
             Catch::Contains("zxy_re") && Catch::Contains("\"zxx_re\""));
}

TEST_CASE("survey: equal positions, bad frequencies and keys outside are refused", "[survey]") {
  const auto validate = [](std::vector<Station> stations, std::vector<double> frequencies) {
    full_survey(std::move(stations), std::move(frequencies), {Quantity::zxy_re}).validate();
  };
  CHECK_NOTHROW(validate({at("a", 0.0), at("b", 1.0)}, {1.0}));
  CHECK_THAT(message_of<core::InvalidArgument>([&] {
               validate({at("a", 0.0), at("c", 1.0), at("b", 0.0)}, {1.0});
             }),
             Catch::Contains("a and b both stand at y = 0"));
  CHECK_THROWS_AS(validate({at("a", 0.0)}, {-1.0}), core::InvalidArgument);
  CHECK_THROWS_AS(validate({}, {1.0}), core::InvalidArgument);
  CHECK_THROWS_WITH(validate({at("a", 0.0), at("far", 1e300)}, {1.0}),
                    Catch::Contains("far at y = 1e+300 m"));
  auto survey = full_survey({at("a", 0.0)}, {1.0}, {Quantity::zxy_re});
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
  CHECK_THROWS_AS(responses_from(survey, predicted.head(3), {0.0, 0.0}), core::ShapeError);
}

TEST_CASE("responses: log10 apparent resistivity and phase become an impedance", "[survey]") {
  const auto survey = full_survey({at("a", 0.0)}, {2.0}, {Quantity::log10_rho_yx, Quantity::phase_yx});
  Eigen::VectorXd predicted(2);
  predicted << 2.0, -135.0 / deg_per_rad;
  const auto rows = responses_from(survey, predicted, {0.0});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].mode == Mode::tm);
  CHECK(apparent_resistivity_ohm_m(rows[0].impedance_ohm, 2.0) == Approx(100.0));
  CHECK(phase_deg(rows[0].impedance_ohm) == Approx(-135.0));
}
