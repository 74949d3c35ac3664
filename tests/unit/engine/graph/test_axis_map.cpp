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

TEST_CASE("axis map: every row says which labels it has and what they need of its inputs", "[engine]") {
  CHECK(axes_of("add", {{2, 3}, {2, 3}}, {2, 3}) == "[a, b] [a, b] -> [a, b]");
  CHECK(axes_of("transpose", {{2, 3, 4}}, {4, 2, 3}, make_attrs(TransposeAttrs{{2, 0, 1}})) ==
        "[b, c, a] -> [a, b, c]");
  CHECK(axes_of("broadcast_to", {{1, 3}}, {5, 2, 3}) == "[*, c] -> [a, b, c]");
  CHECK(axes_of("slice", {{4, 3}}, {2, 3}, make_attrs(SliceAttrs{{1, 0}, {2, 3}, {2, 1}})) ==
        "[2 a + 1, b] -> [a, b]");
  CHECK(axes_of("pad", {{4, 3}}, {9, 3}, make_attrs(PadAttrs{{1, 0}, {1, 0}, {1, 0}, 0.0})) ==
        "[(a - 1) / 2, b] -> [a, b]");
  CHECK(axes_of("concatenate", {{2}, {3}}, {5}, make_attrs(AxisAttrs{0})) == "[a] [a - 2] -> [a]");
  CHECK(axes_of("sum", {{2, 3, 4}}, {3}, make_attrs(ReduceAttrs{{0, 2}})) ==
        "[b, a, c] -> [a]; sum over b, c");
  CHECK(axes_of("argmax", {{2, 3}}, {3}, make_attrs(AxisAttrs{0})) == "[*, a] -> [a]");
  CHECK(axes_of("softmax", {{2, 3}}, {2, 3}, make_attrs(AxisAttrs{1})) == "[a, B] -> [a, B]");
  CHECK(axes_of("scale_shift", {{2, 3}, {3}, {3}}, {2, 3}) == "[a, b] [b] [b] -> [a, b]");
  CHECK(axes_of("dot_general", {{5, 2, 3}, {3, 4, 5}}, {5, 2, 4}, make_attrs(DotAttrs{{2}, {0}, {0}, {2}})) ==
        "[a, b, d] [d, c, a] -> [a, b, c]; sum over d");
  CHECK(axes_of("triangular_solve", {{5, 3, 3}, {5, 3, 2}}, {5, 3, 2}, make_attrs(SolveAttrs{})) ==
        "[a, B, *] [a, B, c] -> [a, B, c]");
  CHECK(axes_of("gather", {{7, 2, 6, 3}, {7, 5}}, {7, 2, 5, 3}, make_attrs(IndexAttrs{1, 2, 6})) ==
        "[a, b, @, d] [a, c] -> [a, b, c, d]");
  CHECK(axes_of("scatter_add", {{2, 5, 3}, {5}}, {2, 6, 3}, make_attrs(IndexAttrs{0, 1, 6})) ==
        "[a, d, c] [d] -> [a, B, c]; sum over d");
  CHECK(axes_of("max_pool", {{2, 9, 4}}, {2, 4, 4}, make_attrs(PoolAttrs{{3}, {2}, {1}, {0}})) ==
        "[a, 2 b + (0 ... 2) - 1, c] -> [a, b, c]");
  CHECK(axes_of("batch_norm", {{5, 3}, {3}, {3}}, {5, 3}, make_attrs(EpsilonAttrs{})) ==
        "[A, b] [b] [b] -> [A, b] [b] [b]");
  CHECK(axes_of("attention", {{5, 2, 3}, {7, 2, 3}, {7, 2, 4}}, {5, 2, 4}, make_attrs(AttentionAttrs{})) ==
        "[a, b, C] [D, b, C] [D, b, e] -> [a, b, e] [a, b]");
}

TEST_CASE("axis map: a convolution samples windows, and channels can be cut where they are one group",
          "[engine]") {
  ConvAttrs attrs{{2}, {1}, {0}, {3}, 1, {}};
  CHECK(axes_of("conv", {{2, 9, 4}, {3, 4, 6}}, {2, 2, 6}, make_attrs(attrs)) ==
        "[a, 2 b + 3 d - 1, e] [d, e, c] -> [a, b, c]; sum over d, e");
  attrs.spatial = {9};
  CHECK(axes_of("conv_transpose", {{2, 2, 6}, {3, 4, 6}}, {2, 9, 4}, make_attrs(attrs)) ==
        "[a, (b - 3 d + 1) / 2, e] [d, c, e] -> [a, b, c]; sum over d, e");
  attrs.spatial = {3};
  CHECK(axes_of("conv_weights", {{2, 9, 4}, {2, 2, 6}}, {3, 4, 6}, make_attrs(attrs)) ==
        "[d, 2 e + 3 a - 1, b] [d, e, c] -> [a, b, c]; sum over d, e");
  attrs.groups = 2;
  CHECK(axes_of("conv", {{2, 9, 4}, {3, 2, 6}}, {2, 2, 6}, make_attrs(attrs)) ==
        "[a, 2 b + 3 d - 1, *] [d, *, *] -> [a, b, C]; sum over d");
}

TEST_CASE("axis map: a reshape keeps axes, and the first of a group can be cut where rows end", "[engine]") {
  CHECK(axes_of_reshape({2, 3, 4}, {2, 12}) == "[a, b / 4, *] -> [a, b]; b by 4");
  CHECK(axes_of_reshape({2, 3, 4}, {6, 4}) == "[a / 3, *, b] -> [a, b]; a by 3");
  CHECK(axes_of_reshape({6, 2}, {3, 2, 2}) == "[2 a / 1, c] -> [a, B, c]");
  CHECK(axes_of_reshape({6, 4}, {8, 3}) == "[3 a / 4, *] -> [a, B]; a by 4");
  CHECK(axes_of_reshape({2, 3}, {3, 2}) == "[*, *] -> [A, B]");
  CHECK(axes_of_reshape({2, 3, 4}, {2, 1, 3, 4}) == "[a, c, d] -> [a, B, c, d]");
  CHECK(axes_of_reshape({2, 1, 3, 1}, {2, 3}) == "[a, *, b, *] -> [a, b]");
  CHECK(axes_of_reshape({2, 1, 1, 3}, {2, 1, 1, 3}) == "[a, b, c, d] -> [a, b, c, d]");
  CHECK(axes_of_reshape({2, 3, 5, 4}, {3, 2, 5, 2, 2}) == "[*, *, c, 2 d / 1] -> [A, B, c, d, E]");
  CHECK(axes_of_reshape({0, 4}, {0, 2}) == "[a, *] -> [a, B]");
  CHECK(axes_of_reshape({}, {1, 1}) == "[] -> [A, B]");
}

namespace {

struct Part {
  std::vector<Box> operands;
  std::string attrs;
};

/// Returns what a part of one label needs.
Part part_of(const char* op, const std::vector<Shape>& in, const Shape& out, const AttrsPtr& attrs, int label,
             AxisRange range) {
  std::vector<Aval> avals;
  for (const Shape& shape : in) avals.push_back({shape, DType::f64});
  const Aval result{out, DType::f64};
  const AxisMap map = op_named(op).axis_map({avals, result, attrs.get()});
  std::vector<AxisRange> labels = map.all();
  labels[static_cast<std::size_t>(label)] = range;
  return {operand_boxes(map, labels), attrs_of_part(map, attrs, labels)->text()};
}

}  // namespace

TEST_CASE("axis map: boxes of operands and attributes follow from a part of a label", "[engine]") {
  const AttrsPtr conv = make_attrs(ConvAttrs{{2}, {1}, {1}, {1}, 1, {}});
  // Places 2 p + q - 1 of windows p = 0, 1 and p = 3, 4 of five: the first has padding in front, the last
  // behind.
  const Part first = part_of("conv", {{2, 10, 4}, {3, 4, 6}}, {2, 5, 6}, conv, 1, {0, 2});
  CHECK(first.operands[0] == Box{{0, 0, 0}, {2, 4, 4}});
  CHECK(first.operands[1] == Box::whole({3, 4, 6}));
  CHECK(first.attrs == "stride=[2], low=[1], high=[0], dilation=[1], groups=1, spatial=[]");
  const Part last = part_of("conv", {{2, 10, 4}, {3, 4, 6}}, {2, 5, 6}, conv, 1, {3, 2});
  CHECK(last.operands[0] == Box{{0, 5, 0}, {2, 5, 4}});
  CHECK(last.attrs == "stride=[2], low=[0], high=[0], dilation=[1], groups=1, spatial=[]");

  const Part slice = part_of("slice", {{9}}, {3}, make_attrs(SliceAttrs{{7}, {3}, {-2}}), 0, {1, 2});
  CHECK(slice.operands[0] == Box{{3}, {3}});
  CHECK(slice.attrs == "first=[2], count=[2], step=[-2]");

  // Elements i stand at 2 i + 1, so that 3 and 5 are the only ones of places 2 ... 5.
  const Part pad = part_of("pad", {{4}}, {9}, make_attrs(PadAttrs{{1}, {1}, {1}, 0.0}), 0, {2, 4});
  CHECK(pad.operands[0] == Box{{1}, {2}});
  CHECK(pad.attrs == "low=[1], high=[0], inside=[1], value=0");

  const Part second = part_of("concatenate", {{2}, {3}}, {5}, make_attrs(AxisAttrs{0}), 0, {1, 3});
  CHECK(second.operands[0] == Box{{1}, {1}});
  CHECK(second.operands[1] == Box{{0}, {2}});

  const Part reshaped = part_of("reshape", {{6, 4}}, {8, 3}, make_attrs(ShapeAttrs{{8, 3}}), 0, {4, 4});
  CHECK(reshaped.operands[0] == Box{{3, 0}, {3, 4}});
  CHECK(reshaped.attrs == "shape=[4, 3]");
}

TEST_CASE("boxes: share what is in both", "[engine]") {
  const Box a{{0, 2}, {4, 3}}, b{{3, 0}, {2, 4}}, apart{{5, 0}, {1, 9}};
  CHECK(intersection(a, b) == Box{{3, 2}, {1, 2}});
  CHECK(intersection(a, b).count() == 2);
  CHECK(intersection(a, apart).is_empty());
  CHECK_FALSE(a.is_empty());
  CHECK(a.end(1) == 5);
  CHECK(a.text() == "[0:4, 2:5]");
}

TEST_CASE("axis map: attributes of an op change with one more axis in front as their roles say", "[engine]") {
  const auto after = [](const AttrsPtr& attrs) { return attrs->fit(NewAxis{9})->text(); };
  CHECK(after(make_attrs(ReduceAttrs{{0, 2}})) == "axes=[1, 3]");
  CHECK(after(make_attrs(ShapeAttrs{{4, 5}})) == "shape=[9, 4, 5]");
  CHECK(after(make_attrs(TransposeAttrs{{1, 0}})) == "order=[0, 2, 1]");
  CHECK(after(make_attrs(SliceAttrs{{1}, {2}, {-3}})) == "first=[0, 1], count=[9, 2], step=[1, -3]");
  CHECK(after(make_attrs(PadAttrs{{1}, {2}, {3}, 0.5})) ==
        "low=[0, 1], high=[0, 2], inside=[0, 3], value=0.5");
  CHECK(after(make_attrs(IndexAttrs{1, 2, 6})) == "batch=2, axis=3, extent=6");
  CHECK(after(make_attrs(DotAttrs{{1}, {0}, {0}, {2}})) ==
        "contract_a=[2], contract_b=[1], batch_a=[0, 1], batch_b=[0, 3]");
  const AttrsPtr blend = make_attrs(BlendAttrs{0.5, 0.5});
  CHECK(blend->fit(NewAxis{9}).get() == blend.get());
}

TEST_CASE("axis map: attributes follow an axis of one operand alone where they can say it", "[engine]") {
  const NewAxis of_first{9, ~std::uint64_t{1}}, of_second{9, ~std::uint64_t{2}};
  const AttrsPtr dot = make_attrs(DotAttrs{{1}, {0}, {0}, {2}});
  CHECK(dot->fit(of_first)->text() == "contract_a=[2], contract_b=[0], batch_a=[1], batch_b=[2]");
  CHECK(dot->fit(of_second)->text() == "contract_a=[1], contract_b=[1], batch_a=[0], batch_b=[3]");
  CHECK(make_attrs(IndexAttrs{0, 2, 6})->fit(of_first)->text() == "batch=0, axis=3, extent=6");
  CHECK(make_attrs(IndexAttrs{0, 2, 6})->fit(of_second)->text() == "batch=0, axis=2, extent=6");
  CHECK_FALSE(make_attrs(IndexAttrs{1, 2, 6})->fit(of_first));
}
