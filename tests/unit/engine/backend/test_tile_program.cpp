// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/fused_op.hpp"
#include "engine/generate/emit.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/tuple.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <cstring>

using namespace lodestone;
using namespace lodestone::engine;
using tests::same_bits;

namespace {

constexpr std::uint64_t n_patterns = 1 << 16;

/// Returns the bits of an element: of floats every sign, exponent and leading digits, of 8 bits every number,
/// of longer integers those whose products fit.
std::uint64_t pattern(DType dtype, std::uint64_t i) {
  const std::uint64_t rest = (i % 4 == 0 ? 0 : i * 0x9e3779b97f4a7c15) >> 16;
  const auto narrow = static_cast<std::int16_t>(i);
  if (dtype == DType::b8) return i % 3 == 0 ? 1 : 0;
  if (dtype == DType::f64) return i << 48 | rest;
  if (dtype == DType::f32) return i << 16 | (rest & 0xffff);
  if (dtype == DType::i64 || dtype == DType::u64)
    return static_cast<std::uint64_t>(narrow * std::int64_t{30000} + static_cast<std::int64_t>(rest % 30000));
  return core::is_integer(dtype) ? static_cast<std::uint64_t>(std::int64_t{narrow}) : i;
}

/// Returns all patterns in an order of their own for each odd `factor`.
Tensor patterns(DType dtype, std::uint64_t factor) {
  const Tensor result = new_array({{static_cast<Dim>(n_patterns / 16), 16}, dtype, default_device()});
  const DType part = core::real_of(dtype);
  const std::size_t size = core::size_of(part);
  std::byte* out = result.node().data();
  const auto put = [&](std::uint64_t i) {  // the first bytes of a number are its lowest
    const std::uint64_t bits = pattern(part, i % n_patterns);
    std::memcpy(out, &bits, size);
    out += size;
  };
  for (std::uint64_t i = 0; i < n_patterns; ++i) {
    put(i * factor);
    if (core::is_complex(dtype)) put(i * factor * 40503);
  }
  return result;
}

/// An op on patterns.
struct Case {
  const OpInfo& op;
  AttrsPtr attrs;
  Tensors in;
};

Expr expr_of(const Case& each, DType result) {
  ExprWriter writer;
  std::vector<Aval> avals;
  for (const Tensor& x : each.in) avals.push_back(x.aval());
  const Aval out{each.in[0].shape(), result, each.in[0].device()};
  const AxisMap map = each.op.axis_map({avals, out, each.attrs.get()});
  std::vector<ExprId> in;
  for (std::size_t i = 0; i < each.in.size(); ++i)
    in.push_back(writer.load(each.in[i].dtype(), map.inputs[i].from, out.shape));
  const Kernel& kernel = each.op.kernel(cpu, each.in[0].dtype());
  writer.store(append(writer, kernel, each.attrs.get(), in, result), out.shape);
  return writer.expr();
}

Tensor value_of(const Expr& expr, const Tensors& in, ExprFn function = nullptr) {
  const auto program = std::make_shared<const cpu_backend::TileProgram>(expr, function);
  const AttrsPtr attrs = make_attrs(TileAttrs{program});
  // The memory of the result is that of other numbers: what is not written is not right by chance.
  const Aval aval{in[0].shape(), expr.values[expr.stores[0].value].dtype, default_device()};
  std::memset(new_array(aval).node().data(), 1, aval.bytes());
  return elements_of(record(fused_op(), in, attrs, std::source_location::current()))[0].eval();
}

/// Returns which operands are one element.
std::vector<bool> are_one(const Tensors& in) {
  std::vector<bool> result;
  for (const Tensor& each : in) result.push_back(each.count() == 1);
  return result;
}

/// Calls visit(Case) for each row that is known element by element, on each of its dtypes.
template <class Visit>
void for_each_case(const Visit& visit) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const Tensors all{patterns(dtype, 1), patterns(dtype, 40503), patterns(dtype, 30011)};
    for (const OpInfo* row : tests::rows_with_expressions(dtype)) {
      Sampler sampler(dtype, 1);
      const AttrsPtr attrs = row->sample(sampler).attrs;
      for (int k = 0; k < core::n_dtypes && (row->name == "cast" || row->name == "select"); ++k) {
        const auto other = static_cast<DType>(k);
        const bool loses = core::is_complex(dtype) && !core::is_complex(other);
        if (row->name == "cast" && !loses) visit(Case{*row, make_attrs(CastAttrs{other}), {all[0]}});
        if (row->name == "select")
          visit(Case{*row, {}, {all[0], patterns(other, 40503), patterns(other, 30011)}});
      }
      if (row->name == "scale_shift") {
        const auto first_row = [](const Tensor& x) { return reshape(slice(x, 0, 0, 1), {16}); };
        visit(Case{*row, attrs, {all[0], first_row(all[1]), first_row(all[2])}});
      } else if (row->name == "adam_step") {
        visit(Case{*row, attrs, {all[0], all[1], all[2], full({}, 1e-3, dtype), full({}, 1.1, dtype)}});
      } else if (row->name != "cast" && row->name != "select") {
        visit(Case{*row, attrs, Tensors(all.begin(), all.begin() + row->n_inputs)});
      }
    }
  }
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
