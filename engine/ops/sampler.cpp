// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/sampler.hpp"

#include "engine/core/half.hpp"
#include "engine/ops/ops.hpp"

#include <algorithm>

namespace lodestone::engine {

double Sampler::real(double low, double high) { return low + (high - low) * random_.uniform(next_++); }

Dim Sampler::integer(Dim low, Dim high) {
  return low + static_cast<Dim>(real(0.0, static_cast<double>(high - low + 1)));
}

Shape Sampler::shape(int min_rank, int max_rank) {
  Shape result;
  const Dim rank = integer(min_rank, max_rank);
  for (Dim i = 0; i < rank; ++i)
    result.push_back(chance(0.05) ? 0 : chance(0.2) ? 1 : chance(0.1) ? integer(30, 37) : integer(2, 5));
  return result;
}

Tensor Sampler::dense(const Shape& shape, double low, double high, DType dtype) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(shape.count()) * core::size_of(dtype));
  core::visit_stored_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* elements = reinterpret_cast<T*>(bytes.data());
    for (std::int64_t i = 0; i < shape.count(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        elements[i] = chance(0.5);
      } else if constexpr (std::is_integral_v<T>) {
        elements[i] = static_cast<T>(integer(std::is_unsigned_v<T> ? 0 : static_cast<Dim>(low),
                                             std::max<Dim>(static_cast<Dim>(high), 1)));
      } else if constexpr (std::is_floating_point_v<T> || core::is_half_v<T>) {
        elements[i] = static_cast<T>(real(low, high));
      } else {
        const double part = real(low, high);
        elements[i] = T(static_cast<typename T::value_type>(part),
                        static_cast<typename T::value_type>(real(low, high)));
      }
    }
  });
  return Tensor::from_bytes(bytes, {shape, dtype, device_});
}

Tensor Sampler::tensor(const Shape& shape, double low, double high) {
  return tensor(shape, low, high, dtype_);
}

Tensor Sampler::tensor(const Shape& shape, double low, double high, DType dtype) {
  if (shape.rank() == 0 || chance(0.6)) return dense(shape, low, high, dtype);
  const auto axis = static_cast<int>(integer(0, shape.rank() - 1));
  if (chance(0.3)) return flip(dense(shape, low, high, dtype), axis);
  if (chance(0.5)) {  // every second element of a longer axis
    Shape longer = shape;
    longer[axis] = 2 * shape[axis] + 1;
    return slice(dense(longer, low, high, dtype), axis, 1, longer[axis], 2);
  }
  Shape reversed = shape;
  for (int i = 0; i < shape.rank(); ++i) reversed[i] = shape[shape.rank() - 1 - i];
  return transpose(dense(reversed, low, high, dtype));
}

Tensor Sampler::apart(const Shape& shape) {
  if (!core::is_real_float(dtype_)) return tensor(shape, -2, 2);
  const std::int64_t n = shape.count();
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    values[static_cast<std::size_t>(i)] = 0.5 * static_cast<double>(i - n / 2);
  for (std::int64_t i = n - 1; i > 0; --i)
    std::swap(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(integer(0, i))]);
  return cast(Tensor::from(values, shape, device_), dtype_).eval();
}

Axes Sampler::some_axes(int rank) {
  Axes axes;
  for (int axis = 0; axis < rank; ++axis) {
    if (chance(0.5)) axes.push_back(axis);
  }
  return axes;
}

}  // namespace lodestone::engine
