// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "models/earths/synthetic.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <set>

using namespace lodestone;
using models::earths::synthetic_families;
using models::earths::synthetic_model;

TEST_CASE("synthetic models: no two are alike, and a number is the same one again", "[models]") {
  std::set<std::string> seen;
  for (const auto& family : synthetic_families()) {
    for (const int number : {0, 1}) {
      const std::string text = synthetic_model(family.name, number);
      CHECK(text == synthetic_model(family.name, number));
      seen.insert(text);
    }
  }
  CHECK(seen.size() == 2 * synthetic_families().size());
  CHECK_THAT(tests::error_of<core::InvalidArgument>([] { (void)synthetic_model("donut", 0); }),
             tests::HasId("unknown_family", {"donut"}));
}
