// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/generate/emit.hpp"
#include "engine/generate/text_parts.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;
using namespace lodestone::engine;

namespace {

const LoopBody& body(std::string_view row, DType dtype) {
  const auto& kernels = op_named(row).kernels[static_cast<std::size_t>(Backend::processor)];
  return *kernels[static_cast<std::size_t>(dtype)].body;
}

/// f(x) of one operand.
Expr one_op(std::string_view row, DType dtype, DType result) {
  ExprWriter writer;
  const ExprId x = writer.load(dtype, {0}, {8});
  writer.store(writer.apply(body(row, dtype), result, std::array{x}), {8});
  return writer.expr();
}

/// (x + y) z, z being a number.
Expr two_ops(double z, const Shape& shape) {
  ExprWriter writer;
  const IntList axes = IntList::counting(shape.rank());
  const ExprId x = writer.load(DType::f32, axes, shape), y = writer.load(DType::f32, axes, shape);
  const ExprId sum = writer.apply(op_named("add"), {x, y});
  writer.store(writer.apply(op_named("multiply"), {sum, writer.number(z, DType::f32)}), shape);
  return writer.expr();
}

int count(const std::string& text, std::string_view part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("text: a cluster is one loop of functions with the words of the kernels", "[engine]") {
  const std::string text = kernel_text(two_ops(0.5, {8}), {false, true});
  CHECK(text.find("using T = float;\n  using To = float;\n  return static_cast<T>(a + b);") !=
        std::string::npos);
  CHECK(text.find("return product(a, b);") != std::string::npos);
  CHECK(text.find("const float v1 = *reinterpret_cast<const float*>(in[1].data);") != std::string::npos);
  CHECK(text.find("const float v2 = f0(p0[i], v1);") != std::string::npos);
  CHECK(text.find("const float v4 = f1(v2, v3);\n      o0[i] = v4;") != std::string::npos);
  CHECK(count(text, "LODESTONE_LOOP") == 1);
}

TEST_CASE("text: numbers and shapes are no part of it, operands of one element are", "[engine]") {
  const std::string text = kernel_text(two_ops(0.5, {8}), {false, false});
  CHECK(kernel_text(two_ops(-3.0, {2, 5}), {false, false}) == text);
  CHECK(kernel_text(two_ops(0.5, {8}), {false, true}) != text);
}

TEST_CASE("text: a function that vectorizes for usual arguments only has a loop of its own", "[engine]") {
  ExprWriter writer;
  const ExprId x = writer.load(DType::f64, {0}, {8});
  const ExprId before = writer.apply(op_named("square"), {x}), sine = writer.apply(op_named("sin"), {before});
  writer.store(writer.apply(op_named("add"), {sine, before}), {8});
  const std::string text = kernel_text(writer.expr(), {false});
  constexpr std::string_view parts = "constexpr std::int64_t longest = 256;";
  CHECK(text.find(parts) != std::string::npos);
  CHECK(kernel_text(one_op("cos", DType::f32, DType::f32), {false}).find(parts) != std::string::npos);
  CHECK(kernel_text(one_op("exp", DType::f32, DType::f32), {false}).find(parts) == std::string::npos);
  CHECK(text.find("double t1[longest];") != std::string::npos);
  CHECK(text.find("n_unusual_1 += f1_is_usual(t1[i]) ? 0 : 1;") != std::string::npos);
  CHECK(text.find("const double v2 = f1_usual(t1[i]);\n      t2[i] = v2;") != std::string::npos);
  CHECK(text.find("const double v3 = f2(t2[i], t1[i]);\n      o0[i] = v3;") != std::string::npos);
}

namespace {

/// x − Σ x of rows, and the sums.
Expr row_ops(Dim row) {
  ExprWriter writer(row);
  const ExprId x = writer.load(DType::f32, {0, 1}, {8, row});
  const ExprId total = writer.reduce(*op_named("sum").kernel(cpu, DType::f32).row_body, x);
  writer.store(writer.apply(op_named("subtract"), {x, total}), {8, row});
  writer.store(total, {8});
  return writer.expr();
}

}  // namespace

TEST_CASE("text: rows are combined by the function of the kernels, between loops over places", "[engine]") {
  const std::string text = kernel_text(row_ops(100), {false});
  CHECK(text.find("return static_cast<T>(a + b);") != std::string::npos);
  CHECK(text.find("return combine(T(0), cpu_backend::combine_block(x, n, 1, combine));") !=
        std::string::npos);
  CHECK(text.find("const float v1 = f1(p0 + i * length, length);\n      t1[i] = v1;\n      o1[i] = v1;") !=
        std::string::npos);
  CHECK(text.find("const float v1 = t1[r];\n      LODESTONE_LOOP\n      for (std::int64_t i = r * length; "
                  "i < (r + 1) * length; ++i) {\n        const float v2 = f0(p0[i], v1);") !=
        std::string::npos);
  CHECK(kernel_text(row_ops(1000), {false}) == text);
  CHECK(count(whole_text(text), "#include") == 0);
  CHECK(count(whole_text(text), "T of_lanes(") == 1);
  CHECK(count(whole_text(kernel_text(two_ops(0.5, {8}), {false, false})), "T of_lanes(") == 0);
}

TEST_CASE("text: what a short row sees as one element is repeated beforehand", "[engine]") {
  const std::string text = kernel_text(row_ops(15), {false});
  CHECK(text.find("i < (r + 1) * length; ++i) s1[i] = t1[r];") != std::string::npos);
  CHECK(text.find("const float v2 = f0(p0[i], s1[i]);") != std::string::npos);
  CHECK(kernel_text(row_ops(2), {false}) == text);
  CHECK(kernel_text(row_ops(16), {false}) == kernel_text(row_ops(100), {false}));
}

TEST_CASE("text: an output is written once all have read the operand in whose place it may lie", "[engine]") {
  // y = 2 x, z = x − Σ y and 2 y, which may take the place of x.
  ExprWriter writer(100);
  const ExprId x = writer.load(DType::f32, {0, 1}, {8, 100}), y = writer.apply(op_named("add"), {x, x});
  const ExprId total = writer.reduce(*op_named("sum").kernel(cpu, DType::f32).row_body, y);
  const ExprId rest = writer.apply(op_named("subtract"), {x, total});
  const ExprId twice = writer.apply(op_named("add"), {y, y});
  const auto parts_of = [&](bool is_stored) {
    ExprWriter all = writer;
    all.store(rest, {8, 100});
    if (is_stored) all.store(twice, {8, 100});
    const Expr expr = all.expr();
    const TextParts parts(expr);
    std::vector<std::vector<ExprId>> result;
    for (const TextPart& each : parts.all()) result.push_back(each.values);
    return result;
  };
  CHECK(parts_of(true) == std::vector<std::vector<ExprId>>{{y}, {total}, {rest, twice}});
  CHECK(parts_of(false) == std::vector<std::vector<ExprId>>{{y, twice}, {total}, {rest}});
}

TEST_CASE("text: a whole file needs no header, and the functions of vmath where they are called",
          "[engine]") {
  const std::string sum = whole_text(kernel_text(two_ops(0.5, {8}), {false, false}));
  const std::string sine = whole_text(kernel_text(one_op("tanh", DType::f32, DType::f32), {false}));
  CHECK(count(sum, "#include") == 0);
  CHECK(count(sum, "tanh_of") == 0);
  CHECK(count(sine, "#include") == 0);
  CHECK(count(sine, "tanh_of") > 0);
}

TEST_CASE("text: complex and two-byte numbers, and floats that become most integers, have none", "[engine]") {
  CHECK(has_text(one_op("exp", DType::f32, DType::f32)));
  CHECK(has_text(one_op("negative", DType::i8, DType::i8)));
  CHECK_FALSE(has_text(one_op("exp", DType::c64, DType::c64)));
  CHECK_FALSE(has_text(one_op("abs", DType::c128, DType::f64)));
  CHECK_FALSE(has_text(one_op("copy", DType::bf16, DType::bf16)));
  const auto cast = [](DType from, DType to) {
    ExprWriter writer;
    const ExprId x = writer.load(from, {0}, {8});
    const AttrsPtr attrs = make_attrs(CastAttrs{to});
    const Kernel& kernel = op_named("cast").kernel(cpu, from);
    writer.store(append(writer, kernel, attrs.get(), std::array{x}, to), {8});
    return writer.expr();
  };
  CHECK(has_text(cast(DType::f64, DType::i64)));
  CHECK(has_text(cast(DType::i32, DType::u32)));
  CHECK(has_text(cast(DType::f64, DType::b8)));
  CHECK_FALSE(has_text(cast(DType::f32, DType::u8)));
  CHECK_FALSE(has_text(cast(DType::f32, DType::i8)));
  CHECK_FALSE(has_text(cast(DType::f32, DType::u32)));
  CHECK_FALSE(has_text(cast(DType::f64, DType::u64)));
}

TEST_CASE("text: a compiled function shows that of its clusters", "[engine]") {
  const Compiled f = compile([](const Tensors& in) -> Tensors { return {engine::tanh(in[0] * 2.0) + 1.0}; });
  CHECK(f.text(Stage::generated).empty());
  static_cast<void>(f({ones({8})}));
  CHECK(count(f.text(Stage::generated), "lodestone_kernel") == 1);
  CHECK(count(f.text(Stage::generated), "vmath::tanh(x)") == 1);
}
