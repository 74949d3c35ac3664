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
  std::vector<std::vector<DirectedRow>> neighbours;
  for (int k = 0; k < 5; ++k) neighbours.push_back(directed_rows(station(k, 0.0)));
  for (const double wrong_deg : {40.0, 90.0, -60.0, 180.0}) {
    const auto turn = frame_turn(directed_rows(station(9, wrong_deg)), neighbours);
    REQUIRE(turn.has_value());
    CHECK(turn->is_wrong());
    CHECK_THAT(std::remainder(turn->turn_deg - wrong_deg, 360.0), WithinAbs(0.0, 5.0));
    CHECK(turn->n_rows == 10);
  }
  const auto right = frame_turn(directed_rows(station(9, 0.0)), neighbours);
  REQUIRE(right.has_value());
  CHECK_FALSE(right->is_wrong());
  neighbours.resize(2);
  CHECK_FALSE(frame_turn(directed_rows(station(9, 40.0)), neighbours).has_value());
}
