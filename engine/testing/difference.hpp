// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the measure of agreement that all checks share.
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// Returns the elements, of any dtype, as complex numbers.
[[nodiscard]] std::vector<std::complex<double>> numbers_of(const Tensor& x);
/// Returns the largest difference of two results, relative to the largest finite element of the second. It is
/// infinite when their shapes or dtypes differ, or one of them is not a number where the other is.
[[nodiscard]] double difference(const Tensor& a, const Tensor& b);
/// Returns the largest allowed difference of two ways to one result.
[[nodiscard]] double agreement(DType dtype);

}  // namespace lodestone::engine
