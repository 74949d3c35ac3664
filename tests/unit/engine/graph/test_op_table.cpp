// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/rules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

TEST_CASE("op table: a row that lacks a rule, or has one too many, is refused", "[engine]") {
  OpInfo good;
  good.name = "never_added";
  good.infer = infer_alike;
  good.derivative.why_none = "it is refused";
  const auto refused = [&](const auto& spoil) {
    OpInfo row = good;
    spoil(row);
    return error_of<core::InvalidArgument>([&] { OpTable::global().add(row); });
  };
  CHECK_THAT(refused([](OpInfo& row) { row.name = "add"; }), HasId("op_exists", {"\"add\""}));
  CHECK_THAT(refused([](OpInfo& row) { row.infer = {}; }), HasId("no_shape_rule", {"never_added"}));
  CHECK_THAT(refused([](OpInfo& row) { row.derivative = {}; }), HasId("no_derivative", {"never_added"}));
  const auto two_rules = [](OpInfo& row) {
    row.derivative = op_named("multiply").derivative;
    row.derivative.pull_back = op_named("call").derivative.pull_back;
  };
  CHECK_THAT(refused(two_rules), HasId("two_reverse_rules", {"never_added", "vjp", "pull_back"}));
  CHECK_THAT(error_of<core::InvalidArgument>([] { static_cast<void>(op_named("never_added")); }),
             HasId("unknown_op", {"never_added"}));
}
