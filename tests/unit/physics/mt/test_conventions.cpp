// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/conventions.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <random>

using namespace lodestone::physics::mt;

namespace {

/// Rows over 100 ohm m in mV/km/nT and e^{+iωt}.
std::vector<StationRow> half_space() {
  std::vector<StationRow> rows;
  for (const double frequency_hz : {100.0, 30.0, 10.0, 3.0, 1.0, 0.3}) {
    StationRow& row = rows.emplace_back();
    row.frequency_hz = frequency_hz;
    const Complex z = std::sqrt(5.0 * 100.0 * frequency_hz) * Complex(1.0, 1.0) / std::sqrt(2.0);
    row.values[Element::zxy] = z;
    row.values[Element::zyx] = -z;
  }
  return rows;
}

StationData station_of(std::vector<StationRow> rows) {
  StationData station;
  station.rows = std::move(rows);
  return station;
}

}  // namespace

TEST_CASE("conventions: quadrants vote for the time factor, and chosen goes before stated", "[physics][mt]") {
  CHECK(voted_time_factor(half_space()) == TimeFactor::plus);
  std::vector<StationRow> minus = half_space();
  for (StationRow& row : minus)
    for (Complex& value : row.values.numbers) value = std::conj(value);
  CHECK(voted_time_factor(minus) == TimeFactor::minus);
  CHECK(median_rho_as_field(minus) == Approx(100.0));
  StationData station = station_of(minus);
  CHECK(convert(station, {}).size() == 1);
  CHECK(station.sign_in_file == "-");
  CHECK(station.rows[0].values[Element::zxy].imag() > 0.0);
  StationData as_stated = station_of(minus);
  CHECK(convert(as_stated, {}, {.sign = TimeFactor::plus}).size() == 1);  // the quadrants contradict
  CHECK(as_stated.rows[0].values[Element::zxy].imag() < 0.0);
  StationData as_chosen = station_of(minus);
  CHECK(convert(as_chosen, {.sign = TimeFactor::minus}, {.sign = TimeFactor::plus}).empty());
  CHECK(as_chosen.rows[0].values[Element::zxy].imag() > 0.0);
}

TEST_CASE("conventions: the size of the resistivity tells ohm from mV/km/nT", "[physics][mt]") {
  std::vector<StationRow> ohm = half_space();
  for (StationRow& row : ohm)
    for (Complex& value : row.values.numbers) value *= ohm_per_field_unit;
  CHECK(looks_like_ohm(ohm));
  CHECK_FALSE(looks_like_ohm(half_space()));
  StationData station = station_of(ohm), in_field = station_of(half_space());
  static_cast<void>(convert(station, {}));
  static_cast<void>(convert(in_field, {}));
  CHECK(station.units_in_file == "ohm");
  CHECK(in_field.units_in_file == "mV/km/nT");
  CHECK(std::abs(station.rows[2].values[Element::zxy] - in_field.rows[2].values[Element::zxy]) < 1e-16);
}

TEST_CASE("conventions: signal and noise follow sign and units, as the covariance does", "[physics][mt]") {
  std::vector<StationRow> rows = half_space();
  SignalAndNoise known;
  known.inverse_signal << 2.0, Complex(0.3, 0.1), Complex(0.3, -0.1), 1.0;
  known.noise << 3.0, Complex(0.2, 0.4), Complex(0.1, -0.2), Complex(0.2, -0.4), 2.0, Complex(0.0, 0.3),
      Complex(0.1, 0.2), Complex(0.0, -0.3), 0.5;
  for (StationRow& row : rows) row.set_estimates(known);
  StationData station = station_of(rows);
  static_cast<void>(convert(station, {.sign = TimeFactor::minus, .units = ImpedanceUnits::field}));
  StationRow again;
  again.set_estimates(*station.rows[0].estimates);
  const ElementCovariance& c = *station.rows[0].covariance;
  CHECK((again.covariance->topLeftCorner<6, 6>() - c.topLeftCorner<6, 6>()).cwiseAbs().maxCoeff() < 1e-15);
  CHECK(c(0, 3).imag() != 0.0);
  // A rotation takes both along.
  const StationRow turned = rotated(station.rows[0], 35.0);
  StationRow of_turned;
  of_turned.set_estimates(*turned.estimates);
  CHECK((of_turned.covariance->topLeftCorner<6, 6>() - turned.covariance->topLeftCorner<6, 6>())
            .cwiseAbs()
            .maxCoeff() < 1e-15);
}

TEST_CASE("conventions: every number of a file comes back from ohm and from an error", "[physics][mt]") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> digits(-1.0, 1.0), decades(-6.0, 6.0);
  for (int k = 0; k < 20000; ++k) {
    const double written = digits(random) * std::pow(10.0, decades(random)),
                 ohm = written * ohm_per_field_unit;
    CHECK(in_field_units(ohm) * ohm_per_field_unit == ohm);
    const double sigma = std::sqrt(0.5 * std::abs(written));
    CHECK(std::sqrt(0.5 * variance_of_complex(sigma)) == sigma);
  }
}
