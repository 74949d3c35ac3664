// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of functions that read values.
#pragma once

#include "engine/compile/compile.hpp"
#include "engine/core/random.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/ops/ops.hpp"

#include <array>
#include <cmath>

namespace lodestone::tests {

/// Returns numbers between -1 and 1 that depend on the seed.
inline engine::Tensor finite(const engine::Shape& shape, std::uint64_t seed,
                             engine::DType dtype = engine::DType::f64) {
  const core::Philox random(seed, 0);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(random.normal(i));
  return cast(engine::Tensor::from(values, shape), dtype).eval();
}

inline double number(const engine::Tensor& x) { return sum(x).item<double>(); }

/// Returns the number of kernels that f runs, op by op.
inline std::int64_t n_kernels(const std::function<void()>& f) {
  std::int64_t n = 0;
  const engine::ExecutionObserver observer(
      [&](const engine::Node& node) { n += engine::is_view(node) ? 0 : 1; });
  f();
  return n;
}

/// Numbers that a compiled function has counted since the last look.
class SegmentCounts {
 public:
  explicit SegmentCounts(const engine::Compiled& f) : f_(f) {}
  /// Returns segments by plan, segments op by op, plans made and launches.
  std::vector<std::int64_t> take() {
    const engine::CompileStats now = f_.stats();
    const std::array all{now.n_segments, now.n_op_by_op, now.n_plans, now.n_launches};
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < all.size(); ++i) result.push_back(all[i] - std::exchange(before_[i], all[i]));
    return result;
  }

 private:
  const engine::Compiled& f_;
  std::array<std::int64_t, 4> before_{};
};

/// Twelve elementwise ops, which make a plan.
inline engine::Tensor wave(engine::Tensor x) {
  for (int i = 0; i < 3; ++i) x = sin(x * 0.5 + 1.0) - x;
  return x;
}

}  // namespace lodestone::tests
