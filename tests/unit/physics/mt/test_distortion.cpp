// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/distortion.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;
using namespace lodestone::physics::mt;

namespace {

Survey two_stations(const std::vector<Datum>& quantities) {
  return full_survey({{"a", 0.0}, {"b", 100.0}}, {1.0, 10.0}, quantities);
}

}  // namespace

TEST_CASE("static shift: keys are ordered by mode, then by station", "[physics][mt]") {
  const auto keys = static_shift_keys(two_stations({Datum::log10_rho_xy, Datum::zyx_im, Datum::tzy_re}),
                                      {Mode::te, Mode::tm});
  REQUIRE(keys.size() == 4);
  CHECK(
      (keys[1].mode == Mode::te && keys[1].station == 1 && keys[2].mode == Mode::tm && keys[2].station == 0));
}

TEST_CASE("static shift: stations with phases alone and modes not asked for have none", "[physics][mt]") {
  CHECK(static_shift_keys(two_stations({Datum::phase_xy, Datum::tzy_im}), {Mode::te, Mode::tm}).empty());
  CHECK(static_shift_keys(two_stations({Datum::zxy_re, Datum::log10_rho_yx}), {Mode::tm}).size() == 2);
}
