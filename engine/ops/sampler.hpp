// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/random.hpp"
#include "engine/record/rule_args.hpp"

namespace lodestone::engine {

/// Draws what an op is checked with.
class Sampler {
 public:
  Sampler(DType dtype, std::uint64_t seed, Device device = default_device())
      : dtype_(dtype), device_(device), random_(seed) {}
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] Dim integer(Dim low, Dim high);  ///< both may come
  [[nodiscard]] double real(double low, double high);
  [[nodiscard]] bool chance(double probability) { return real(0.0, 1.0) < probability; }
  /// Extents 0, 1, small, and past a vector register.
  [[nodiscard]] Shape shape(int min_rank, int max_rank);
  /// Elements from the interval, real and imaginary part alike; integers and booleans for dtypes of these
  /// kinds. Sometimes not contiguous.
  [[nodiscard]] Tensor tensor(const Shape& shape, double low, double high);
  [[nodiscard]] Tensor tensor(const Shape& shape, double low, double high, DType dtype);
  /// Draws inputs for functions with kinks where elements tie. Real elements are pairwise at least 1/2 apart,
  /// in random order; integers are as `tensor` draws them.
  [[nodiscard]] Tensor apart(const Shape& shape);
  [[nodiscard]] Axes some_axes(int rank);

 private:
  [[nodiscard]] Tensor dense(const Shape& shape, double low, double high, DType dtype);
  DType dtype_;
  Device device_;
  core::Philox random_;
  std::uint64_t next_ = 0;
};

}  // namespace lodestone::engine
