// SPDX-License-Identifier: Apache-2.0
#include "engine/core/random.hpp"
#include "engine/kernel/vmath.hpp"
#include "tests/support/catch.hpp"

#include <limits>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// |value − exact| in units of the last place of the exact value.
template <class T, class Wide>
double error_in_ulp(T value, Wide exact) {
  if (value == static_cast<T>(exact)) return 0.0;
  int exponent = 0;
  static_cast<void>(std::frexp(exact, &exponent));
  const int last =
      std::max(exponent - std::numeric_limits<T>::digits, std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<Wide>(value) - exact) / std::ldexp(Wide(1), last));
}

}  // namespace

TEST_CASE("vmath exp: every 61st f32 is within 1.5 ulp", "[engine]") {
  double worst = 0.0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 61) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!(x > -103.0F && x < 88.7F)) continue;
    worst = std::max(worst, error_in_ulp(vmath::exp(x), std::exp(static_cast<double>(x))));
  }
  CHECK(worst <= 1.5);
}

TEST_CASE("vmath exp: f64 is within 1.5 ulp, subnormal results too", "[engine]") {
  const core::Philox random(1);
  double worst = 0.0;
  for (std::uint64_t i = 0; i < 1000000; ++i) {
    const double x = -745.0 + 1454.7 * random.uniform(i);
    worst = std::max(worst, error_in_ulp(vmath::exp(x), std::exp(static_cast<long double>(x))));
  }
  CHECK(worst <= 1.5);
}

TEST_CASE("vmath exp: ends of the range, infinities and NaN", "[engine]") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(vmath::exp(infinity) == infinity);
  CHECK(vmath::exp(-infinity) == 0.0);
  CHECK(vmath::exp(1000.0) == infinity);
  CHECK(vmath::exp(0.0) == 1.0);
  CHECK(std::isnan(vmath::exp(std::nan(""))));
  CHECK(vmath::exp(1000.0F) == std::numeric_limits<float>::infinity());
  CHECK(vmath::exp(-1000.0F) == 0.0F);
  CHECK(std::isnan(vmath::exp(std::nanf(""))));
}
