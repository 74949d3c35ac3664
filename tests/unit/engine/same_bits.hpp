// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record/tensor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lodestone::tests {

/// True if elements have the same bits; any NaN equals any NaN.
inline bool same_bits(const engine::Tensor& a, const engine::Tensor& b) {
  if (!(a.aval() == b.aval())) return false;
  const auto x = a.bytes(), y = b.bytes();
  if (std::ranges::equal(x, y)) return true;
  const auto with_nan = [&]<class T>(T) {
    for (std::size_t i = 0; i < x.size(); i += sizeof(T)) {
      T u, v;
      std::memcpy(&u, x.data() + i, sizeof(T));
      std::memcpy(&v, y.data() + i, sizeof(T));
      if (std::memcmp(&u, &v, sizeof(T)) != 0 && !(std::isnan(u) && std::isnan(v))) return false;
    }
    return true;
  };
  const bool is_single = a.dtype() == core::DType::f32 || a.dtype() == core::DType::c64;
  return core::is_float(a.dtype()) && (is_single ? with_nan(0.0F) : with_nan(0.0));
}
inline bool same_bits(const engine::Tensors& a, const engine::Tensors& b) {
  return std::ranges::equal(a, b,
                            [](const engine::Tensor& x, const engine::Tensor& y) { return same_bits(x, y); });
}

}  // namespace lodestone::tests
