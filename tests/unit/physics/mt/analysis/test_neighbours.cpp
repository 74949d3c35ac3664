// SPDX-License-Identifier: Apache-2.0
#include "engine/core/random.hpp"
#include "physics/mt/analysis/neighbours.hpp"
#include "physics/mt/analysis/rotation.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;
using Catch::Matchers::WithinAbs;

namespace {

/// Returns a station over a section of strike 30° in channels turned by an angle that it does not state.
StationData station(int number, double wrong_deg) {
  const core::Philox random(3, static_cast<std::uint64_t>(number));
  StationData out;
  out.site.name = "s" + std::to_string(number);
  out.site.latitude_deg = 40.0 + 0.1 * number;
  out.site.longitude_deg = 10.0;
  out.site.y_m = not_given;
  for (int k = 0; k < 10; ++k) {
    const double shift = 0.05 * random.normal(static_cast<std::uint64_t>(k));
    const Eigen::Matrix2cd in_strike{{0.0, std::polar(1.5, 1.0 + shift)},
                                     {-std::polar(0.7, 0.5 - shift), 0.0}};
    const Eigen::Matrix2d r = axes_turned_by(wrong_deg - 30.0);
    const Eigen::Matrix2cd z = r * in_strike * r.transpose();
    const Eigen::Vector2d across = r * Eigen::Vector2d(0.0, 0.3 + shift);
    StationRow& row = out.row_at(std::pow(10.0, -0.3 * k));
    for (std::size_t i = 0; i < 4; ++i)
      row.values.numbers[i] = z(static_cast<Eigen::Index>(i) / 2, static_cast<Eigen::Index>(i) % 2);
    row.values[Element::tzx] = across[0];
    row.values[Element::tzy] = across[1];
  }
  return out;
}

}  // namespace

TEST_CASE("neighbours: a station whose axes are stated wrongly is turned back", "[physics][mt]") {
  std::vector<StationData> stations;
  for (int k = 0; k < 6; ++k) stations.push_back(station(k, 0.0));
  const FrameComparison comparison(stations);
  for (const double wrong_deg : {40.0, 90.0, -60.0, 180.0}) {
    const auto turn = comparison.turn_of(station(2, wrong_deg), 2);
    REQUIRE(turn.has_value());
    CHECK(turn->is_wrong());
    CHECK_THAT(std::remainder(turn->turn_deg - wrong_deg, 360.0), WithinAbs(0.0, 5.0));
    CHECK((turn->n_rows == 10 && turn->n_neighbours == 5));
  }
  const auto right = comparison.turn_of(2);
  REQUIRE(right.has_value());
  CHECK_FALSE(right->is_wrong());
  stations.resize(3);
  CHECK_FALSE(FrameComparison(stations).turn_of(2).has_value());
}

TEST_CASE("neighbours: one that is turned itself spoils no comparison, and near ones count more",
          "[physics][mt]") {
  std::vector<StationData> stations;
  for (int k = 0; k < 6; ++k) stations.push_back(station(k, k == 1 ? 90.0 : 0.0));
  CHECK_FALSE(FrameComparison(stations).turn_of(2)->is_wrong());
  CHECK(FrameComparison(stations).turn_of(1)->is_wrong());
  // Two of four agree with the station; where they stand tells which two count.
  const auto with_near = [](double near_deg, double far_deg) {
    std::vector<StationData> all;
    for (int k = 0; k < 5; ++k) all.push_back(station(k, k == 0 ? 0.0 : k < 3 ? near_deg : far_deg));
    return FrameComparison(all).turn_of(0).value();
  };
  CHECK_FALSE(with_near(0.0, 60.0).is_wrong());
  CHECK(with_near(60.0, 0.0).is_wrong());
}
