// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/rows_by_text.hpp"

#include "benchmarks/mt_vae.hpp"
#include "benchmarks/turns.hpp"
#include "engine/ops/ops.hpp"

#include <fmt/format.h>

namespace lodestone::bench {
namespace {

using namespace engine;

Tensors softmax_of_rows(const Tensors& in) {
  const Tensor e = exp(in[0] - max(in[0], Axes{-1}, Keep::yes));
  return {e / sum(e, Axes{-1}, Keep::yes)};
}

/// x, scale and shift of the last axis.
Tensors layer_norm(const Tensors& in) {
  const Tensor centred = in[0] - mean(in[0], Axes{-1}, Keep::yes);
  const Tensor r = reciprocal(sqrt(mean(square(centred), Axes{-1}, Keep::yes) + 1e-5));
  return {scale_shift(centred * r, in[1], in[2])};
}

Tensors log_sum_exp(const Tensors& in) {
  const Tensor top = max(in[0], Axes{-1}, Keep::yes);
  return {log(sum(exp(in[0] - top), Axes{-1}, Keep::yes)) + top};
}

Tensors mean_square(const Tensors& in) { return {mean(square(in[0] - 1.0), Axes{-1})}; }

Tensors centred(const Tensors& in) { return {in[0] - mean(in[0], Axes{-1}, Keep::yes)}; }

void measure(Results& results, const std::string& name, const Function& f, const Tensors& in) {
  const Compiled interpreted = compile(f, {.by_text = false}), by_text = compile(f);
  const auto [seconds, seconds_by_text] = medians_of_turns(interpreted, by_text, in);
  results.add({name, "by text", "s", seconds_by_text, {}, "interpreter", seconds});
  results.add({name, "launches by text", "", static_cast<double>(by_text.stats().n_by_text), {}, {}, {}});
}

}  // namespace

void measure_rows_by_text(Results& results) {
  constexpr Dim small = Dim{1} << 16, large = Dim{1} << 24;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [n, row] : {std::pair{small, Dim{4}},
                                 {small, Dim{16}},
                                 {small, Dim{64}},
                                 {small, Dim{256}},
                                 {small, Dim{1024}},
                                 {large, Dim{512}}}) {
      const Tensors in{normals({n / row, row}, 1, dtype), normals({row}, 2, dtype), normals({row}, 3, dtype)};
      const auto named = [&, n = n, row = row](const char* what) {
        return fmt::format("{}, {} rows of {}, {}", what, n / row, row, core::name_of(dtype));
      };
      measure(results, named("softmax by hand"), softmax_of_rows, {in[0]});
      measure(results, named("layer norm by hand"), layer_norm, in);
      measure(results, named("log of a sum of exponentials"), log_sum_exp, {in[0]});
      measure(results, named("mean square"), mean_square, {in[0]});
      measure(results, named("difference from the mean"), centred, {in[0]});
    }
  }
}

}  // namespace lodestone::bench
