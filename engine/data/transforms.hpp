// SPDX-License-Identifier: Apache-2.0
// What is done to data before it is learnt from: functions on tensors, the same whether called on one item,
// on a batch or by a loader.
//
// Those that draw take a key u64[3] for one item, or keys u64[batch, 3] and a batch: item i is treated as it
// would be alone with keys[i]. Axes count within the item. errors: ShapeError, InvalidArgument, with the
// function's name and the caller's line.
#pragma once

#include "engine/data/dataset.hpp"

namespace lodestone::engine::transforms {

/// Mean and standard deviation (1 / n), with 1 for the deviation of what does not vary. shapes: those of an
/// item, 1 along the axes taken together.
struct Moments {
  Tensor mean, deviation;
};
/// Returns mean and deviation of an array over the items of a dataset, and over these axes of the item. Items
/// are read some at a time and accumulated in f64. source: Chan et al. 1979, Stanford report STAN-CS-79-773
/// (pairwise update)
[[nodiscard]] Moments moments(const Dataset& dataset, const std::string& name, const Axes& axes = {});
[[nodiscard]] Tensor standardize(const Located& x, const Moments& moments);    ///< (x − mean) / deviation
[[nodiscard]] Tensor unstandardize(const Located& x, const Moments& moments);  ///< x · deviation + mean
[[nodiscard]] Tensor log10(const Located& x);
[[nodiscard]] Tensor clip(const Located& x, double low, double high);

/// Returns x + deviation · standard normal numbers.
[[nodiscard]] Tensor noise(const Located& x, const Tensor& keys, double deviation);
/// Returns x, reversed along an axis, with this probability.
[[nodiscard]] Tensor random_flip(const Located& x, const Tensor& keys, int axis, double probability = 0.5);
/// Returns x, moved along an axis by −most … most, equally likely; `fill` moves in.
[[nodiscard]] Tensor random_shift(const Located& x, const Tensor& keys, int axis, Dim most,
                                  double fill = 0.0);

}  // namespace lodestone::engine::transforms
