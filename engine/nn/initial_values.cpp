// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/initial_values.hpp"

#include "engine/ops/ops.hpp"

#include <cmath>

namespace lodestone::engine {
namespace {

/// Zero mean, the deviation a function of the fan.
template <class Deviation>
Initializer uniform_with(Deviation deviation) {
  return [deviation](const core::Philox& random, std::uint64_t index, const Fan& fan) {
    return std::sqrt(3.0) * deviation(fan) * (2.0 * random.uniform(index) - 1.0);
  };
}
template <class Deviation>
Initializer normal_with(Deviation deviation) {
  return [deviation](const core::Philox& random, std::uint64_t index, const Fan& fan) {
    return deviation(fan) * random.normal(index);
  };
}
auto kaiming(double gain) {
  return [gain](const Fan& fan) { return gain / std::sqrt(fan.in); };
}
auto xavier(double gain) {
  return [gain](const Fan& fan) { return gain * std::sqrt(2.0 / (fan.in + fan.out)); };
}

}  // namespace

Initializer constant(double value) {
  return [value](const core::Philox&, std::uint64_t, const Fan&) { return value; };
}
Initializer uniform_between(double low, double high) {
  return [=](const core::Philox& random, std::uint64_t index, const Fan&) {
    return low + (high - low) * random.uniform(index);
  };
}
Initializer normal_around(double mean, double deviation) {
  return [=](const core::Philox& random, std::uint64_t index, const Fan&) {
    return mean + deviation * random.normal(index);
  };
}
Initializer kaiming_uniform(double gain) { return uniform_with(kaiming(gain)); }
Initializer kaiming_normal(double gain) { return normal_with(kaiming(gain)); }
Initializer xavier_uniform(double gain) { return uniform_with(xavier(gain)); }
Initializer xavier_normal(double gain) { return normal_with(xavier(gain)); }
Initializer fan_in_uniform() { return kaiming_uniform(1.0 / std::sqrt(3.0)); }

Tensor InitialValues::draw(const Shape& shape, const Initializer& initializer, const Fan& fan) {
  const core::Philox random(seed_, next_stream());
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = initializer(random, i, fan);
  return cast(Tensor::from(values, shape, device_), dtype_).eval();
}

}  // namespace lodestone::engine
