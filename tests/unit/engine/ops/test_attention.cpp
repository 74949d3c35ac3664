// SPDX-License-Identifier: Apache-2.0
// Attention of more words than a tile has, and what it promises: no array of words times words. Small shapes
// are test_op_rows.cpp's.
#include "engine/compile/compile.hpp"
#include "engine/ops/attention.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <array>
#include <limits>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::same_bits;

namespace {

Tensor drawn(const Shape& shape, DType dtype, std::uint64_t seed) {
  Sampler sampler(dtype, seed);
  return sampler.tensor(shape, -2, 2).eval();
}

/// Attention by the ops that its row is composed of, which keep all weights.
Tensor by_weights(const Tensors& x, const AttentionAttrs& attrs) {
  const OpInfo& op = op_named("attention");
  const Tensor no_output;
  const AttrsPtr kept = make_attrs(attrs);
  return get(op.decompose({op, x, no_output, kept, std::source_location::current()}), 0);
}

/// The largest deviation over the largest element.
double deviation(const Tensor& a, const Tensor& b) {
  return cast(max(abs(a - b)) / max(abs(b)), DType::f64).item<double>();
}

struct Words {
  Dim n, n_keys, heads, depth, columns;
};
/// Several blocks of queries, several tiles of keys, panels that are not full.
constexpr std::array<Words, 4> lengths{
    {{300, 300, 2, 5, 33}, {70, 600, 1, 64, 16}, {130, 1000, 2, 17, 1}, {600, 600, 1, 8, 8}}};

Tensors operands(const Words& of, DType dtype) {
  return {drawn({2, of.n, of.heads, of.depth}, dtype, 1), drawn({2, of.n_keys, of.heads, of.depth}, dtype, 2),
          drawn({2, of.n_keys, of.heads, of.columns}, dtype, 3)};
}

}  // namespace

TEST_CASE("attention: values and slopes are those of weights that are kept, for many words", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double limit = dtype == DType::f32 ? 2e-5 : 4e-14;
    for (const bool causal : {false, true}) {
      for (const Words& each : lengths) {
        const Tensors at = operands(each, dtype);
        const Tensor direction = drawn({2, each.n, each.heads, each.columns}, dtype, 4);
        const auto tiled = [&](const Tensors& x) -> Tensors {
          return {sum(direction * attention(x[0], x[1], x[2], {.scale = 0.4, .causal = causal}))};
        };
        const auto whole = [&](const Tensors& x) -> Tensors {
          return {sum(direction * by_weights(x, {0.4, causal}))};
        };
        INFO(core::name_of(dtype) << (causal ? ", causal, " : ", ") << each.n << " words, " << each.n_keys
                                  << " keys");
        CHECK(deviation(attention(at[0], at[1], at[2], {.scale = 0.4, .causal = causal}),
                        by_weights(at, {0.4, causal})) < limit);
        const Tensors slopes = value_and_grad(tiled, at).gradients,
                      expected = value_and_grad(whole, at).gradients;
        for (std::size_t i = 0; i < 3; ++i) CHECK(deviation(slopes[i], expected[i]) < limit);
      }
    }
  }
}

TEST_CASE("attention: a causal query depends on no bit of later words", "[engine]") {
  const Tensors at = operands({200, 200, 2, 8, 8}, DType::f32);
  const auto first_words = [](const Tensors& x) {
    return slice(attention(x[0], x[1], x[2], {.causal = true}), 1, 0, 150);
  };
  const auto changed = [](const Tensor& x) {
    return concatenate(Tensors{slice(x, 1, 0, 150), slice(x, 1, 150, 200) * 7.0 + 1.0}, 1);
  };
  CHECK(same_bits(first_words(at), first_words({at[0], changed(at[1]), changed(at[2])})));
  CHECK_FALSE(same_bits(attention(at[0], at[1], at[2], {.causal = true}),
                        attention(at[0], changed(at[1]), changed(at[2]), {.causal = true})));
}

TEST_CASE("attention: fewer queries than keys are the last ones", "[engine]") {
  const Tensors at = operands({300, 300, 1, 8, 8}, DType::f64);
  const Tensor all = attention(at[0], at[1], at[2], {.causal = true});
  const Tensor last = attention(slice(at[0], 1, 290, 300), at[1], at[2], {.causal = true});
  CHECK(deviation(last, slice(all, 1, 290, 300)) < 1e-14);
}

TEST_CASE("attention: scores of any size overflow nowhere", "[engine]") {
  const Tensors at = operands({100, 400, 1, 16, 4}, DType::f32);
  const Tensor far = attention(at[0] * 1e4, at[1], at[2], {.scale = 1.0});
  CHECK(cast(max(abs(far)), DType::f64).item<double>() <= 2.0);  // one value each, or a mean of some
  CHECK(deviation(far, by_weights({at[0] * 1e4, at[1], at[2]}, {1.0, false})) < 2e-5);
  // The first 256 keys, a tile, are out of reach: what comes before a finite score counts for nothing.
  const Tensor blocked =
      concatenate(Tensors{full({2, 256, 1, 16}, -std::numeric_limits<float>::infinity(), DType::f32),
                          slice(at[1], 1, 256, 400)},
                  1);
  const Tensor positive = abs(at[0]) + 0.1;
  const Tensor seen = attention(positive, blocked, at[2]),
               expected = attention(positive, slice(at[1], 1, 256, 400), slice(at[2], 1, 256, 400));
  CHECK(deviation(seen, expected) < 1e-6);
}

TEST_CASE("attention: a plan of it and its gradient takes less than one matrix of weights", "[engine]") {
  constexpr Dim n = 1500;
  const Tensors at = operands({n, n, 1, 8, 8}, DType::f32);
  const auto bytes_of = [&](const std::function<Tensor(const Tensors&)>& f) {
    const Compiled compiled = compile([&](const Tensors& x) {
      return value_and_grad([&](const Tensors& y) -> Tensors { return {sum(square(f(y)))}; }, x).gradients;
    });
    compiled(at);
    return static_cast<double>(compiled.stats().block_bytes);
  };
  constexpr double matrix = 2.0 * n * n * sizeof(float);
  CHECK(bytes_of([](const Tensors& x) { return attention(x[0], x[1], x[2], {.causal = true}); }) <
        0.2 * matrix);
  CHECK(bytes_of([](const Tensors& x) { return by_weights(x, {1.0, true}); }) > matrix);
}

TEST_CASE("attention: operands that do not fit are refused by name", "[engine]") {
  const Tensor q = drawn({5, 2, 4}, DType::f32, 1), few = drawn({3, 2, 4}, DType::f32, 2);
  const auto refused = [&](const Tensor& a, const Tensor& b, const Tensor& c, bool causal = false) {
    return error_of<core::ShapeError>([&] { static_cast<void>(attention(a, b, c, {.causal = causal})); });
  };
  CHECK_THAT(refused(q, few, few, true), HasId("too_few_keys"));
  CHECK_THAT(refused(q, slice(few, 0, 0, 0), slice(few, 0, 0, 0)), HasId("too_few_keys"));
  CHECK_THAT(refused(squeeze(slice(q, 0, 0, 1), 0), few, few), HasId("wrong_rank"));
  CHECK_THAT(refused(q, slice(few, 1, 0, 1), few), HasId("wrong_input"));
  CHECK_THAT(refused(q, few, q), HasId("wrong_input"));
}
