// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/station_data.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <cmath>
#include <random>

using namespace lodestone;
using namespace lodestone::physics::mt;

namespace {

StationRow some_row() {
  StationRow row;
  row.frequency_hz = 10.0;
  row.values.numbers = {Complex(0.3, 0.5),   Complex(2.1, 1.7),  Complex(-1.8, -2.3),
                        Complex(-0.4, 0.25), Complex(0.2, -0.1), Complex(-0.2, 0.1)};
  row.errors.numbers = {0.1, 0.2, 0.3, 0.4, 0.01, 0.02};
  return row;
}

Eigen::Matrix2cd tensor_of(const StationRow& row) {
  return Eigen::Matrix2cd{{row.values[Element::zxx], row.values[Element::zxy]},
                          {row.values[Element::zyx], row.values[Element::zyy]}};
}

Eigen::RowVector2cd tipper_of(const StationRow& row) {
  return {row.values[Element::tzx], row.values[Element::tzy]};
}

/// Returns the directions of two channels to north and east.
Eigen::Matrix2d channels(double first_deg, double second_deg) {
  const double a = first_deg / deg_per_rad, b = second_deg / deg_per_rad;
  return Eigen::Matrix2d{{std::cos(a), std::sin(a)}, {std::cos(b), std::sin(b)}};
}

/// Returns a covariance with correlations, from which the errors follow.
StationRow with_covariance() {
  StationRow row = some_row();
  ElementCovariance root = ElementCovariance::Zero();
  for (int k = 0; k < 6; ++k) {
    for (int l = 0; l <= k; ++l) root(k, l) = 0.1 * Complex(1.0 - 0.15 * (k - l), k == l ? 0.0 : 0.2);
  }
  row.covariance = root * root.adjoint();
  return row;
}

}  // namespace

TEST_CASE("station data: a row without a covariance takes no room for one", "[physics][mt][station]") {
  CHECK(sizeof(StationRow) < sizeof(ElementCovariance) / 4);
  StationRow row = with_covariance();
  const StationRow copy = row;
  row.covariance->setZero();
  CHECK(copy.covariance->norm() > 0.0);
}

TEST_CASE("station data: rotation maps fields of one frame to those of the other", "[physics][mt][station]") {
  StationRow row = some_row();
  row.azimuths = ChannelAzimuths::along(25.0);
  const StationRow turned = rotated(row, 70.0);
  const Eigen::Matrix2d r = channels(70.0, 160.0) * channels(25.0, 115.0).inverse();
  CHECK((tensor_of(turned) - r * tensor_of(row) * r.transpose()).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((tipper_of(turned) - tipper_of(row) * r.transpose()).cwiseAbs().maxCoeff() < 1e-14);
  CHECK(turned.azimuths.hy_deg == 160.0);
}

TEST_CASE("station data: a 2-D tensor is off-diagonal in its own frame and comes back",
          "[physics][mt][station]") {
  StationRow strike = some_row();
  strike.values[Element::zxx] = strike.values[Element::zyy] = 0.0;
  strike.azimuths = ChannelAzimuths::along(30.0);
  const StationRow north = rotated(strike, 0.0), back = rotated(north, 30.0);
  CHECK(std::abs(north.values[Element::zxx]) > 0.1);
  CHECK(back.azimuths.ex_deg == 30.0);
  for (std::size_t k = 0; k < n_elements; ++k)
    CHECK(std::abs(back.values.numbers[k] - strike.values.numbers[k]) < 1e-14);
}

TEST_CASE("station data: independent errors rotate by the squares of the factors, equal ones stay equal",
          "[physics][mt][station]") {
  const double angle = 37.0 / deg_per_rad, c = std::cos(angle), s = std::sin(angle);
  const StationRow turned = rotated(some_row(), 37.0);
  const auto square = [](double x) { return x * x; };
  const double variance =
      square(c * c * 0.2) + square(s * s * 0.3) + square(c * s) * (square(0.1) + square(0.4));
  CHECK(turned.errors[Element::zxy] == Approx(std::sqrt(variance)).epsilon(1e-12));
  StationRow equal = some_row();
  equal.errors.numbers = {0.1, 0.1, 0.1, 0.1, 0.01, 0.01};
  const StationRow same = rotated(equal, 37.0);
  for (std::size_t k = 0; k < n_elements; ++k)
    CHECK(same.errors.numbers[k] == Approx(equal.errors.numbers[k]).epsilon(1e-12));
}

TEST_CASE("station data: channels that are not perpendicular give the same earth", "[physics][mt][station]") {
  const Eigen::Matrix2cd z = tensor_of(some_row());  // in north and east
  const Eigen::RowVector2cd t = tipper_of(some_row());
  StationRow measured = some_row();
  measured.azimuths = {10.0, 92.0, -5.0, 80.0, 3.0, 100.0};
  const Eigen::Matrix2cd as_measured = channels(10.0, 92.0) * z * channels(-5.0, 80.0).inverse();
  const Eigen::RowVector2cd tipper = t * channels(3.0, 100.0).inverse();
  measured.values.numbers = {as_measured(0, 0), as_measured(0, 1), as_measured(1, 0),
                             as_measured(1, 1), tipper(0),         tipper(1)};
  const StationRow turned = rotated(measured, 0.0);
  CHECK((tensor_of(turned) - z).cwiseAbs().maxCoeff() < 1e-13);
  CHECK((tipper_of(turned) - t).cwiseAbs().maxCoeff() < 1e-13);
  measured.azimuths.ey_deg = 190.0;
  CHECK_THROWS_AS(rotated(measured, 0.0), core::InvalidArgument);
}

TEST_CASE("station data: rotated covariances keep invariants and come back", "[physics][mt][station]") {
  const StationRow row = with_covariance(), turned = rotated(row, 33.0), back = rotated(turned, 0.0);
  REQUIRE(turned.covariance);
  CHECK((*back.covariance - *row.covariance).cwiseAbs().maxCoeff() < 1e-14);
  CHECK(turned.covariance->trace().real() == Approx(row.covariance->trace().real()).epsilon(1e-13));
  const DatumRule& determinant = rule_of(datum("phase_det"));
  CHECK(sigma(determinant, turned.values, *turned.covariance) ==
        Approx(sigma(determinant, row.values, *row.covariance)).epsilon(1e-12));
  CHECK(turned.errors[Element::zxy] == Approx(std::sqrt(0.5 * (*turned.covariance)(1, 1).real())));
}

TEST_CASE("station data: two rotations of independent errors equal one", "[physics][mt][station]") {
  const StationRow once = rotated(some_row(), 40.0), twice = rotated(rotated(some_row(), 15.0), 40.0);
  for (std::size_t k = 0; k < n_elements; ++k)
    CHECK(twice.errors.numbers[k] == Approx(once.errors.numbers[k]).epsilon(1e-12));
}

TEST_CASE("station data: a turn by less than a thousandth of a degree is none", "[physics][mt][station]") {
  StationRow row = some_row();
  row.values[Element::zxx] = row.values[Element::zyy] = {not_given, not_given};
  for (const double turn_deg : {9e-4, -9e-4, 180.0009}) {
    const StationRow same = rotated(row, turn_deg);
    CHECK(same.values[Element::zxy] == row.values[Element::zxy]);
    CHECK(same.values[Element::zyx] == row.values[Element::zyx]);
    CHECK(same.azimuths.hx_deg == turn_deg);
  }
  CHECK(rotated(row, 89.9991).values[Element::zxy] == -row.values[Element::zyx]);
  CHECK(rotated(row, 2e-3).is_missing(Element::zxy));
  CHECK(rotated(row, 90.002).is_missing(Element::zxy));
}

TEST_CASE("station data: what a rotation takes from incomplete tensors is counted",
          "[physics][mt][station]") {
  StationRow row = some_row(), whole = row;
  row.azimuths = whole.azimuths = ChannelAzimuths::along(350.0);
  row.values[Element::zxx] = row.values[Element::zyy] = {not_given, not_given};
  StationData station, other;
  station.site.name = "a";
  station.rows = {whole, row, row};
  other.site.name = "b";
  other.rows = {row};
  TurnLoss loss;
  rotate_rows(station, 350.0, loss);
  rotate_rows(station, 80.0, loss);
  CHECK_FALSE(loss.is_any());
  rotate_rows(station, 20.0, loss);
  rotate_rows(other, 20.0, loss);
  CHECK(loss.n_elements == 6);
  CHECK(loss.n_stations == 2);
  CHECK(loss.station == "a");
  CHECK(loss.turn_deg == Approx(-60.0));
  CHECK_THAT(loss.in_words(20.0),
             Catch::Contains("6 elements of 2 stations") && Catch::Contains("station a"));
}

TEST_CASE("station data: multiples of 90 degrees permute elements to the bit", "[physics][mt][station]") {
  StationRow row = some_row();
  row.values[Element::zxx] = {std::nan(""), 0.0};
  const StationRow same = rotated(row, 0.0), quarter = rotated(row, 90.0);
  CHECK(same.values[Element::zxy] == row.values[Element::zxy]);
  CHECK(same.errors[Element::zyx] == row.errors[Element::zyx]);
  CHECK(quarter.values[Element::zxy] == -row.values[Element::zyx]);
  CHECK(quarter.values[Element::tzx] == row.values[Element::tzy]);
  CHECK(quarter.errors[Element::zxy] == Approx(0.3).epsilon(1e-15));
  CHECK(quarter.is_missing(Element::zyy));
  CHECK(!quarter.is_missing(Element::zxx));
  const StationRow slanted = rotated(row, 20.0);
  CHECK((slanted.is_missing(Element::zxy) && !slanted.is_missing(Element::tzx)));
}

namespace {

/// Z/√f and T are linear in log f by construction.
std::vector<StationRow> smooth(const std::vector<double>& frequencies_hz) {
  std::vector<StationRow> rows;
  for (const double f : frequencies_hz) {
    StationRow& row = rows.emplace_back();
    row.frequency_hz = f;
    const double l = std::log(f);
    row.values[Element::zxy] = Complex(2.0 + 0.3 * l, 1.0 - 0.1 * l) * std::sqrt(f);
    row.values[Element::tzy] = Complex(0.1 * l, 0.2);
    row.errors[Element::zxy] = 0.1 * std::sqrt(f);
    row.errors[Element::tzy] = 0.01;
  }
  return rows;
}

StationRow interpolated_at(const std::vector<StationRow>& rows, double frequency_hz) {
  return interpolated(rows, {frequency_hz}).front();
}

}  // namespace

TEST_CASE("station data: interpolation is exact where Z over root f is linear in log f",
          "[physics][mt][station]") {
  const std::vector<StationRow> rows = smooth({100.0, 10.0, 1.0}), exact = smooth({42.0, 3.0}),
                                out = interpolated(rows, {3.0, 100.0, 42.0});
  REQUIRE(out.size() == 3);
  CHECK(out[0].frequency_hz == 100.0);
  CHECK(out[0].values[Element::zxy] == rows[0].values[Element::zxy]);  // measured ones are taken as they are
  CHECK(out[0].errors[Element::zxy] == rows[0].errors[Element::zxy]);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(std::abs(out[i + 1].values[Element::zxy] - exact[i].values[Element::zxy]) < 1e-12);
    CHECK(std::abs(out[i + 1].values[Element::tzy] - exact[i].values[Element::tzy]) < 1e-12);
    CHECK(out[i + 1].errors[Element::zxy] == Approx(exact[i].errors[Element::zxy]));
  }
}

TEST_CASE("station data: interpolation never leaves the band nor crosses more than one missing frequency",
          "[physics][mt][station]") {
  std::vector<StationRow> rows = smooth({1000.0, 100.0, 10.0, 1.0, 0.1});
  CHECK(interpolated_at(rows, 2000.0).is_missing(Element::zxy));
  CHECK(interpolated_at(rows, 0.05).is_missing(Element::zxy));
  rows[1].values[Element::zxy] = {not_given, not_given};
  CHECK_FALSE(interpolated_at(rows, 50.0).is_missing(Element::zxy));
  rows[2].values[Element::zxy] = {not_given, not_given};
  CHECK(interpolated_at(rows, 50.0).is_missing(Element::zxy));
  CHECK_FALSE(interpolated_at(rows, 50.0).is_missing(Element::tzy));
  CHECK_THROWS_AS(interpolated(rows, {-1.0}), core::InvalidArgument);
}

TEST_CASE("station data: impedances and variances of files come back bit by bit from ohm",
          "[physics][mt][station]") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-12.0, 12.0);
  int n_lost = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double f = std::pow(10.0, exponent(random)), c = ohm_per_field_unit;
    n_lost += in_field_units(f * c) * c == f * c ? 0 : 1;
    n_lost += in_squared_field_units(f * c * c) * c * c == f * c * c ? 0 : 1;
    if (std::abs(in_field_units(f) * c / f - 1.0) > 1e-15) FAIL("not the nearest for " << f);
  }
  CHECK(n_lost == 0);
  CHECK(std::isnan(in_field_units(not_given)));
  CHECK(std::signbit(in_field_units(-0.0)));
}

TEST_CASE("station data: the time factor is found in lines of text", "[physics][mt][station]") {
  CHECK(time_factor_in("# Time factor: EXP( - i w t)") == TimeFactor::minus);
  CHECK(time_factor_in("exp(+i\\omega t)") == TimeFactor::plus);
  CHECK(time_factor_in("exp(iwt)") == TimeFactor::plus);
  CHECK_FALSE(time_factor_in("expected").has_value());
}

TEST_CASE("station data: rows and readings are found, added once and sorted", "[physics][mt][station]") {
  StationData station;
  station.row_at(1.0).values[Element::zxy] = 2.0;
  station.row_at(10.0).values[Element::zxy] = 3.0;
  CHECK(station.row_at(1.0).values[Element::zxy] == 2.0);
  CHECK(station.add({Datum::phase_xy, 1.0, 0.5, 0.1, {}}));
  CHECK_FALSE(station.add({Datum::phase_xy, 1.0, 0.7, 0.1, {}}));
  CHECK(station.add({Datum::phase_xy, 3.0, 0.9, 0.1, {}}));
  station.sort();
  CHECK((station.rows.size() == 2 && station.rows[0].frequency_hz == 10.0));
  CHECK((station.readings[0].value == 0.9 && station.readings[1].value == 0.5));
}
