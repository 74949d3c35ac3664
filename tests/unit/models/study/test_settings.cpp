// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "models/study/settings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <string>

using namespace lodestone;
using namespace lodestone::models;
using tests::HasId;

TEST_CASE("variants change one weight by a factor of ten, of every method", "[models]") {
  const study::Settings usual;
  CHECK(study::with_variant(usual, "").feature.code == usual.feature.code);
  CHECK(study::with_variant(usual, "code x10").feature.code == Approx(10.0 * usual.feature.code));
  CHECK(study::with_variant(usual, "code x10").feature.between == usual.feature.between);
  CHECK(study::with_variant(usual, "horizontal /10").pixel.horizontal ==
        Approx(0.1 * usual.pixel.horizontal));
  for (const char* variant : {"code x2", "vertical x10"})
    CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)study::with_variant(usual, variant); }),
               HasId("unknown_variant", {variant}));
}
