// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/station_data.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <cmath>

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

/// Directions of two channels to north and east.
Eigen::Matrix2d channels(double first_deg, double second_deg) {
  const double a = first_deg / deg_per_rad, b = second_deg / deg_per_rad;
  return Eigen::Matrix2d{{std::cos(a), std::sin(a)}, {std::cos(b), std::sin(b)}};
}

/// A covariance with correlations, from which the errors follow.
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

TEST_CASE("station data: rotation maps fields of one frame to those of the other", "[physics][mt][station]") {
  StationRow row = some_row();
  row.azimuths = ChannelAzimuths::along(25.0);
  const StationRow turned = rotated(row, 70.0);
  const Eigen::Matrix2d r = channels(70.0, 160.0) * channels(25.0, 115.0).inverse();
  CHECK((tensor_of(turned) - r * tensor_of(row) * r.transpose()).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((tipper_of(turned) - tipper_of(row) * r.transpose()).cwiseAbs().maxCoeff() < 1e-14);
  CHECK(turned.azimuths.hy_deg == 160.0);
}

TEST_CASE("station data: rotation agrees with that of transfer functions", "[physics][mt][station]") {
  TransferFunctions station;
  station.frame_deg = 12.0;
  const StationRow row = some_row();
  TransferFunctionRow from;
  from.frequency_hz = row.frequency_hz;
  for (std::size_t k = 0; k < n_elements; ++k)
    (k < 4 ? from.impedance[k] : from.tipper[k - 4]) = {row.values.numbers[k], row.errors.numbers[k]};
  station.rows = {from};
  const TransferFunctionRow expected = rotated_to(station, -31.0).rows.front();
  const StationRow turned = rotated(station_data(station).rows.front(), -31.0);
  for (std::size_t k = 0; k < n_elements; ++k) {
    const Estimate& estimate = k < 4 ? expected.impedance[k] : expected.tipper[k - 4];
    CHECK(std::abs(turned.values.numbers[k] - estimate.value) < 1e-14);
    CHECK(turned.errors.numbers[k] == Approx(estimate.sigma).epsilon(1e-12));
  }
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

TEST_CASE("station data: interpolation agrees with that of transfer functions", "[physics][mt][station]") {
  TransferFunctions station;
  for (const double f : {100.0, 10.0, 1.0, 0.1}) {
    TransferFunctionRow row;
    row.frequency_hz = f;
    row.impedance[1] = {std::polar(std::sqrt(f), 0.5 + 0.1 * f), 0.1 * f};
    if (f != 10.0) row.tipper[1] = {Complex(0.1 * f, -0.2), 0.02};
    station.rows.push_back(row);
  }
  const std::vector<double> list{30.0, 10.0, 0.5, 0.01};
  const TransferFunctions expected = interpolated_to(station, list);
  const std::vector<StationRow> rows = interpolated(station_data(station).rows, list);
  REQUIRE(rows.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const Estimate &z = expected.rows[i].impedance[1], &t = expected.rows[i].tipper[1];
    CHECK(rows[i].is_missing(Element::zxy) == z.is_missing());
    CHECK(rows[i].is_missing(Element::tzy) == t.is_missing());
    if (z.is_missing()) continue;
    CHECK(rows[i].values[Element::zxy] == z.value);
    CHECK(rows[i].errors[Element::zxy] == z.sigma);
    CHECK(rows[i].values[Element::tzy] == t.value);
  }
  CHECK(rows[3].is_missing(Element::zxy));
  CHECK_THROWS_AS(interpolated({}, {-1.0}), core::InvalidArgument);
}
