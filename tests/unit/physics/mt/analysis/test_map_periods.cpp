// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/induction.hpp"
#include "physics/mt/analysis/map_periods.hpp"
#include "physics/mt/analysis/strike_bands.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone::physics::mt;

namespace {

/// Returns a station with rows at so many even periods, without values.
StationData measured(double shortest_s, double longest_s, int n) {
  StationData station;
  for (int k = 0; k < n; ++k)
    station.row_at(1.0 / (shortest_s * std::pow(longest_s / shortest_s, k / std::max(1.0, n - 1.0))));
  station.sort();
  return station;
}

}  // namespace

TEST_CASE("maps: their periods are decades that most stations cover, thinned out evenly") {
  const std::vector<StationData> broadband(3, measured(0.002, 2000.0, 40));
  CHECK(map_periods(broadband, 6) == std::vector{0.01, 0.1, 1.0, 10.0, 100.0, 1000.0});
  const std::vector<double> three = map_periods(broadband, 3);
  REQUIRE(three.size() == 3);
  CHECK(three.front() == Approx(0.01));
  CHECK(three.back() == Approx(1000.0));
  std::vector<StationData> with_long = broadband;
  with_long.push_back(measured(10.0, 3e4, 20));
  CHECK(map_periods(with_long, 9).back() == Approx(1000.0));  // one of four stations is not half of them
}

TEST_CASE("maps: few decades give way to steps between them, and nothing to nothing") {
  const std::vector<double> found = map_periods({measured(0.8, 40.0, 10)}, 6);
  REQUIRE(found.size() == 4);
  CHECK(found[0] == Approx(1.0));
  CHECK(found[1] == Approx(3.0));
  CHECK(found[3] == Approx(30.0));
  CHECK(map_periods({measured(4.0, 5.0, 3)}, 6).front() == Approx(std::sqrt(20.0)));
  CHECK(map_periods({StationData{}}, 6).empty());
  CHECK(map_periods({measured(1.0, 10.0, 3)}, 0).empty());
}

TEST_CASE("sections: periods are even in their logarithm and stay within the band") {
  const std::vector<double> periods = even_periods({measured(0.1, 100.0, 30)}, 4);
  REQUIRE(periods.size() == 13);
  CHECK(periods.front() == Approx(0.1));
  CHECK(periods[1] == Approx(0.1 * std::pow(10.0, 0.25)));
  CHECK(periods.back() == Approx(100.0));
  CHECK(even_periods({measured(3.0, 3.0, 1)}, 4).front() == Approx(3.0));
  CHECK(even_periods({StationData{}}, 4).empty());
}

TEST_CASE("arrows: those of Parkinson point towards a conductor, those of Wiese away from it") {
  // A current to the north lies in the east: at the station it makes H_z upwards where H_y is to the east.
  StationRow row;
  row.values[Element::tzx] = 0.0;
  row.values[Element::tzy] = {-0.3, 0.1};
  const auto parkinson = induction_arrows(row, ArrowConvention::parkinson);
  REQUIRE(parkinson);
  CHECK(parkinson->real.x == Approx(0.0));
  CHECK(parkinson->real.y == Approx(0.3));
  CHECK(parkinson->imaginary.y == Approx(-0.1));
  CHECK(parkinson->real.length() == Approx(0.3));
  CHECK(induction_arrows(row, ArrowConvention::wiese)->real.y == Approx(-0.3));
  row.values[Element::tzx] = not_given;
  CHECK_FALSE(induction_arrows(row, ArrowConvention::parkinson));
}

TEST_CASE("strike: its words name both azimuths, and tippers have one for each station") {
  CHECK(in_words(std::nullopt).empty());
  CHECK(in_words(Strike{.azimuth_deg = 34.0,
                        .error_deg = 5.0,
                        .rms = 1.0,
                        .worst_rms = 1.0,
                        .n_rows = 50,
                        .n_freedom = 199}) == "any");
  CHECK(in_words(Strike{.azimuth_deg = 34.0,
                        .error_deg = 5.0,
                        .rms = 1.0,
                        .worst_rms = 30.0,
                        .n_rows = 50,
                        .n_freedom = 199}) == "34 or 124 ± 5");
  StationData east, silent;
  StationRow& row = east.row_at(0.5);
  row.values[Element::tzx] = 0.0;
  row.values[Element::tzy] = {-0.3, 0.1};
  row.errors[Element::tzx] = row.errors[Element::tzy] = 0.01;
  const std::vector<StrikeBand> bands = strike_bands({east, silent});
  REQUIRE(bands.size() == 1);
  REQUIRE(bands.front().tippers_of_stations.size() == 1);
  CHECK(std::abs(std::remainder(bands.front().tippers_of_stations.front().azimuth_deg, 180.0)) < 1.0);
}
