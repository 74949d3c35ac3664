// SPDX-License-Identifier: Apache-2.0
// Errors in units of the last place against the standard library's functions one step wider. f32 looks at one
// bit pattern in 5003; where LODESTONE_VMATH_STRIDE is set, also at one in that many (1: all, three quarters
// of an hour) against our own functions of f64, and the worst of each function is printed.
#include "engine/core/random.hpp"
#include "engine/ops/ops.hpp"
#include "engine/vmath/vmath.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <limits>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double most = 1.5;

/// Returns |value − exact| in units of the last place of the exact value.
template <class T, class Wide>
double error_in_ulp(T value, Wide exact) {
  if (value == static_cast<T>(exact) || (std::isnan(value) && std::isnan(exact))) return 0.0;
  if (!std::isfinite(static_cast<T>(exact)) || !std::isfinite(value)) return infinity;
  int exponent = 0;
  static_cast<void>(std::frexp(exact, &exponent));
  const int last = std::max(exponent - std::numeric_limits<T>::digits,
                            std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<Wide>(value) - exact) / std::ldexp(Wide(1), last));
}

/// Returns `error_in_ulp` of an f32, without branches, for a loop over all f32.
[[gnu::always_inline]] inline double error_of_f32(float value, double exact) {
  const std::uint64_t exponent =
      std::max<std::uint64_t>(std::bit_cast<std::uint64_t>(exact) >> 52 & 0x7ff, 1023 - 126);
  const double last = std::bit_cast<double>((exponent - 23) << 52);
  const double error = std::abs(static_cast<double>(value) - exact) / last;
  const bool both_nan = value != value && exact != exact;
  const bool is_known = error <= infinity;
  return value == static_cast<float>(exact) || both_nan ? 0.0 : is_known ? error : infinity;
}

template <class T>
T wide_sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

struct Function {
  const char* name;
  float (*of_f32)(float);
  double (*of_f64)(double);
  double (*exact)(double);
  long double (*exact_wide)(long double);
  std::vector<std::pair<double, double>> intervals;  ///< that f64 is drawn from
  Tensor (*op)(const Located&);
};

// clang-format off
#define FUNCTION(name, wider, ...)                                                                    \
  {#name, [](float x) { return vmath::name(x); }, [](double x) { return vmath::name(x); },            \
   [](double x) -> double { return wider(x); }, [](long double x) -> long double { return wider(x); }, \
   __VA_ARGS__, name}
// clang-format on
const std::vector<Function>& functions() {
  using Intervals = std::vector<std::pair<double, double>>;
  static const std::vector<Function> all{
      FUNCTION(exp, std::exp, Intervals{{-745, 709.7}, {-1, 1}}),
      FUNCTION(expm1, std::expm1, Intervals{{-40, 709}, {-2, 2}, {-1e-3, 1e-3}}),
      FUNCTION(log, std::log, Intervals{{0, 10}, {0.7, 1.5}, {0, 1e-307}, {0, 1e300}}),
      FUNCTION(log1p, std::log1p, Intervals{{-1, 10}, {-0.5, 0.5}, {-1e-6, 1e-6}, {0, 1e10}}),
      FUNCTION(sin, std::sin, Intervals{{-10, 10}, {-7e7, 7e7}, {-1e20, 1e20}, {-1e308, 1e308}}),
      FUNCTION(cos, std::cos, Intervals{{-10, 10}, {-7e7, 7e7}, {-1e20, 1e20}, {-1e308, 1e308}}),
      FUNCTION(tan, std::tan,
               Intervals{{-10, 10}, {-1e-3, 1e-3}, {-7e7, 7e7}, {-1e20, 1e20}, {-1e308, 1e308}}),
      FUNCTION(asin, std::asin, Intervals{{-1, 1}, {-0.6, 0.6}, {0.999, 1}, {-1e-3, 1e-3}}),
      FUNCTION(acos, std::acos, Intervals{{-1, 1}, {-0.6, 0.6}, {0.999, 1}, {-1, -0.999}, {-1e-3, 1e-3}}),
      FUNCTION(atan, std::atan,
               Intervals{{-10, 10}, {-1, 1}, {-1e-3, 1e-3}, {0.41, 0.42}, {2.4, 2.42}, {-1e20, 1e20}}),
      FUNCTION(sinh, std::sinh, Intervals{{-710.4, 710.4}, {-3, 3}, {-1e-3, 1e-3}}),
      FUNCTION(cosh, std::cosh, Intervals{{-710.4, 710.4}, {-3, 3}, {-1e-3, 1e-3}}),
      FUNCTION(tanh, std::tanh, Intervals{{-20, 20}, {-1.2, 1.2}, {-1e-3, 1e-3}}),
      FUNCTION(erf, std::erf, Intervals{{-6, 6}, {-1.2, 1.2}, {-1e-3, 1e-3}}),
      FUNCTION(sigmoid, wide_sigmoid, Intervals{{-700, 40}, {-3, 3}}),
  };
  return all;
}
#undef FUNCTION

const std::vector<double>& special_points() {
  static const std::vector<double> points{0.0,       -0.0,         1.0,    -1.0,    2.0,
                                          -2.0,      0.5,          -0.5,   3.0,     -3.0,
                                          1e-310,    -1e-310,      1000.0, -1000.0, infinity,
                                          -infinity, std::nan(""), 0x1p26, 1e22,    0x1.921fb54442d18p+0};
  return points;
}

void report(std::string_view name, std::string_view dtype, double worst, double where) {
  if (std::getenv("LODESTONE_VMATH_STRIDE") != nullptr)
    fmt::print("{} {}: {:.3f} ulp at {:.17g}\n", name, dtype, worst, where);
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

}  // namespace

TEST_CASE("vmath: f32 is within 1.5 ulp over all magnitudes", "[engine]") {
  constexpr std::uint64_t stride = 5003;
  for (const Function& each : functions()) {
    double worst = 0.0;
    float where = 0.0F;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      const double error = error_in_ulp(each.of_f32(x), each.exact(static_cast<double>(x)));
      if (error <= worst) continue;
      worst = error;
      where = x;
    }
    report(each.name, "f32", worst, where);
    INFO(each.name << " at " << where);
    CHECK(worst <= most);
  }
}

TEST_CASE("vmath: f32 swept against f64, which the next test bounds, is within 1.5 ulp", "[engine]") {
  const char* asked = std::getenv("LODESTONE_VMATH_STRIDE");
  const std::uint64_t stride =
      std::max<std::uint64_t>(asked != nullptr ? std::strtoull(asked, nullptr, 10) : 1000003, 1);
  constexpr std::size_t block = 1 << 14;
  for (const Function& each : functions()) {
    std::vector<float> x(block);
    double worst = 0.0;
    float where = 0.0F;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32);) {
      x.clear();
      for (; x.size() < block && bits < (std::uint64_t{1} << 32); bits += stride)
        x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      const Tensor points = Tensor::from(x, {static_cast<Dim>(x.size())});
      const Tensor value = each.op(points).eval(), exact = each.op(cast(points, DType::f64)).eval();
      std::vector<double> errors(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        errors[i] = error_of_f32(value.data<float>()[i], exact.data<double>()[i]);
      const auto most_wrong = std::max_element(errors.begin(), errors.end());
      if (*most_wrong <= worst) continue;
      worst = *most_wrong;
      where = x[static_cast<std::size_t>(most_wrong - errors.begin())];
    }
    report(each.name, "f32 swept", worst, where);
    INFO(each.name << " at " << where);
    CHECK(worst <= most);
  }
}

TEST_CASE("vmath: f64 is within 1.5 ulp on random points and near multiples of π/2", "[engine]") {
  const core::Philox random(1);
  for (const Function& each : functions()) {
    double worst = 0.0, where = 0.0;
    const auto look = [&](double x) {
      const double error = error_in_ulp(each.of_f64(x), each.exact_wide(static_cast<long double>(x)));
      if (error <= worst) return;
      worst = error;
      where = x;
    };
    for (const auto& [low, high] : each.intervals) {
      for (std::uint64_t i = 0; i < 20000; ++i) look(low + (high - low) * random.uniform(i));
    }
    for (double n = 1; n < 1e15; n = std::floor(1.01 * n) + 1) look(n * 0x1.921fb54442d18p+0);
    look(std::ldexp(6381956970095103.0,
                    797));  // the f64 nearest to a multiple of π/2, in units of its own size
    report(each.name, "f64", worst, where);
    INFO(each.name << " at " << where);
    CHECK(worst <= most);
  }
}

TEST_CASE("vmath: zeros, subnormals, infinities and NaN are those of the standard library", "[engine]") {
  for (const Function& each : functions()) {
    for (const double x : special_points()) {
      INFO(each.name << " of " << x);
      const double value = each.of_f64(x), expected = each.exact(x);
      CHECK((error_in_ulp(value, static_cast<long double>(expected)) <= 2.0));
      if (expected == 0.0) CHECK(std::signbit(value) == std::signbit(expected));
      const float narrow = each.of_f32(static_cast<float>(x));
      CHECK((error_in_ulp(narrow, each.exact(static_cast<double>(static_cast<float>(x)))) <= most));
    }
  }
}

TEST_CASE("vmath pow: within 1.5 ulp, and the C standard's values at the ends", "[engine]") {
  const core::Philox random(2);
  double worst = 0.0, worst_f32 = 0.0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const bool is_near_one = i % 3 == 0;
    const double x =
        is_near_one ? 0.5 + random.uniform(2 * i) : std::exp(60.0 * random.uniform(2 * i) - 30.0);
    const double y = (random.uniform(2 * i + 1) - 0.5) * (is_near_one ? 1400.0 : 40.0);
    worst = std::max(worst, error_in_ulp(vmath::pow(x, y),
                                         std::pow(static_cast<long double>(x), static_cast<long double>(y))));
    const auto a = static_cast<float>(x), b = static_cast<float>(y / 20.0);
    worst_f32 = std::max(
        worst_f32, error_in_ulp(vmath::pow(a, b), std::pow(static_cast<double>(a), static_cast<double>(b))));
  }
  CHECK(worst <= most);
  CHECK(worst_f32 <= most);
  for (const double x : special_points()) {
    for (const double y : special_points()) {
      INFO(x << " to the " << y);
      const double value = vmath::pow(x, y), expected = std::pow(x, y);
      CHECK((error_in_ulp(value, static_cast<long double>(expected)) <= 2.0));
      if (expected == 0.0 || std::isinf(expected)) CHECK(std::signbit(value) == std::signbit(expected));
    }
  }
}

TEST_CASE("vmath atan2: within 1.5 ulp over all quotients, and the C standard's values at the ends",
          "[engine]") {
  const core::Philox random(4);
  double worst = 0.0, worst_f32 = 0.0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const double size = i % 4 == 0 ? 300.0 : 2.0;  // powers of ten
    const auto draw = [&](std::uint64_t at) {
      const double number = std::pow(10.0, size * (2.0 * random.uniform(2 * at) - 1.0));
      return random.uniform(2 * at + 1) < 0.5 ? -number : number;
    };
    const double y = draw(2 * i), x = draw(2 * i + 1);
    worst = std::max(worst, error_in_ulp(vmath::atan2(y, x), std::atan2(static_cast<long double>(y),
                                                                        static_cast<long double>(x))));
    const auto b = static_cast<float>(y), a = static_cast<float>(x);
    worst_f32 = std::max(worst_f32, error_in_ulp(vmath::atan2(b, a),
                                                 std::atan2(static_cast<double>(b), static_cast<double>(a))));
  }
  CHECK(worst <= most);
  CHECK(worst_f32 <= most);
  for (const double y : special_points()) {
    for (const double x : special_points()) {
      INFO(y << " over " << x);
      const double value = vmath::atan2(y, x), expected = std::atan2(y, x);
      CHECK((error_in_ulp(value, static_cast<long double>(expected)) <= 2.0));
      if (expected == 0.0) CHECK(std::signbit(value) == std::signbit(expected));
    }
  }
}

TEST_CASE("vmath: the vector loops of this machine give the bits of one element at a time", "[engine]") {
  const core::Philox random(3);
  std::vector<double> points = special_points();
  for (std::uint64_t i = 0; i < 4000; ++i)
    points.push_back((random.uniform(2 * i) - 0.5) * std::exp(40.0 * random.uniform(2 * i + 1) - 20.0));
  std::vector<float> narrow(points.begin(), points.end());
  const Tensor wide_points = Tensor::from(points, {static_cast<Dim>(points.size())});
  const Tensor narrow_points = Tensor::from(narrow, {static_cast<Dim>(narrow.size())});
  for (const Function& each : functions()) {
    const auto of_f64 = each.op(wide_points).to_vector<double>();
    const auto of_f32 = each.op(narrow_points).to_vector<float>();
    int n_different = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
      n_different +=
          same_bits(of_f64[i], each.of_f64(points[i])) && same_bits(of_f32[i], each.of_f32(narrow[i])) ? 0
                                                                                                       : 1;
    INFO(each.name);
    CHECK(n_different == 0);
  }
  const auto of_atan2 = atan2(wide_points, flip(wide_points, 0)).to_vector<double>();
  int n_other = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    n_other += same_bits(of_atan2[i], vmath::atan2(points[i], points[points.size() - 1 - i])) ? 0 : 1;
  CHECK(n_other == 0);
  const auto of_pow = power(abs(wide_points), wide_points).to_vector<double>();
  int n_different = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    n_different += same_bits(of_pow[i], vmath::pow(std::abs(points[i]), points[i])) ? 0 : 1;
  CHECK(n_different == 0);
}
