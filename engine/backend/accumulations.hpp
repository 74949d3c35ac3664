// SPDX-License-Identifier: Apache-2.0
// One step of each accumulation along an axis, and the dtypes it is compiled for: y = step(y before, x), the
// first y = first(x).
#pragma once

#include "engine/backend/scalar_functions.hpp"

#include <string_view>

namespace lodestone::engine {
namespace scalar {

/// ln (e^a + e^b), -∞ counting as nothing.
struct LogAddExp {
  template <class T>
  T operator()(T a, T b) const {
    const T larger = Maximum{}(a, b), smaller = Minimum{}(a, b);
    return smaller == -std::numeric_limits<T>::infinity() ? larger
                                                          : larger + std::log1p(std::exp(smaller - larger));
  }
};

}  // namespace scalar

/// Calls `visitor.operator()<Step, T…>(name)` for each accumulation of one input.
template <class Visitor>
void for_each_accumulation(Visitor&& each) {
  using namespace scalar;
#define LODESTONE_INTEGERS std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t
  each.template operator()<Add, float, double, std::complex<float>, std::complex<double>, LODESTONE_INTEGERS>(
      "cumulative_sum");
  each.template operator()<Multiply, float, double, std::complex<float>, std::complex<double>,
                           LODESTONE_INTEGERS>("cumulative_product");
  each.template operator()<Maximum, float, double, LODESTONE_INTEGERS>("cumulative_max");
  each.template operator()<Minimum, float, double, LODESTONE_INTEGERS>("cumulative_min");
  each.template operator()<LogAddExp, float, double>("cumulative_logsumexp");
#undef LODESTONE_INTEGERS
}

}  // namespace lodestone::engine
