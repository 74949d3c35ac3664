// SPDX-License-Identifier: Apache-2.0
#include "engine/core/half.hpp"
#include "engine/core/random.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace lodestone;
using namespace lodestone::engine;
using core::BFloat16;
using core::Float16;
using tests::error_of;
using tests::HasId;

namespace {

/// All numbers from 0 up to the largest, by their bits, and what would come next.
template <class T>
std::vector<double> ascending() {
  std::vector<double> values;
  for (std::uint32_t bits = 0;
       std::isfinite(static_cast<double>(T::of_bits(static_cast<std::uint16_t>(bits)))); ++bits)
    values.push_back(static_cast<double>(T::of_bits(static_cast<std::uint16_t>(bits))));
  values.push_back(2.0 * values.back() - values[values.size() - 2]);
  return values;
}

/// Bits of the nearest of these, ties to even bits: what rounding means.
std::uint16_t nearest(const std::vector<double>& values, double x) {
  const auto above =
      static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), std::abs(x)) - values.begin());
  std::size_t at = std::min(above, values.size() - 1);
  if (at > 0 && at == above) {
    const double up = values[at] - std::abs(x), down = std::abs(x) - values[at - 1];
    if (down < up || (down == up && (at - 1) % 2 == 0)) --at;
  }
  return static_cast<std::uint16_t>(at | (std::signbit(x) ? 0x8000U : 0U));
}

template <class T>
void check_rounding() {
  const std::vector<double> values = ascending<T>();
  const core::Philox random(3);
  int n_wrong = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double low = values[i], high = values[i + 1], middle = 0.5 * (low + high);
    for (const double x : {low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300),
                           low + (high - low) * random.uniform(i)}) {
      n_wrong += T(x).bits() == nearest(values, x) ? 0 : 1;
      n_wrong += T(-x).bits() == nearest(values, -x) ? 0 : 1;
      n_wrong +=
          T(static_cast<float>(x)).bits() == nearest(values, static_cast<double>(static_cast<float>(x))) ? 0
                                                                                                         : 1;
    }
  }
  CHECK(n_wrong == 0);
}

template <class T>
void check_round_trip() {
  int n_wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const T x = T::of_bits(static_cast<std::uint16_t>(bits));
    const double wide = static_cast<double>(x);
    const std::uint32_t quiet = std::isnan(wide) ? 1U << (std::is_same_v<T, Float16> ? 9 : 6) : 0U;
    n_wrong += T(wide).bits() == (bits | quiet) ? 0 : 1;
  }
  CHECK(n_wrong == 0);
}

template <class T>
std::vector<std::uint16_t> bits_of(const Tensor& x) {
  std::vector<std::uint16_t> result;
  for (const T& each : x.data<T>()) result.push_back(each.bits());
  return result;
}

}  // namespace

TEST_CASE("half: floats become bf16 as doubles do, and bf16 floats, NaNs included", "[engine]") {
  int n_wrong = 0;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      const auto x = std::bit_cast<float>(upper << 16 | lower);
      n_wrong += BFloat16(x).bits() == BFloat16(static_cast<double>(x)).bits() ? 0 : 1;
    }
    const BFloat16 half = BFloat16::of_bits(static_cast<std::uint16_t>(upper));
    const auto narrow = static_cast<float>(half);
    const double wide = static_cast<double>(half);
    n_wrong += static_cast<double>(narrow) == wide || (std::isnan(narrow) && std::isnan(wide)) ? 0 : 1;
  }
  CHECK(n_wrong == 0);
}

TEST_CASE("bf16 and f16: every number comes back from f64, NaN with its payload", "[engine]") {
  check_round_trip<BFloat16>();
  check_round_trip<Float16>();
}

TEST_CASE("bf16 and f16: the nearest number, ties to even, subnormal ones and the largest included",
          "[engine]") {
  check_rounding<BFloat16>();
  check_rounding<Float16>();
  CHECK(Float16(65519.0).bits() == 0x7bff);  // halfway from the largest, 65504, to 2^16
  CHECK(Float16(65520.0).bits() == 0x7c00);
  CHECK(Float16(0x1p-25).bits() == 0);
  CHECK(Float16(std::nextafter(0x1p-25, 1.0)).bits() == 1);
  CHECK(Float16(-1e-300).bits() == 0x8000);
  CHECK(BFloat16(std::numeric_limits<double>::denorm_min()).bits() == 0);
  CHECK(BFloat16(-std::numeric_limits<double>::infinity()).bits() == 0xff80);
  // One step, where two would round twice.
  CHECK(BFloat16((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1).bits() ==
        BFloat16(0x1p62).bits() + 1);
}

TEST_CASE("cast: to and from bf16 and f16, on every kernel", "[engine]") {
  const std::vector<double> values{0.0, -1.0, 1.0 / 3.0, 1e-7, 70000.0, std::nan("")};
  const Tensor x = Tensor::from(values, {2, 3});
  const Tensor half = cast(transpose(x), DType::f16), brain = cast(cast(x, DType::f32), DType::bf16);
  CHECK(bits_of<Float16>(half) == std::vector<std::uint16_t>{0, 0x0002, 0xbc00, 0x7c00, 0x3555, 0x7e00});
  CHECK(bits_of<BFloat16>(brain) == std::vector<std::uint16_t>{0, 0xbf80, 0x3eab, 0x33d7, 0x4789, 0x7fc0});
  CHECK(cast(half, DType::f32).to_vector<float>()[4] == 0x1.554p-2f);
  CHECK(cast(brain, DType::i32).to_vector<std::int32_t>()[1] == -1);
  CHECK(cast(brain, DType::c64).to_vector<std::complex<float>>()[1] == std::complex<float>(-1.0f, 0.0f));
}

TEST_CASE("bf16 and f16: moved like all others, with two bytes each", "[engine]") {
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const std::array<bool, 3> chosen{true, false, true};
    const auto moved = [&](const Tensor& t) {
      const Tensor padded = pad(transpose(t), {1, 0}, {0, 1}, {}, 0.5);  // [4, 3]
      const Tensor twice = concatenate(Tensors{padded, flip(padded, 0)}, 0);
      return select(Tensor::from(std::span<const bool>(chosen), {3}), twice, full({}, 2.0, t.dtype()));
    };
    CHECK(moved(cast(x, dtype)).aval().bytes() == 2 * 24);
    CHECK(cast(moved(cast(x, dtype)), DType::f64).to_vector<double>() == moved(x).to_vector<double>());
    CHECK(cast(slice(broadcast_to(cast(x, dtype), {2, 2, 3}), 2, 0, 3, 2), DType::f64).to_vector<double>() ==
          std::vector<double>{1, 3, 4, 6, 1, 3, 4, 6});
    const auto through = [&](const Tensor& t) { return sum(square(cast(cast(t, dtype), DType::f64))); };
    CHECK(grad(through)(x).to_vector<double>() == std::vector<double>{2, 4, 6, 8, 10, 12});
  }
}

TEST_CASE("bf16 and f16: arithmetic says what to do", "[engine]") {
  const Tensor x = cast(ones({3}), DType::bf16);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(exp(x)); }),
             HasId("wrong_dtype", {"[exp]", "f32, f64, c64, c128", "bf16[3]", "(test_half.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(x + ones({3})); }),
             HasId("wrong_dtype", {"[add]", "bf16[3]"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(ones({3}) + x); }),
             HasId("unequal_dtypes", {"[add]", "f32[3]", "bf16[3]"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(matmul(x, x)); }),
             HasId("wrong_dtype", {"[dot_general]"}));
}
