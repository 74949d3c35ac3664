// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/initial_values.hpp"
#include "engine/nn/module.hpp"

namespace lodestone::engine {

struct BatchNormOptions {
  double epsilon = 1e-5;  ///< added to the variance
  double momentum = 0.1;  ///< share of the newest batch in the running statistics
};

/// Every channel with zero mean and unit variance over batch and space, times "scale", plus "shift" (both
/// [channels], 1 and 0 at first). Training uses the batch's statistics and updates "running_mean" and
/// "running_variance" (the latter without bias, n / (n − 1)); evaluation uses those. shapes: [n, …, channels]
/// → the same. source: Ioffe & Szegedy 2015, arXiv:1502.03167
class BatchNorm : public Module {
 public:
  BatchNorm(Dim channels, InitialValues& initial, const BatchNormOptions& options = {});
  /// Returns x normalized. errors: ShapeError for another number of channels, or fewer than two numbers per
  /// channel in training.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  void update_statistics(const Located& mean, const Located& variance, double n) const;
  BatchNormOptions options_;
  Variable scale_, shift_, running_mean_, running_variance_;
};

struct LayerNormOptions {
  double epsilon = 1e-5;  ///< added to the variance
};

/// Every item with zero mean and unit variance over its last axes, times "scale", plus "shift" (both of the
/// shape of these axes). shapes: [batch…, shape…] → the same. source: Ba et al. 2016, arXiv:1607.06450
class LayerNorm : public Module {
 public:
  LayerNorm(const Shape& shape, InitialValues& initial, const LayerNormOptions& options = {});
  /// Returns x normalized. errors: ShapeError when x does not end in `shape`.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  LayerNormOptions options_;
  Variable scale_, shift_;
};

struct GroupNormOptions {
  Dim groups = 1;         ///< number of groups of neighbouring channels
  double epsilon = 1e-5;  ///< added to the variance
};

/// Every group of channels of an item with zero mean and unit variance over group and space, times "scale",
/// plus "shift" (both [channels]). shapes: [n, …, channels] → the same. source: Wu & He 2018,
/// arXiv:1803.08494
class GroupNorm : public Module {
 public:
  /// Makes scale and shift. errors: InvalidArgument when the channels are no multiple of the groups.
  GroupNorm(Dim channels, InitialValues& initial, const GroupNormOptions& options);
  /// Returns x normalized. errors: ShapeError for another number of channels.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  GroupNormOptions options_;
  Variable scale_, shift_;
};

}  // namespace lodestone::engine
