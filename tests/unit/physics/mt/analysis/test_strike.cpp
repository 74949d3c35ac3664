// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/check.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"
#include "physics/mt/analysis/rotation.hpp"
#include "physics/mt/analysis/sounding_bands.hpp"
#include "physics/mt/analysis/strike.hpp"
#include "physics/mt/analysis/strike_bands.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/section_stations.hpp"

#include <algorithm>
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

namespace {

/// Returns a station whose impedances became phase tensors in axes along `x_deg`; `sigma` 0: without errors.
StationData with_phase_tensors(const StationData& of_impedances, double sigma, double x_deg) {
  StationData out;
  out.site = of_impedances.site;
  const Eigen::Matrix2d r = axes_turned_by(x_deg);
  for (const StationRow& row : of_impedances.rows) {
    const Eigen::Matrix2d phi = r * phase_tensor(row)->value.phi * r.transpose();
    for (int k = 0; k < 4; ++k)
      (void)out.add({static_cast<Datum>(static_cast<int>(datum("phase_tensor_xx")) + k), row.frequency_hz,
                     phi(k / 2, k % 2), sigma > 0.0 ? sigma : not_given, x_deg});
  }
  return out;
}

}  // namespace

TEST_CASE("strike: files of phase tensors alone have bands with skew, dimension and strike",
          "[physics][mt]") {
  const StationData section = section_station("a", 2.0, twisted_and_sheared(20.0, -15.0), 1e-9);
  const std::vector<StationData> stations{with_phase_tensors(section, 1e-3, 0.0),
                                          with_phase_tensors(section, 1e-3, 25.0)};
  const auto found = phase_tensor_strike(stations);
  REQUIRE(found.has_value());
  CHECK(found->is_determined());
  CHECK_THAT(found->azimuth_deg, WithinAbs(strike_deg, 0.01));
  CHECK(found->rms < 1e-3);
  CHECK((found->n_stations == 2 && found->n_rows == 24));
  const std::vector<StrikeBand> bands = strike_bands(stations);
  REQUIRE(!bands.empty());
  int n_sections = 0;
  for (const StrikeBand& band : bands) {
    n_sections += band.dimension.of[static_cast<std::size_t>(Dimensionality::section)];
    CHECK(band.dimension.median_skew_deg < 1e-3);
    CHECK_THAT(band.strike->azimuth_deg, WithinAbs(strike_deg, 0.01));
  }
  CHECK(n_sections > 12);
  // Turned tensors of one station beside those of the other belong to no section.
  StationData turned = stations[0];
  for (Reading& reading : turned.readings) reading.azimuth_deg = 45.0;
  CHECK(phase_tensor_strike({stations[0], turned})->rms > 1.0);
}

TEST_CASE("strike: phase tensors without errors have a skew, no dimension and a finding", "[physics][mt]") {
  const std::vector<StationData> stations{
      with_phase_tensors(section_station("a", 2.0, Eigen::Matrix2d::Identity(), 1e-9), 0.0, 0.0)};
  const DimensionalityCounts counts = dimensionality(stations, 0.0, 1e9);
  CHECK(counts.n_determined() == 0);
  CHECK(std::isfinite(counts.median_skew_deg));
  const std::vector<Finding> findings = check(stations);
  const auto found = std::ranges::find(findings, std::string("no_errors"), &Finding::id);
  REQUIRE(found != findings.end());
  CHECK_THAT(found->text, Catch::Contains("12 of 12 phase tensors have no error"));
  CHECK_THAT(found->remedy, Catch::Contains("phase_tensor=0.03"));
}

TEST_CASE("sounding bands: a half-space has its resistivity, 45 degrees, its depths and no skew",
          "[physics][mt]") {
  constexpr double rho_ohm_m = 100.0;
  StationData station;
  for (const double period_s : {1.0, 2.0, 4.0, 20.0}) {
    StationRow row;
    row.frequency_hz = 1.0 / period_s;
    const double size = std::sqrt(2.0 * std::numbers::pi / period_s * mu0 * rho_ohm_m);
    row.values[Element::zxy] = std::polar(size, std::numbers::pi / 4.0);
    row.values[Element::zyx] = -row.values[Element::zxy];
    row.values[Element::zxx] = row.values[Element::zyy] = 0.0;
    station.rows.push_back(row);
  }
  station.rows.push_back({.frequency_hz = 1e-3});  // without an impedance
  station.sort();
  const std::vector<SoundingBand> bands = sounding_bands({station});
  REQUIRE(bands.size() == 2);
  CHECK((bands[0].min_period_s == 1.0 && bands[0].n_tensors == 3 && bands[1].n_tensors == 1));
  for (const SoundingBand& band : bands) {
    CHECK_THAT(band.rho_det_ohm_m, WithinAbs(rho_ohm_m, 1e-9));
    CHECK_THAT(band.rho_ssq_ohm_m, WithinAbs(rho_ohm_m, 1e-9));
    CHECK_THAT(band.phase_det_deg, WithinAbs(45.0, 1e-9));
    CHECK((band.swift_skew < 1e-12 && band.weaver[4] < 1e-12));
  }
  const auto depth_m = [](double period_s) {
    return std::sqrt(rho_ohm_m * period_s / (2.0 * std::numbers::pi * mu0));
  };
  CHECK_THAT(bands[0].shallow_m, WithinAbs(depth_m(1.0), 1e-6));
  CHECK_THAT(bands[0].deep_m, WithinAbs(depth_m(4.0), 1e-6));
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
