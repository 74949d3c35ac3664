// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/look.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// An array that exists as shape and look only.
struct Seen {
  Aval aval;
  Look look;
};

Seen through(const char* op, const AttrsPtr& attrs, const Shape& shape, const Seen& of) {
  Seen result{of.aval, {}};
  result.aval.shape = shape;
  result.look = op_named(op).view(of.aval, of.look, attrs.get(), result.aval).value();
  return result;
}

}  // namespace

TEST_CASE("look: views of views follow without a node, as tensors have them", "[engine]") {
  const Tensor x = reshape(iota(24, DType::f64), {4, 6}).eval();
  const Tensor across = transpose(flip(slice(x, 0, 1, 4, 2), 1)), column = slice(across, 1, 1, 2),
               repeated = broadcast_to(column, {2, 6, 5});
  Seen seen{x.aval(), Look::dense(x.shape())};
  seen = through("slice", make_attrs(SliceAttrs{{1, 0}, {2, 6}, {2, 1}}), {2, 6}, seen);
  CHECK(seen.look == Look{6, {12, 1}});
  seen = through("slice", make_attrs(SliceAttrs{{0, 5}, {2, 6}, {1, -1}}), {2, 6}, seen);
  CHECK(seen.look == Look{11, {12, -1}});
  CHECK(seen.look.reach(seen.aval.shape).low == 6);
  CHECK(seen.look.reach(seen.aval.shape).high == 23);
  seen = through("transpose", make_attrs(TransposeAttrs{{1, 0}}), {6, 2}, seen);
  CHECK(seen.look == Look{11, {-1, 12}});
  CHECK(across.eval().node().look == seen.look);
  seen = through("slice", make_attrs(SliceAttrs{{0, 1}, {6, 1}, {1, 1}}), {6, 1}, seen);
  CHECK(seen.look == Look{23, {-1, 12}});

  CHECK(column.eval().node().look == seen.look);
  seen = through("broadcast_to", make_attrs(ShapeAttrs{{2, 6, 5}}), {2, 6, 5}, seen);
  CHECK(repeated.eval().node().look == seen.look);
  CHECK(seen.look == Look{23, {0, -1, 0}});
  CHECK_FALSE(seen.look.is_contiguous(seen.aval.shape));
  CHECK(repeated.to_vector<double>()[0] == 23.0);  // of row 3, its last element
}

TEST_CASE(
    "look: strides lead to the same elements where they differ along one element, or where there is none",
    "[engine]") {
  CHECK(same_steps({3, 1, 2}, {2, 7, 1}, {2, 2, 1}));
  CHECK_FALSE(same_steps({3, 2, 2}, {2, 7, 1}, {2, 2, 1}));
  CHECK(same_steps({4, 0}, {1, 4}, {1, 1}));
  CHECK_FALSE(same_steps({0}, {1}, {1, 1}));
}

TEST_CASE("look: a shape is changed without a copy where elements lie without gaps, from any start",
          "[engine]") {
  const Aval in{{2, 6}, DType::f32}, out{{3, 4}, DType::f32};
  const ViewRule reshaped = op_named("reshape").view;
  CHECK(reshaped(in, {7, {6, 1}}, nullptr, out) == Look{7, {4, 1}});
  CHECK_FALSE(reshaped(in, {7, {12, 1}}, nullptr, out).has_value());
  CHECK_FALSE(reshaped(in, {7, {0, 1}}, nullptr, out).has_value());
}
