// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/isa.hpp"
#include "engine/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using namespace lodestone::engine::cpu_backend;
using tests::error_of;
using tests::HasId;

TEST_CASE("isa: unknown names are refused with those there are, base is always there", "[engine]") {
  CHECK(isa_named("base") == Isa::base);
  CHECK_THROWS_AS(isa_named("avx"), core::InvalidArgument);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(isa_named("AVX2")); }),
             HasId("unknown_name", {"[LODESTONE_ISA]", "base", "avx2", "avx512", "\"AVX2\""}));
}

TEST_CASE("isa: every set up to the widest can be asked for, those past it say what this processor has",
          "[engine]") {
  bool is_past = false;
  for (const char* name : {"base", "avx2", "avx512"}) {
    try {
      const Isa which = isa_named(name);
      CHECK_FALSE(is_past);
      CHECK(which <= Isa::avx512);
    } catch (const core::DeviceError& error) {
      is_past = true;
      CHECK_THAT(error, HasId("not_on_this_processor", {name}));
    }
  }
}
