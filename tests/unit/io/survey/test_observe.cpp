// SPDX-License-Identifier: Apache-2.0
#include "io/survey/observe.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/section_stations.hpp"
#include "tests/support/warnings.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::physics::mt;
using namespace lodestone::tests;
using Catch::Matchers::WithinAbs;

namespace {

/// Returns stations over a section of strike 62°, on a line of this azimuth, with a distortion each.
std::vector<StationData> stations_on_line(double azimuth_deg, double contrast) {
  std::vector<StationData> out;
  for (int k = 0; k < 4; ++k) {
    out.push_back(section_station(std::string("s") + static_cast<char>('a' + k), contrast,
                                  twisted_and_sheared(10.0 - 5.0 * k, 4.0 * k), 1e-3, 20.0 * k));
    out.back().site.latitude_deg = 0.05 * k * std::cos(azimuth_deg / deg_per_rad);
    out.back().site.longitude_deg = 0.05 * k * std::sin(azimuth_deg / deg_per_rad);
    out.back().site.y_m = not_given;
  }
  return out;
}

const Selection impedances{.data = {Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im}};

}  // namespace

TEST_CASE("observe: a station in the other hemisphere is warned of", "[survey]") {
  std::vector<StationData> stations = stations_on_line(152.0, 1.6);
  for (StationData station : stations_on_line(152.0, 1.6)) {
    station.site.name += "2";
    station.site.latitude_deg -= 0.2;
    stations.push_back(std::move(station));
  }
  for (StationData& station : stations) station.site.latitude_deg -= 25.0;
  const auto said = [&] {
    return text_with(warnings_of([&] { static_cast<void>(io::survey::observe(stations, {}, impedances)); }),
                     "io::survey::observe#wrong_place");
  };
  CHECK(said().empty());
  stations[2].site.latitude_deg = -stations[2].site.latitude_deg;
  CHECK_THAT(said(), Catch::Contains("station sc") && Catch::Contains("mt_invert check"));
}

TEST_CASE("observe: the strike of the data turns tensors, and stations are projected along it", "[survey]") {
  const std::vector<StationData> stations = stations_on_line(130.0, 2.0);
  const Observations across = io::survey::observe(stations, {}, impedances);
  CHECK_THAT(across.azimuth_deg, WithinAbs(40.0, 0.2));
  const Observations found = io::survey::observe(stations, {.strike = StrikeChoice::from_data}, impedances);
  CHECK_THAT(found.azimuth_deg, WithinAbs(strike_deg, 0.2));
  CHECK_THAT(found.profile.azimuth_deg, WithinAbs(strike_deg + 90.0, 0.2));
  const double shrink = std::cos((strike_deg + 90.0 - 130.0) / deg_per_rad);
  CHECK_THAT(found.profile.y_m[3] - found.profile.y_m[0],
             WithinAbs(shrink * (across.profile.y_m[3] - across.profile.y_m[0]), 30.0));
  const Observations stated =
      io::survey::observe(stations, {.azimuth_deg = 130.0, .strike_deg = 50.0}, impedances);
  CHECK(stated.azimuth_deg == 50.0);
  CHECK(stated.profile.azimuth_deg == 130.0);
}

TEST_CASE("observe: where files state phase tensors and no impedances, the strike is theirs", "[survey]") {
  std::vector<StationData> stations = stations_on_line(130.0, 2.0);
  for (StationData& station : stations)
    for (StationRow& row : station.rows) {
      const Eigen::Matrix2d phi = phase_tensor(row)->value.phi;
      for (int k = 0; k < 4; ++k)
        (void)station.add({static_cast<Datum>(static_cast<int>(datum("phase_tensor_xx")) + k),
                           row.frequency_hz, phi(k / 2, k % 2), 1e-3, 0.0});
      for (const Element each : {Element::zxx, Element::zxy, Element::zyx, Element::zyy})
        row.values[each] = StationRow::missing_values()[each];
    }
  const Selection tippers{.data = {Datum::tzy_re, Datum::tzy_im}};
  const Observations across = io::survey::observe(stations, {}, tippers);
  CHECK_THAT(across.azimuth_deg, WithinAbs(40.0, 0.2));
  const Observations found = io::survey::observe(stations, {.strike = StrikeChoice::from_data}, tippers);
  CHECK_THAT(found.azimuth_deg, WithinAbs(strike_deg, 0.5));
  CHECK_THAT(found.profile.azimuth_deg, WithinAbs(strike_deg + 90.0, 0.5));
}

TEST_CASE("observe: decades whose strikes differ are named with their strikes", "[survey]") {
  std::vector<StationData> stations = stations_on_line(130.0, 2.0);
  const auto warning = [&](double max_period_s) -> std::string {
    Selection selection = impedances;
    selection.max_period_s = max_period_s;
    for (const auto& each : warnings_of(
             [&] { (void)io::survey::observe(stations, {.strike = StrikeChoice::from_data}, selection); }))
      if (each.id.ends_with("#strike_of_decades")) return each.text;
    return "";
  };
  CHECK(warning(1e6).empty());
  for (StationData& station : stations)
    for (StationRow& row : station.rows)
      if (1.0 / row.frequency_hz >= 10.0) row.azimuths = ChannelAzimuths::along(row.azimuths.hx_deg + 30.0);
  CHECK_THAT(warning(1e6), Catch::Contains("0.1 to 1 s 62 or 152 ± 2, ") &&
                               Catch::Contains("10 to 100 s 2 or 92 ± 1 degrees") &&
                               Catch::Contains("data.period_min_s") && Catch::Contains("--dim 3"));
  CHECK(warning(5.0).empty());  // none is named that is not used
}

TEST_CASE("observe: layers have no strike, and a line along strike is warned of", "[survey]") {
  Observations observed;
  const auto warns = [&](double azimuth_deg, double contrast, const std::string& id) {
    const auto warnings = warnings_of([&] {
      observed = io::survey::observe(stations_on_line(azimuth_deg, contrast),
                                     {.strike = StrikeChoice::from_data}, impedances);
    });
    return std::ranges::any_of(warnings, [&](const auto& each) { return each.id.ends_with("#" + id); });
  };
  CHECK(warns(130.0, 1.0, "no_strike"));
  CHECK_THAT(observed.azimuth_deg, WithinAbs(40.0, 0.2));
  CHECK(warns(strike_deg, 2.0, "other_strike"));
  CHECK_THAT(std::abs(std::remainder(observed.azimuth_deg - strike_deg, 180.0)), WithinAbs(90.0, 0.3));
  CHECK_FALSE(warns(130.0, 2.0, "other_strike"));
}
