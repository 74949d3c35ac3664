// SPDX-License-Identifier: Apache-2.0
#include "engine/core/comparison.hpp"
#include "tests/support/catch.hpp"

#include <limits>

using lodestone::core::all_pass;
using lodestone::core::Comparison;

TEST_CASE("comparisons: all pass within their limits, where there are any and they are judged", "[core]") {
  const Comparison within{.what = "a", .limit = 0.5, .difference = -0.5};
  const Comparison beyond{.what = "b", .limit = 0.5, .difference = -0.6};
  const Comparison shown{.what = "c", .limit = 0.5, .difference = 9.0, .judged = false};
  const Comparison none{.what = "d",
                        .limit = std::numeric_limits<double>::infinity(),
                        .difference = std::numeric_limits<double>::quiet_NaN()};
  CHECK(all_pass({within, shown}));
  CHECK_FALSE(all_pass({within, beyond}));
  CHECK_FALSE(all_pass({within, none}));
  CHECK_FALSE(all_pass({}));
}
