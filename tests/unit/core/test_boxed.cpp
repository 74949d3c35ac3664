// SPDX-License-Identifier: Apache-2.0
#include "engine/core/boxed.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace lodestone;
using core::Boxed;

TEST_CASE("boxed: it is absent, then there, and copies own a value of their own", "[core]") {
  Boxed<std::string> box;
  CHECK_FALSE(box);
  box = "a";
  REQUIRE(box.has_value());
  Boxed<std::string> copy = box;
  *copy += "b";
  CHECK(*box == "a");
  CHECK(copy->size() == 2);
  box = copy;
  CHECK(*box == "ab");
  box.reset();
  CHECK_FALSE(box.has_value());
  CHECK(box.emplace(3, 'c') == "ccc");
  box = std::nullopt;
  CHECK_FALSE(box.has_value());
  box = std::optional<std::string>("d");
  CHECK(*box == "d");
}

TEST_CASE("boxed: the value itself may be assigned, as to an optional", "[core]") {
  Boxed<std::string> box = std::string(100, 'x');
  const std::string& value = *box;
  box = value;
  CHECK(value == std::string(100, 'x'));
  CHECK(&value == &*box);
}
