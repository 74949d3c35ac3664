// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/initial_values.hpp"
#include "engine/nn/module.hpp"

namespace lodestone::engine {

enum class Bias : std::uint8_t { no, yes };

struct LinearOptions {
  Bias bias = Bias::yes;
  Initializer weight = fan_in_uniform();
  Initializer initial_bias = constant(0.0);
};

/// x W + b. shapes: [batch…, n_in] → [batch…, n_out]; "weight" [n_in, n_out], "bias" [n_out].
class Linear : public Module {
 public:
  Linear(Dim n_in, Dim n_out, InitialValues& initial, const LinearOptions& options = {});
  /// Returns x W plus the bias, if any. errors: ShapeError when the last axis is not n_in.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  Variable weight_;
  std::optional<Variable> bias_;
};

/// Row i of a table for every index i. shapes: integers [batch…] (i32, i64) → [batch…, n_out]; "weight"
/// [n_items, n_out].
class Embedding : public Module {
 public:
  Embedding(Dim n_items, Dim n_out, InitialValues& initial,
            const Initializer& weight = normal_around(0.0, 1.0));
  /// Returns the rows of these items. errors: InvalidArgument for numbers that are no indices, and, when it
  /// runs, for an index outside 0 … n_items − 1.
  [[nodiscard]] Tensor operator()(const Located& indices) const;

 private:
  Variable weight_;
};

}  // namespace lodestone::engine
