// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/fused_op.hpp"
#include "engine/generate/emit.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/tuple.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"
#include "tests/unit/engine/row_expressions.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <cstring>

using namespace lodestone;
using namespace lodestone::engine;
using tests::are_one;
using tests::expr_of;
using tests::for_each_case;
using tests::patterns;
using tests::same_bits;
using Case = tests::RowCase;

namespace {

Tensor value_of(const Expr& expr, const Tensors& in, ExprFn function = nullptr) {
  const auto program = std::make_shared<const cpu_backend::TileProgram>(expr, function);
  const AttrsPtr attrs = make_attrs(TileAttrs{{program}});
  // The memory of the result is that of other numbers: what is not written is not right by chance.
  const Aval aval{in[0].shape(), expr.values[expr.stores[0].value].dtype, default_device()};
  std::memset(new_array(aval).node().data(), 1, aval.bytes());
  return elements_of(record(fused_op(), in, attrs, std::source_location::current()))[0].eval();
}

}  // namespace

TEST_CASE("expressions: of every row give the bits of its kernel", "[engine]") {
  int n_cases = 0;
  for_each_case([&](const Case& each) {
    const Tensor right = record(each.op, each.in, each.attrs, std::source_location::current()).eval();
    INFO(each.op.name << " of " << each.in[0].aval().text() << " to " << right.aval().text());
    const Expr expr = expr_of(each, right.dtype());
    CHECK(same_bits(value_of(expr, each.in), right));
    for (const Expr::Code& code : expr.codes) CHECK_FALSE(code.body->text.empty());
    ++n_cases;
  });
  CHECK(n_cases > 350);
}

TEST_CASE("expressions: text of every row gives the bits of its kernel", "[engine]") {
  tests::TestJit jit;
  int n_cases = 0;
  for_each_case([&](const Case& each) {
    const Tensor right = record(each.op, each.in, each.attrs, std::source_location::current()).eval();
    const Expr expr = expr_of(each, right.dtype());
    if (!has_text(expr)) return;
    INFO(each.op.name << " of " << each.in[0].aval().text() << " to " << right.aval().text());
    const GeneratedKernelPtr kernel = jit->kernel(kernel_text(expr, are_one(each.in)));
    REQUIRE(kernel->function() != nullptr);
    CHECK(same_bits(value_of(expr, each.in, kernel->function()), right));
    ++n_cases;
  });
  CHECK(n_cases > 250);
}

TEST_CASE("expressions: other words, contraction and a missing tail element of text are found", "[engine]") {
  tests::TestJit jit;
  const Tensors in{patterns(DType::f32, 1), patterns(DType::f32, 40503), patterns(DType::f32, 30011)};
  ExprWriter writer;
  std::vector<ExprId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(writer.load(DType::f32, {0, 1}, in[0].shape()));
  const ExprId product = writer.apply(op_named("multiply"), {ids[0], ids[1]});
  writer.store(writer.apply(op_named("subtract"), {product, ids[2]}), in[0].shape());
  const Tensor right = (in[0] * in[1] - in[2]).eval();
  const std::string text = kernel_text(writer.expr(), {false, false, false});
  const auto is_right = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    if (!from.empty()) changed.replace(changed.find(from), from.size(), to);
    const GeneratedKernelPtr kernel = jit->kernel(changed);
    REQUIRE(kernel->function() != nullptr);
    return same_bits(value_of(writer.expr(), in, kernel->function()), right);
  };
  CHECK(is_right("", ""));
  CHECK_FALSE(is_right("a - b", "b - a"));
  CHECK_FALSE(is_right("f1(v3, p2[i])", "std::fma(p0[i], p1[i], -p2[i])"));
  CHECK_FALSE(is_right("i < n_here", "i < n_here - 1"));
}

TEST_CASE("expressions: text of integers wraps as the kernels do", "[engine]") {
  // A compiler that takes sums for never too large finds x + 1 > x without computing it.
  tests::TestJit jit;
  const Tensor x = Tensor::from(std::vector<std::int32_t>{1, 2147483647, -1}, {3});
  ExprWriter writer;
  const ExprId at = writer.load(DType::i32, {0}, {3}), one = writer.number(Number(1), DType::i32);
  const ExprId next = writer.apply(op_named("add"), {at, one});
  const auto& kernels = op_named("greater").kernels[static_cast<std::size_t>(Backend::processor)];
  const LoopBody& greater = *kernels[static_cast<std::size_t>(DType::i32)].body;
  writer.store(writer.apply(greater, DType::b8, std::array{next, at}), {3});
  const GeneratedKernelPtr kernel = jit->kernel(kernel_text(writer.expr(), {false}));
  REQUIRE(kernel->function() != nullptr);
  CHECK(same_bits(value_of(writer.expr(), {x}, kernel->function()), value_of(writer.expr(), {x})));
  CHECK(value_of(writer.expr(), {x}, kernel->function()).to_vector<bool>()[1] == false);
}

TEST_CASE("expressions: functions keep their text", "[engine]") {
  const auto text = [](std::string_view name) {
    return op_named(name)
        .kernels[static_cast<std::size_t>(Backend::processor)][static_cast<std::size_t>(DType::f32)]
        .body->text;
  };
  CHECK(text("add") == "static_cast<T>(a + b)");
  CHECK(text("swish") == "x / (T(1) + vmath::exp(-x))");
  CHECK(text("sin") == "vmath::sin(x)");
}

TEST_CASE("expressions: another body, exchanged operands and another axis are found", "[engine]") {
  const Tensor x = patterns(DType::f32, 1), y = patterns(DType::f32, 40503);
  const auto wrong = [&](const OpInfo& op, const auto& change) {
    const Tensor right = record(op, {x, y}, {}, std::source_location::current()).eval();
    Expr expr = expr_of({op, {}, {x, y}}, DType::f32);
    REQUIRE(same_bits(value_of(expr, {x, y}), right));
    change(expr);
    return !same_bits(value_of(expr, {x, y}), right);
  };
  const Expr product = expr_of({op_named("multiply"), {}, {x, y}}, DType::f32);
  CHECK(wrong(op_named("add"), [&](Expr& expr) { expr.codes[0].body = product.codes[0].body; }));
  CHECK(wrong(op_named("subtract"), [](Expr& expr) { std::swap(expr.codes[0].in[0], expr.codes[0].in[1]); }));
  CHECK(wrong(op_named("add"), [](Expr& expr) { expr.loads[1].from[1] = AxisMap::added; }));
}
