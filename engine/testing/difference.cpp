// SPDX-License-Identifier: Apache-2.0
#include "engine/testing/difference.hpp"

#include "engine/core/half.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::engine {

std::vector<std::complex<double>> numbers_of(const Tensor& x) {
  std::vector<std::complex<double>> result;
  core::visit_stored_dtype(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (const T& each : x.data<T>()) {
      if constexpr (std::is_arithmetic_v<T> || core::is_half_v<T>) {
        result.emplace_back(static_cast<double>(each), 0.0);
      } else {
        result.emplace_back(each);
      }
    }
  });
  return result;
}

double difference(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return INFINITY;
  const auto left = numbers_of(a), right = numbers_of(b);
  double worst = 0.0, scale = 1e-30;
  for (const auto& each : right)
    scale = std::max(scale, std::isfinite(std::abs(each)) ? std::abs(each) : 0.0);
  for (std::size_t k = 0; k < left.size(); ++k) {
    const bool same =
        left[k] == right[k] || (std::isnan(std::abs(left[k])) && std::isnan(std::abs(right[k])));
    if (!same) worst = std::max(worst, std::abs(left[k] - right[k]) / scale);
    if (!same && std::isnan(std::abs(left[k] - right[k]))) worst = INFINITY;
  }
  return worst;
}

double agreement(DType dtype) {
  return dtype == DType::f32 || dtype == DType::c64 ? 2e-6 : core::is_float(dtype) ? 8e-14 : 0.0;
}

}  // namespace lodestone::engine
