// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/statistics.hpp"

#include "engine/core/crc32c.hpp"
#include "engine/core/half.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace lodestone::engine {
namespace {

using core::DType;

/// Returns true if some number has all bits of its exponent set, as infinities and NaN do.
template <class Bits>
bool any_set(std::span<const std::byte> numbers, Bits exponent) {
  Bits found = 0;
  for (std::size_t at = 0; at < numbers.size(); at += sizeof(Bits)) {
    Bits number;
    std::memcpy(&number, numbers.data() + at, sizeof(Bits));
    found |= static_cast<Bits>((number & exponent) == exponent);
  }
  return found != 0;
}

/// Calls f with each element as a number, complex ones in two parts.
template <class F>
void for_each_number(DType dtype, std::span<const std::byte> elements, F&& f) {
  core::visit_stored_dtype(core::real_of(dtype), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::complex<float>> && !std::is_same_v<T, std::complex<double>>) {
      for (std::size_t at = 0; at + sizeof(T) <= elements.size(); at += sizeof(T)) {
        T number;
        std::memcpy(&number, elements.data() + at, sizeof(T));
        f(static_cast<double>(number));
      }
    }
  });
}

/// Returns the checksum of numbers of which some are NaN: it takes all of them for one.
std::uint32_t checksum_with_nan(const std::vector<double>& numbers) {
  std::uint32_t sum = 0;
  for (double each : numbers) {
    if (std::isnan(each)) each = std::numeric_limits<double>::quiet_NaN();
    sum = core::crc32c(std::as_bytes(std::span(&each, 1)), sum);
  }
  return sum;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns a difference over the root mean square of a; over 1 where a is zero.
double relative(double difference, const ArrayStatistics& a) {
  const double rms = a.n > 0 ? a.l2 / std::sqrt(static_cast<double>(a.n)) : 0.0;
  return rms > 0.0 ? difference / rms : difference;
}

}  // namespace

bool all_finite(DType dtype, std::span<const std::byte> elements) {
  switch (dtype) {
    case DType::bf16:
      return !any_set<std::uint16_t>(elements, 0x7f80);
    case DType::f16:
      return !any_set<std::uint16_t>(elements, 0x7c00);
    case DType::f32:
    case DType::c64:
      return !any_set<std::uint32_t>(elements, 0x7f800000);
    case DType::f64:
    case DType::c128:
      return !any_set<std::uint64_t>(elements, 0x7ff0000000000000);
    default:
      return true;
  }
}

std::vector<double> numbers_of(DType dtype, std::span<const std::byte> elements) {
  std::vector<double> numbers;
  for_each_number(dtype, elements, [&](double each) { numbers.push_back(each); });
  return numbers;
}

ArrayStatistics statistics_of(DType dtype, std::span<const std::byte> elements) {
  ArrayStatistics result;
  double sum = 0.0, squares = 0.0;
  std::int64_t n_finite = 0;
  for_each_number(dtype, elements, [&](double each) {
    ++result.n;
    result.n_nan += std::isnan(each) ? 1 : 0;
    result.n_infinite += std::isinf(each) ? 1 : 0;
    if (!std::isfinite(each)) return;
    result.min = n_finite == 0 ? each : std::min(result.min, each);
    result.max = n_finite == 0 ? each : std::max(result.max, each);
    ++n_finite;
    sum += each;
    squares += each * each;
  });
  result.mean = n_finite > 0 ? sum / static_cast<double>(n_finite) : 0.0;
  result.l2 = std::sqrt(squares);
  result.checksum =
      result.n_nan > 0 ? checksum_with_nan(numbers_of(dtype, elements)) : core::crc32c(elements);
  return result;
}

double relative_difference(const ArrayStatistics& a, const ArrayStatistics& b) {
  if (a.n_nan != b.n_nan || a.n_infinite != b.n_infinite) return infinity;
  const double norms = std::abs(a.l2 - b.l2) / std::sqrt(static_cast<double>(std::max<std::int64_t>(a.n, 1)));
  const double largest =
      std::max({std::abs(a.min - b.min), std::abs(a.max - b.max), std::abs(a.mean - b.mean), norms});
  return relative(largest, a);
}

double relative_difference(std::span<const double> a, std::span<const double> b,
                           const ArrayStatistics& of_a) {
  double largest = 0.0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;
    largest =
        std::max(largest, std::isfinite(a[i]) && std::isfinite(b[i]) ? std::abs(a[i] - b[i]) : infinity);
  }
  return relative(largest, of_a);
}

}  // namespace lodestone::engine
