// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/pooling.hpp"

#include "engine/nn/checks.hpp"
#include "engine/ops/ops.hpp"

namespace lodestone::engine {
namespace {

/// Sums over windows of one axis: one strided view per element of the window.
Tensor window_sums(const Tensor& x, int axis, Dim window, Dim stride) {
  const Dim reach = (x.dim(axis) - window) / stride * stride + 1;
  Tensor total = slice(x, axis, 0, reach, stride);
  for (Dim i = 1; i < window; ++i) total = total + slice(x, axis, i, i + reach, stride);
  return total;
}

}  // namespace

Tensor MaxPool::operator()(const Located& x) const {
  return max_pool(x, {.window = options_.window,
                      .stride = options_.stride,
                      .low = options_.padding,
                      .high = options_.padding});
}

Tensor AvgPool::operator()(const Located& x) const {
  const auto& [window, stride_or_none, padding] = options_;
  const IntList& stride = stride_or_none.empty() ? window : stride_or_none;
  const int n = x.tensor.rank() - 2;
  bool fits = n >= 1 && window.size() == n && stride.size() == n && (padding.empty() || padding.size() == n);
  IntList around = IntList::filled(x.tensor.rank(), 0);
  for (int i = 0; fits && i < n; ++i) {
    around[1 + i] = padding.empty() ? 0 : padding[i];
    fits = window[i] >= 1 && stride[i] >= 1 && around[1 + i] >= 0 && around[1 + i] < window[i] &&
           x.tensor.shape()[1 + i] + 2 * around[1 + i] >= window[i];
  }
  if (!fits)
    throw core::ShapeError("AvgPool#wrong_window",
                           "expected x [n, spatial…, c] and a window that fits into it, got {} with window "
                           "{}, stride {}, padding {} {}",
                           x.tensor.aval().text(), window.text(), stride.text(), padding.text(),
                           at_line(x.where));
  Tensor y = padding.empty() ? x.tensor : pad(x, around, around);
  for (int i = 0; i < n; ++i) y = window_sums(y, 1 + i, window[i], stride[i]);
  return y * (1.0 / static_cast<double>(Shape(window).count()));
}

}  // namespace lodestone::engine
