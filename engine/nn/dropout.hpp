// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header; users include it by this path.
#pragma once

#include "engine/nn/initial_values.hpp"
#include "engine/nn/module.hpp"

namespace lodestone::engine {

/// Training: each element becomes 0 with this probability p, the others grow by 1 / (1 − p); evaluation: the
/// input. Its random "key" is state and moves on with every use. source: Srivastava et al. 2014,
/// jmlr.org/papers/v15/srivastava14a
class Dropout : public Module {
 public:
  /// Sets the probability of a zero. errors: InvalidArgument for a probability outside [0, 1).
  Dropout(double probability, InitialValues& initial);
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  double probability_;
  Variable key_;
};

}  // namespace lodestone::engine
