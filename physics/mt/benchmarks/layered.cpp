// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d1/layered.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/benchmarks/comparisons.hpp"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

namespace lodestone::physics::mt::benchmarks {
namespace {

constexpr double limit = 1e-6;  // relative

/// The table's periods are whole half-decades, rounded to six digits.
double exact_period_s(double rounded) { return std::pow(10.0, std::round(2.0 * std::log10(rounded)) / 2.0); }

std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream words(text);
  for (double number = 0.0; words >> number;) numbers.push_back(number);
  if (!words.eof())
    throw core::InvalidArgument("mt::benchmarks#not_numbers",
                                "expected numbers with blanks between them, got \"{}\"", text);
  return numbers;
}

}  // namespace

std::vector<core::Comparison> compare_layered(const core::Table& reference) {
  const auto& models = reference.texts("model");
  const auto& rho_ohm_m = reference.texts("rho_ohm_m_top_to_bottom");
  const auto& thickness_m = reference.texts("thickness_m");
  const auto& periods_s = reference.numbers("period_s");
  const auto &re = reference.numbers("Z_re_ohm"), &im = reference.numbers("Z_im_ohm");
  std::vector<core::Comparison> result;
  for (std::size_t i = 0; i < reference.n_rows(); ++i) {
    const double period_s = exact_period_s(periods_s[i]);
    const Complex ours =
        d1::layered_impedance({numbers_in(rho_ohm_m[i]), numbers_in(thickness_m[i])}, 1.0 / period_s);
    const Complex expected(re[i], im[i]);
    result.push_back({.what = fmt::format("{} {:.3g} s |Z|", models[i], period_s),
                      .reference = std::abs(expected),
                      .ours = std::abs(ours),
                      .limit = limit,
                      .difference = std::abs(ours - expected) / std::abs(expected)});
  }
  return result;
}

}  // namespace lodestone::physics::mt::benchmarks
