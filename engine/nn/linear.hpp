// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/initial_values.hpp"
#include "engine/nn/module.hpp"

#include <optional>

namespace lodestone::engine {

enum class Bias : std::uint8_t { no, yes };

struct LinearOptions {
  Bias bias = Bias::yes;
  Initializer weight = fan_in_uniform();
  Initializer initial_bias = constant(0.0);
  /// bf16 or f16: x and W are rounded to it before each product, which adds in f32, and so are the cotangents
  /// of the derivative. Parameters keep their dtype.
  std::optional<DType> product = {};
};

/// x W + b. shapes: [batch…, n_in] → [batch…, n_out]; "weight" [n_in, n_out], "bias" [n_out].
class Linear : public Module {
 public:
  /// Draws the parameters. errors: InvalidArgument when `product` is not bf16 or f16.
  Linear(Dim n_in, Dim n_out, InitialValues& initial, const LinearOptions& options = {});
  /// Returns x W plus the bias, if any. errors: ShapeError when the last axis is not n_in.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  Variable weight_;
  std::optional<Variable> bias_;
  std::optional<DType> product_;
};

/// x W + b of a trained layer for inference, with whole numbers of 8 bits: W is rounded once, column by
/// column, x in every call, item by item, each to 127 steps of its largest element on either side; sums are
/// exact. Where the processor multiplies such numbers, products take a fraction of the time of f32. shapes:
/// as `Linear`; "weight" i8 [n_in, n_out], "scale" and "bias" [n_out]. source: Jacob et al. 2018,
/// arXiv:1712.05877, section 2
class QuantizedLinear : public Module {
 public:
  /// Takes a copy of the layer as it is now.
  explicit QuantizedLinear(const Linear& layer);
  /// Returns x W plus the bias. It has no slope in x. errors: ShapeError when the last axis is not n_in.
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  QuantizedLinear(const NamedTensors& trained, const Tensor& scale);
  Variable weight_, scale_;
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
