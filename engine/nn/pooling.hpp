// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/module.hpp"

namespace lodestone::engine {

/// Lists have one entry per spatial axis.
struct PoolLayerOptions {
  IntList window;
  IntList stride = {};   ///< empty: the window
  IntList padding = {};  ///< before and after, less than the window; empty: none
};

/// The largest of each window. shapes: [n, spatial…, c] → [n, spatial…, c].
class MaxPool : public Module {
 public:
  explicit MaxPool(PoolLayerOptions options) : options_(std::move(options)) {}
  /// Returns the largest element of each window. errors: ShapeError when window, stride or padding do not
  /// fit.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  PoolLayerOptions options_;
};

/// The mean of each window, padding counted as zeros. shapes: [n, spatial…, c] → [n, spatial…, c].
class AvgPool : public Module {
 public:
  explicit AvgPool(PoolLayerOptions options) : options_(std::move(options)) {}
  /// Returns the mean of each window. errors: ShapeError when window, stride or padding do not fit.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  PoolLayerOptions options_;
};

}  // namespace lodestone::engine
