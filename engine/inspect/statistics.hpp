// SPDX-License-Identifier: Apache-2.0
// Small on purpose: dumps and searches look at elements in the same way.
#pragma once

#include "engine/core/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lodestone::engine {

/// Returns true if no element of an array is NaN or infinite; integers never are.
[[nodiscard]] bool all_finite(core::DType dtype, std::span<const std::byte> elements);

/// A summary of an array whose elements would be too many. Real and imaginary parts of complex numbers
/// count as two elements.
struct ArrayStatistics {
  std::int64_t n = 0;  ///< elements
  std::int64_t n_nan = 0, n_infinite = 0;
  double min = 0.0, max = 0.0, mean = 0.0, l2 = 0.0;  ///< those of the finite elements, 0 where there is none
  std::uint32_t checksum = 0;                         ///< that of the bits, where any NaN counts as any other
};
[[nodiscard]] ArrayStatistics statistics_of(core::DType dtype, std::span<const std::byte> elements);

/// Returns the largest difference of smallest, largest and mean elements and norms, over the root mean square
/// of a; infinite where the numbers of NaN or infinities differ.
[[nodiscard]] double relative_difference(const ArrayStatistics& a, const ArrayStatistics& b);
/// Returns the largest difference of two elements over the root mean square of a, whose statistics are given;
/// infinite where one of them is not finite.
[[nodiscard]] double relative_difference(std::span<const double> a, std::span<const double> b,
                                         const ArrayStatistics& of_a);

/// Returns the elements as numbers; real and imaginary parts of complex ones as two.
[[nodiscard]] std::vector<double> numbers_of(core::DType dtype, std::span<const std::byte> elements);

}  // namespace lodestone::engine
