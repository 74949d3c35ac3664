// SPDX-License-Identifier: Apache-2.0
// Kernels that are written as text give the bits of the ops that they name, and refuse what is no kernel.
#include "engine/core/random.hpp"
#include "engine/dialect/kernel.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/inspect/profile.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::same_bits;

namespace {

constexpr const char* gelu_text =
    "gelu(x[n, k], b[k]) -> y[n, k]: t = x + b; y = 0.5 * t * (1 + erf(t * 0.70710678118654752))";

Tensors gelu_by_hand(const Tensors& in) {
  const Tensor t = in[0] + in[1];
  return {0.5 * t * (1.0 + erf(t * 0.70710678118654752))};
}

Tensor sines(const Shape& shape, double scale) {
  return reshape(sin(iota(shape.count(), DType::f64) * scale), shape).eval();
}

/// A text beside the ops that it stands for.
struct Example {
  const char* text;
  Function by_hand;
  Tensors inputs;
};

std::vector<Example> examples() {
  const Tensor x = sines({5, 7}, 0.3), y = sines({7, 5}, 0.2), b = sines({7}, 0.9), c = sines({}, 0.0);
  return {
      {gelu_text, gelu_by_hand, {x, b}},
      {"softmax(x[n, k]) -> y[n, k]: e = exp(x - max(x, k)); y = e / sum(e, k)",
       [](const Tensors& in) -> Tensors {
         const Tensor e = exp(in[0] - max(in[0], Axes{1}, Keep::yes));
         return {e / sum(e, Axes{1}, Keep::yes)};
       },
       {x}},
      {"rms(x[n, k], scale[k]) -> y[n, k]: y = scale * x / sqrt(sum(square(x), k) / size(k) + 1e-6)",
       [](const Tensors& in) -> Tensors {
         return {in[1] * in[0] / sqrt(sum(square(in[0]), Axes{1}, Keep::yes) / 7.0 + 1e-6)};
       },
       {x, b}},
      {"mixed(x[n, k], y[k, n], c) -> z[k, n], s[n], m: z = x - y * c; s = mean(x * y, k); m = max(z, n, k)",
       [](const Tensors& in) -> Tensors {
         const Tensor turned = transpose(in[1]), z = in[0] - turned * in[2];
         return {transpose(z), mean(in[0] * turned, Axes{1}), max(z, Axes{0, 1})};
       },
       {x, y, c}},
      {"steps(x[n, k], b[k]) -> y[n, k], one[n]: y = select(x <= b, -x, 2 / 4 - 1); one = 1;",
       [](const Tensors& in) -> Tensors {
         return {select(less_equal(in[0], in[1]), -in[0], -0.5), ones({5}, in[0].dtype())};
       },
       {x, b}},
      {"spread(b[k], c) -> y[k]: y = logsumexp(b, k) + c",
       [](const Tensors& in) -> Tensors { return {broadcast_to(logsumexp(in[0], Axes{0}) + in[1], {7})}; },
       {b, c}},
  };
}

Tensors in_dtype(const Tensors& tensors, DType dtype) {
  Tensors result;
  for (const Tensor& each : tensors) result.push_back(cast(each, dtype).eval());
  return result;
}

/// Returns the errors of a text.
core::Error refused(std::string_view text) {
  return error_of<core::InvalidArgument>([&] { static_cast<void>(kernel(text)); });
}

}  // namespace

TEST_CASE("kernel text: values have the bits of its ops, plain, by tiles, and by text of C++", "[engine]") {
  tests::TestJit jit;
  for (const Example& each : examples()) {
    INFO(each.text);
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Tensors inputs = in_dtype(each.inputs, dtype);
      const Tensors right = each.by_hand(inputs);
      for (const Level level : {Level::O0, Level::O1})
        CHECK(same_bits(kernel(each.text, {.level = level})(inputs), right));
      CHECK(same_bits(tests::plan_of(kernel(each.text), inputs, Level::O1, *jit)->run(inputs), right));
    }
  }
}

TEST_CASE("kernel text: what fits into a cluster is one launch", "[engine]") {
  const Tensor x = sines({5, 7}, 0.3), b = sines({7}, 0.9);
  for (const Example& each : {examples()[0], examples()[1], examples()[2]}) {
    INFO(each.text);
    CHECK(tests::plan_of(kernel(each.text), each.inputs, Level::O1)->n_launches() == 1);
  }
}

TEST_CASE("kernel text: derivatives and batches are those of its ops", "[engine]") {
  for (const Example& each : {examples()[0], examples()[1], examples()[2]}) {
    INFO(each.text);
    const Compiled by_text = kernel(each.text);
    const auto slopes = [&](const Function& f) {
      return value_and_grad([&](const Tensors& in) -> Tensors { return {sum(sin(f(in)[0]))}; }, each.inputs)
          .gradients;
    };
    CHECK(same_bits(slopes(by_text), slopes(each.by_hand)));
    Tensors items;
    for (const Tensor& input : each.inputs) items.push_back(stack(Tensors{input, input * 0.5, input + 1.0}));
    CHECK(same_bits(vmap(by_text)(items), vmap(each.by_hand)(items)));
  }
}

TEST_CASE("kernel text: what is no kernel is refused at its column", "[engine]") {
  const std::string head = "f(x[n, k], b[k]) -> y[n, k]: ";  // formulas begin at column 30
  const auto at = [](int column) { return std::vector<std::string>{std::to_string(column)}; };
  CHECK_THAT(refused(""), HasId("syntax", at(1)));
  CHECK_THAT(refused("f x"), HasId("syntax", at(3)));
  CHECK_THAT(refused("f(x[n]) -> y[n]"), HasId("syntax", at(16)));
  CHECK_THAT(refused(head + "y = x +"), HasId("syntax", at(37)));
  CHECK_THAT(refused(head + "y = (x + b"), HasId("syntax", at(40)));
  CHECK_THAT(refused(head + "y = x b"), HasId("syntax", at(36)));
  CHECK_THAT(refused(head + "y = x ? b"), HasId("letter", at(36)));
  CHECK_THAT(refused(head + "y = x * 1e999"), HasId("number", at(38)));
  CHECK_THAT(refused(head + "y = x + t"), HasId("unknown_name", at(38)));
  CHECK_THAT(refused(head + "y = besselj(x)"), HasId("unknown_function", at(34)));
  CHECK_THAT(refused(head + "y = matmul(x, b)"), HasId("unknown_function", at(34)));
  for (const char* needs_attributes :
       {"blend(x, b)", "adam_step(x, x, x, b, b)", "checkpoint_name(x)", "cast(x)"})
    CHECK_THAT(refused(head + "y = " + needs_attributes), HasId("unknown_function", at(34)));
  CHECK_THAT(refused(head + "y = exp(x, b)"), HasId("arguments", at(34)));
  CHECK_THAT(refused(head + "x = b; y = x"), HasId("twice", at(30)));
  CHECK_THAT(refused(head + "y = x; y = b"), HasId("twice", at(37)));
  CHECK_THAT(refused(head + "t = x"), HasId("no_value", {"y"}));
  CHECK_THAT(refused(head + "y = sum(b, n)"), HasId("no_axis", at(41)));
  CHECK_THAT(refused(head + "y = sum(x)"), HasId("syntax", at(39)));
  CHECK_THAT(refused("f(x[n, n]) -> y[n]: y = x"), HasId("twice", at(8)));
  CHECK_THAT(refused("f(x[n], x[n]) -> y[n]: y = x"), HasId("twice", at(9)));
  CHECK_THAT(refused("f(x[n]) -> y[m]: y = x"), HasId("unknown_axis", at(14)));
  CHECK_THAT(refused("f(x[n, k]) -> y[n]: y = x"), HasId("more_axes", {"k"}));
  CHECK_THAT(refused("f(x[a, b, c, d, e], y[f, g, h, i]) -> z: z = 1"), HasId("many_axes", at(32)));
  CHECK_THAT(refused(head + "y = " + std::string(100000, '(')), HasId("deep"));
  CHECK_THAT(refused(head + "y = " + std::string(100000, '-') + "x"), HasId("deep"));
}

TEST_CASE("kernel text: arguments that do not fit are refused with what was expected", "[engine]") {
  const Compiled gelu = kernel(gelu_text);
  const Tensor x = sines({5, 7}, 0.3);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { gelu({x}); }), HasId("arguments", {"2", "1"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               gelu({x, sines({5}, 0.1)});
             }),
             HasId("shape", {"b[k]", "gelu"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               gelu({sines({7}, 0.1), sines({7}, 0.1)});
             }),
             HasId("shape", {"x[n, k]"}));
}

namespace {

/// A text of words drawn at random, the same for each seed.
std::string random_text(std::uint64_t seed) {
  static const std::vector<std::string> words{"x",
                                              "b",
                                              "y",
                                              "n",
                                              "k",
                                              "sum",
                                              "exp",
                                              "select",
                                              "size",
                                              "(",
                                              ")",
                                              "[",
                                              "]",
                                              ",",
                                              ";",
                                              ":",
                                              "=",
                                              "+",
                                              "-",
                                              "*",
                                              "/",
                                              "<",
                                              "->",
                                              "==",
                                              "1.5",
                                              "2e3",
                                              "f(x[n, k], b[k]) -> y[n, k]: ",
                                              "y = ",
                                              " ",
                                              "\x01",
                                              "\xff",
                                              "t",
                                              "blend(",
                                              "checkpoint_name("};
  const core::Philox random(11, seed);
  std::string text = seed % 2 == 0 ? "f(x[n, k], b[k]) -> y[n, k]: y = " : "";
  const auto n_words = static_cast<std::uint64_t>(random.uniform(0) * 12.0);
  for (std::uint64_t i = 1; i <= n_words; ++i)
    text += words[static_cast<std::size_t>(random.uniform(i) * static_cast<double>(words.size()))];
  return text;
}

/// Returns whether the ops of a kernel take such inputs; then they run on both levels, with the same bits.
bool runs_alike(const std::string& text, const Tensors& inputs) {
  Tensors right;
  try {
    static_cast<void>(Profile::of([&] {  // who watches sees the ops one by one
      right = kernel(text)(inputs);
      eval(right);
    }));
  } catch (const core::Error&) {
    return false;
  }
  INFO(text);
  for (const Level level : {Level::O0, Level::O1})
    CHECK(same_bits(kernel(text, {.level = level})(inputs), right));
  return true;
}

}  // namespace

TEST_CASE("kernel text: texts drawn at random are refused, or kernels that run", "[engine]") {
  constexpr std::uint64_t n_texts = 1'000'000;
  const Tensors inputs{sines({2, 3}, 0.3), sines({3}, 0.9)};
  std::uint64_t n_kernels = 0, n_runs = 0;
  for (std::uint64_t seed = 0; seed < n_texts; ++seed) {
    const std::string text = random_text(seed);
    try {
      static_cast<void>(kernel(text));
    } catch (const core::InvalidArgument&) {
      continue;
    }
    ++n_kernels;
    n_runs += runs_alike(text, inputs) ? 1 : 0;
  }
  CHECK(n_kernels > n_texts / 1000);
  CHECK(n_runs > n_kernels / 2);
}
