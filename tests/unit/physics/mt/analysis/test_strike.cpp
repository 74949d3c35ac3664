// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/strike.hpp"
#include "physics/mt/analysis/strike_bands.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/section_stations.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;
using namespace lodestone::tests;
using Catch::Matchers::WithinAbs;

TEST_CASE("strike: azimuth, twist and shear of distorted sections come back", "[physics][mt]") {
  const std::vector<StationData> stations{
      section_station("a", 2.0, twisted_and_sheared(20.0, -15.0), 1e-9),
      section_station("b", 1.5, twisted_and_sheared(-5.0, 30.0), 1e-9, 17.0)};
  const auto found = strike(stations);
  REQUIRE(found.has_value());
  CHECK(found->is_determined());
  CHECK_THAT(found->azimuth_deg, WithinAbs(strike_deg, 0.02));
  CHECK(found->rms < 1e-2);
  CHECK(found->worst_rms > 1.0);
  CHECK(found->n_rows == 24);
  REQUIRE(found->distortion.size() == 2);
  CHECK_THAT(found->distortion[0].twist_deg, WithinAbs(20.0, 0.05));
  CHECK_THAT(found->distortion[0].shear_deg, WithinAbs(-15.0, 0.05));
  CHECK_THAT(found->distortion[1].twist_deg, WithinAbs(-5.0, 0.05));
  CHECK_THAT(found->distortion[1].shear_deg, WithinAbs(30.0, 0.05));
}

TEST_CASE("strike: noise of the size of its errors gives an rms of 1 and an error that covers the truth",
          "[physics][mt]") {
  double sum = 0.0, rms = 0.0;
  constexpr int n = 12;
  for (int k = 0; k < n; ++k) {
    const auto found = strike(section_station(std::string(1, static_cast<char>('a' + k)), 1.6,
                                              twisted_and_sheared(10.0, 10.0), 0.05),
                              {.relative_floor = 0.0});
    REQUIRE(found.has_value());
    const double off = std::remainder(found->azimuth_deg - strike_deg, 90.0) / found->error_deg;
    sum += off * off / n;
    rms += found->rms / n;
  }
  CHECK_THAT(rms, WithinAbs(1.0, 0.15));
  CHECK(sum < 2.5);
  CHECK(sum > 0.2);
}

TEST_CASE("strike: layers have none, tippers tell which of two it is", "[physics][mt]") {
  const StationData over_layers = section_station("a", 1.0, Eigen::Matrix2d::Identity(), 0.02);
  CHECK_FALSE(strike(over_layers)->is_determined());
  const std::vector<StationData> stations{section_station("a", 2.0, twisted_and_sheared(20.0, -15.0), 1e-3)};
  const auto tipper = tipper_strike(stations);
  REQUIRE(tipper.has_value());
  CHECK_THAT(tipper->azimuth_deg, WithinAbs(strike_deg, 1e-6));
  CHECK(tipper->share_along < 1e-6);
  CHECK_THAT(resolved_azimuth_deg(strike_deg, tipper->azimuth_deg), WithinAbs(strike_deg, 1e-9));
  CHECK_THAT(resolved_azimuth_deg(strike_deg, 160.0), WithinAbs(strike_deg + 90.0, 1e-9));
  std::vector<StationData> without_hz = stations;
  for (StationRow& row : without_hz[0].rows) row.values[Element::tzx] = row.values[Element::tzy] = 5e-4;
  CHECK_FALSE(tipper_strike(without_hz).has_value());
  CHECK_FALSE(strike(std::vector<StationData>{}).has_value());
  CHECK_FALSE(strike(stations, {.min_period_s = 1e6}).has_value());
}

TEST_CASE("strike: bands are decades, and each has its strike", "[physics][mt]") {
  const std::vector<StationData> stations{
      section_station("a", 2.0, Eigen::Matrix2d::Identity(), 1e-3),
      section_station("b", 2.0, twisted_and_sheared(10.0, 10.0), 1e-3, 45.0)};
  const std::vector<StrikeBand> bands = strike_bands(stations);
  REQUIRE(bands.size() == 3);
  CHECK_THAT(bands.front().min_period_s, WithinAbs(0.1, 1e-12));
  CHECK(bands.back().dimension.share(Dimensionality::section) > 0.9);
  CHECK(bands.back().of_stations.size() == 2);
  CHECK_THAT(bands.back().strike->azimuth_deg, WithinAbs(strike_deg, 0.5));
  CHECK_THAT(bands.back().tipper->azimuth_deg, WithinAbs(strike_deg, 1e-6));
  int n_rows = 0;
  for (const StrikeBand& band : bands) n_rows += band.strike->n_rows;
  CHECK(n_rows == 24);
}
