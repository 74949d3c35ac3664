// SPDX-License-Identifier: Apache-2.0
// What this shows: an op of one's own as a text of formulas. It runs in one pass over memory, has derivatives
// and batches, and can be looked at; a text that is no kernel is refused at its column.
//
// Equation: y = s x / (mean x² + ε)^(1/2) along each row, "RMS norm"
// source: Zhang & Sennrich 2019, arXiv:1910.07467
//
// Sample run: 14_write_kernel
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/timer.hpp"
#include "engine/dialect/kernel.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr const char* text =
    "rms_norm(x[n, k], s[k]) -> y[n, k]: m = mean(square(x), k); y = s * x / sqrt(m + 1e-6)";

/// Returns the same by ops, each of which goes over memory once.
Tensor by_ops(const Tensors& in) {
  return in[1] * in[0] / sqrt(mean(square(in[0]), Axes{1}, Keep::yes) + 1e-6);
}

/// Returns the seconds of the fastest of some calls.
double seconds_of(const std::function<Tensor()>& f) {
  double least = 1e30;
  for (int i = 0; i < 5; ++i) {
    const core::ScopedTimer timer("call");
    eval(Tensors{f()});
    least = std::min(least, timer.seconds());
  }
  return least;
}

bool same_bits(const Tensor& a, const Tensor& b) { return std::ranges::equal(a.bytes(), b.bytes()); }

}  // namespace

int main() {
  const Compiled rms_norm = kernel(text);
  const Tensor x = reshape(sin(iota(4000 * 500, DType::f32)), {4000, 500}).eval();
  const Tensor s = full({500}, 2.0).eval();

  const bool is_same = same_bits(rms_norm({x, s})[0], by_ops({x, s}));
  core::log::info("kernel {:.1f} ms, op by op {:.1f} ms", 1e3 * seconds_of([&] {
                                                            return rms_norm({x, s})[0];
                                                          }),
                  1e3 * seconds_of([&] {
                    return by_ops({x, s});
                  }));
  core::log::info("as it runs:\n{}", rms_norm.text(Stage::running));

  const auto loss = [&](const Tensor& scale) { return sum(square(rms_norm({x, scale})[0])); };
  core::log::info("slope of the sum of squares in s[0]: {:.4f}", grad(loss)(s).to_vector<float>()[0]);

  try {
    static_cast<void>(kernel("f(x[n]) -> y[n]: y = x * t"));
  } catch (const core::InvalidArgument& error) {
    core::log::info("refused: {}", error.what());
    return is_same ? 0 : 1;
  }
  return 1;
}
