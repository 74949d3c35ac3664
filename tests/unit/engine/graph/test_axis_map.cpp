// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// Returns what the row says for inputs and an output of these shapes.
std::string axes_of(const char* op, const std::vector<Shape>& in, const Shape& out,
                    const AttrsPtr& attrs = {}) {
  std::vector<Aval> avals;
  for (const Shape& shape : in) avals.push_back({shape, DType::f64});
  const Aval result{out, DType::f64};
  return op_named(op).axis_map({avals, result, attrs.get()}).text();
}

std::string axes_of_reshape(const Shape& in, const Shape& out) { return axes_of("reshape", {in}, out); }

}  // namespace

TEST_CASE("axis map: every row says whether its axes come from an input's, are new, sum over or whole",
          "[engine]") {
  CHECK(axes_of("add", {{2, 3}, {2, 3}}, {2, 3}) == "0, 1 | 0, 1");
  CHECK(axes_of("transpose", {{2, 3, 4}}, {4, 2, 3}, make_attrs(TransposeAttrs{{2, 0, 1}})) == "2, 0, 1");
  CHECK(axes_of("broadcast_to", {{1, 3}}, {5, 2, 3}) == "new, new, 1");
  CHECK(axes_of("slice", {{4, 3}}, {2, 3}, make_attrs(SliceAttrs{{1, 0}, {2, 3}, {1, 1}})) == "whole, 1");
  CHECK(axes_of("sum", {{2, 3, 4}}, {3}, make_attrs(ReduceAttrs{{0, 2}})) == "1; sum over 0, 2");
  CHECK(axes_of("argmax", {{2, 3}}, {3}, make_attrs(AxisAttrs{0})) == "1");
  CHECK(axes_of("softmax", {{2, 3}}, {2, 3}, make_attrs(AxisAttrs{1})) == "0, whole");
  CHECK(axes_of("scale_shift", {{2, 3}, {3}, {3}}, {2, 3}) == "0, 1 | new, 0 | new, 0");
  CHECK(axes_of("dot_general", {{5, 2, 3}, {3, 4, 5}}, {5, 2, 4}, make_attrs(DotAttrs{{2}, {0}, {0}, {2}})) ==
        "0, 1, new; sum over 2 | 2, new, 1; sum over 0");
  CHECK(axes_of("triangular_solve", {{5, 3, 3}, {5, 3, 2}}, {5, 3, 2}, make_attrs(SolveAttrs{})) ==
        "0, whole, new | 0, whole, 2");
  CHECK(axes_of("gather", {{7, 2, 6, 3}, {7, 5}}, {7, 2, 5, 3}, make_attrs(IndexAttrs{1, 2, 6})) ==
        "0, 1, whole, 3 | 0, new, 1, new");
  CHECK(axes_of("scatter_add", {{2, 5, 3}, {5}}, {2, 6, 3}, make_attrs(IndexAttrs{0, 1, 6})) ==
        "0, whole, 2; sum over 1 | new, whole, new; sum over 0");
}

TEST_CASE("axis map: channels of a convolution are alike where they are one group", "[engine]") {
  ConvAttrs attrs{{1}, {0}, {0}, {1}, 1, {}};
  CHECK(axes_of("conv", {{2, 9, 4}, {3, 4, 6}}, {2, 7, 6}, make_attrs(attrs)) ==
        "0, whole, new; sum over 2 | new, whole, 2; sum over 1");
  attrs.groups = 2;
  CHECK(axes_of("conv", {{2, 9, 4}, {3, 2, 6}}, {2, 7, 6}, make_attrs(attrs)) ==
        "0, whole, whole | new, whole, whole");
}

TEST_CASE("axis map: a reshape keeps the axes with as many steps in front of them", "[engine]") {
  CHECK(axes_of_reshape({2, 3, 4}, {2, 12}) == "0, whole");
  CHECK(axes_of_reshape({2, 3, 4}, {6, 4}) == "whole, 2");
  CHECK(axes_of_reshape({6, 2}, {3, 2, 2}) == "whole, whole, 1");
  CHECK(axes_of_reshape({2, 3, 4}, {2, 1, 3, 4}) == "0, new, 1, 2");
  CHECK(axes_of_reshape({2, 1, 3, 1}, {2, 3}) == "0, 2");
  CHECK(axes_of_reshape({2, 1, 1, 3}, {2, 1, 1, 3}) == "0, 1, 2, 3");
  CHECK(axes_of_reshape({2, 3, 5, 4}, {3, 2, 5, 2, 2}) == "whole, whole, 2, whole, whole");
  CHECK(axes_of_reshape({0, 4}, {0, 2}) == "0, whole");
  CHECK(axes_of_reshape({}, {1, 1}) == "new, new");
}

TEST_CASE("axis map: attributes of an op change with one more axis in front as their roles say", "[engine]") {
  const auto after = [](const AttrsPtr& attrs) { return attrs->with_axis_in_front(9)->text(); };
  CHECK(after(make_attrs(ReduceAttrs{{0, 2}})) == "axes=[1, 3]");
  CHECK(after(make_attrs(ShapeAttrs{{4, 5}})) == "shape=[9, 4, 5]");
  CHECK(after(make_attrs(TransposeAttrs{{1, 0}})) == "order=[0, 2, 1]");
  CHECK(after(make_attrs(SliceAttrs{{1}, {2}, {-3}})) == "first=[0, 1], count=[9, 2], step=[1, -3]");
  CHECK(after(make_attrs(IndexAttrs{1, 2, 6})) == "batch=2, axis=3, extent=6");
  CHECK(after(make_attrs(DotAttrs{{1}, {0}, {0}, {2}})) ==
        "contract_a=[2], contract_b=[1], batch_a=[0, 1], batch_b=[0, 3]");
  const AttrsPtr blend = make_attrs(BlendAttrs{0.5, 0.5});
  CHECK(blend->with_axis_in_front(9).get() == blend.get());
}

TEST_CASE("axis map: attributes of an op follow an extent of its output", "[engine]") {
  const auto after = [](const AttrsPtr& attrs) { return attrs->with_extent(1, 9)->text(); };
  CHECK(after(make_attrs(ShapeAttrs{{4, 5}})) == "shape=[4, 9]");
  CHECK(after(make_attrs(SliceAttrs{{1, 0}, {2, 5}, {-3, 1}})) == "first=[1, 0], count=[2, 9], step=[-3, 1]");
  const AttrsPtr pad = make_attrs(PadAttrs{{1, 0}, {0, 0}, {0, 0}, 0.0});
  CHECK(pad->with_extent(1, 9).get() == pad.get());
}
