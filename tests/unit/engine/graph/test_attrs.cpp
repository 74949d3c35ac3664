// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/graph/member_count.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

struct None {};
struct Pair {
  int first, second;
};
struct Nested {
  Pair pair;
  std::array<std::byte, 16> bytes;
  const bool flag;
};
struct Owners {
  std::function<Tensors(const Tensors&)> rule;
  std::shared_ptr<const Pair> shared;
  std::unique_ptr<Pair> owned;
  std::optional<double> perhaps;
  std::string text;
  std::vector<double> list;
};
static_assert(member_count<None>() == 0);
static_assert(member_count<Pair>() == 2);
static_assert(member_count<Nested>() == 3);
static_assert(member_count<Owners>() == 6);
static_assert(member_count<DotAttrs>() == 4);
static_assert(member_count<ConvAttrs>() == 6);

}  // namespace

TEST_CASE("attributes: read as another type they throw with both names", "[engine]") {
  const AttrsPtr attrs = make_attrs(AxisAttrs{3});
  CHECK(attrs_as<AxisAttrs>(*attrs).axis == 3);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(attrs_as<CastAttrs>(*attrs)); }),
             HasId("wrong_attributes", {"CastAttrs", "AxisAttrs"}));
}

TEST_CASE("attributes: an op that is recorded with those of another op names itself and the line",
          "[engine]") {
  const Tensor x = ones({2, 3});
  const auto recorded = [&](const AttrsPtr& attrs) {
    return error_of<core::InvalidArgument>(
        [&] { static_cast<void>(record(op_named("sum"), {x}, attrs, std::source_location::current())); });
  };
  CHECK_THAT(recorded(make_attrs(CastAttrs{DType::f64})),
             HasId("wrong_attributes", {"[sum]", "ReduceAttrs", "CastAttrs", "test_attrs.cpp"}));
  CHECK_THAT(recorded({}), HasId("wrong_attributes", {"[sum]", "ReduceAttrs", "none", "test_attrs.cpp"}));
}

TEST_CASE("attributes: a rule and a kernel refuse those of another op", "[engine]") {
  const Tensor x = ones({2, 3});
  const AttrsPtr attrs = make_attrs(CastAttrs{DType::f64});
  const OpInfo& row = op_named("sum");
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(row.derivative.vjp({row, std::span(&x, 1), x, attrs, {}}, x, 0));
             }),
             HasId("wrong_attributes", {"ReduceAttrs", "CastAttrs"}));
  const KernelCall call{row, attrs.get(), {}, {}};
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(call.attrs_of<ReduceAttrs>()); }),
             HasId("wrong_attributes", {"ReduceAttrs", "CastAttrs"}));
}
