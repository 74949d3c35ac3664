// SPDX-License-Identifier: Apache-2.0
#include "engine/core/words.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using tests::error_of;
using tests::HasId;

namespace outside {

enum class Space { automatic, data, model };

constexpr auto words(Space) {
  using enum Space;
  return core::Words<Space>{{automatic, "auto"}, {data, "data"}, {model, "model"}};
}

}  // namespace outside

using outside::Space;

TEST_CASE("words: an enumeration of another namespace lists its words once, for both directions", "[core]") {
  STATIC_REQUIRE(core::word(Space::automatic) == "auto");
  STATIC_REQUIRE(core::find_word<Space>("model") == Space::model);
  STATIC_REQUIRE(!core::find_word<Space>("Model"));
  CHECK(core::parse<Space>("data", "run.toml:3") == Space::data);
  CHECK(core::all_words<Space>() == std::vector<std::string>{"auto", "data", "model"});
  STATIC_REQUIRE(!core::HasWords<core::ExitCode>);
}

TEST_CASE("words: another text is refused with its place, the allowed words and the nearest one", "[core]") {
  const auto typo = error_of<core::ConfigError>([] { (void)core::parse<Space>("modle", "run.toml:3"); });
  CHECK_THAT(typo,
             HasId("unknown_word", {"run.toml:3: ", "\"auto\"", "\"data\"", "\"model\"", "\"modle\"", "?"}));
  CHECK(typo.component() == "configuration");
  const auto other = error_of<core::FormatError>(
      [] { (void)core::parse<Space, core::FormatError>("colour", "result.h5: run/space"); });
  CHECK_THAT(other,
             HasId("unknown_word", {"result.h5: run/space", "\"colour\""}) && !HasId("unknown_word", {"?"}));
  CHECK_THAT(error_of<core::ConfigError>([] { (void)core::parse<Space>("", ""); }),
             HasId("unknown_word", {"[configuration] expected", "\"\""}));
}

TEST_CASE("words: an enumerator that is not listed is an error with its value", "[core]") {
  CHECK_THAT(error_of<core::InvalidArgument>([] { (void)core::word(static_cast<Space>(7)); }),
             HasId("unlisted_value", {"7", "\"auto\""}));
}
