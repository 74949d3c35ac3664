// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/random.hpp"
#include "engine/record/tensor.hpp"

#include <functional>

namespace lodestone::engine {

/// The number of inputs that an output of a layer sums over, and of outputs that an input goes into.
struct Fan {
  double in = 1.0, out = 1.0;
};

/// The first value of element `index` of a parameter.
using Initializer = std::function<double(const core::Philox& random, std::uint64_t index, const Fan& fan)>;

[[nodiscard]] Initializer constant(double value);
[[nodiscard]] Initializer uniform_between(double low, double high);
[[nodiscard]] Initializer normal_around(double mean, double deviation);
/// Deviation gain / (fan in)^(1/2); the gain √2 suits ReLUs. source: He et al. 2015,
/// doi:10.1109/ICCV.2015.123
[[nodiscard]] Initializer kaiming_uniform(double gain = 1.4142135623730951);
[[nodiscard]] Initializer kaiming_normal(double gain = 1.4142135623730951);
/// Deviation gain (2 / (fan in + fan out))^(1/2). source: Glorot & Bengio 2010,
/// proceedings.mlr.press/v9/glorot10a
[[nodiscard]] Initializer xavier_uniform(double gain = 1.0);
[[nodiscard]] Initializer xavier_normal(double gain = 1.0);
/// Between ± 1 / (fan in)^(1/2): what layers start with unless told otherwise.
[[nodiscard]] Initializer fan_in_uniform();

/// The source of the first values of parameters. Each parameter has its own stream of random numbers, in the
/// order in which the modules are made. The same seed and the same network give the same bits. (Elements of a
/// braced list are made from left to right; arguments of a function are not.)
class InitialValues {
 public:
  explicit InitialValues(std::uint64_t seed, DType dtype = DType::f32, Device device = default_device())
      : seed_(seed), dtype_(dtype), device_(device) {}
  /// Returns the next parameter.
  [[nodiscard]] Tensor draw(const Shape& shape, const Initializer& initializer, const Fan& fan = {});
  /// Returns a stream that no parameter uses.
  [[nodiscard]] std::uint64_t next_stream() { return n_streams_++; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] Device device() const { return device_; }

 private:
  std::uint64_t seed_;
  DType dtype_;
  Device device_;
  std::uint64_t n_streams_ = 0;
};

}  // namespace lodestone::engine
