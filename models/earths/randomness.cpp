// SPDX-License-Identifier: Apache-2.0
#include "models/earths/randomness.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::models::earths {
void check(const Range& range, std::string_view what, double least) {
  if (!std::isfinite(range.lower) || !std::isfinite(range.upper)) {
    throw core::InvalidArgument("models::Range#range_not_finite",
                                "expected two finite numbers for {}, got [{}, {}]", what, range.lower,
                                range.upper);
  }
  if (range.lower > range.upper) {
    throw core::InvalidArgument("models::Range#range_reversed",
                                "expected lower ≤ upper for {}, got [{:g}, {:g}]", what, range.lower,
                                range.upper);
  }
  if (range.lower < least) {
    throw core::InvalidArgument("models::Range#range_too_low",
                                "expected {:g} or more for {}, got [{:g}, {:g}]", least, what, range.lower,
                                range.upper);
  }
}

void check_positive(const Range& range, std::string_view what) {
  check(range, what);
  if (!(range.lower > 0.0)) {
    throw core::InvalidArgument("models::Range#range_not_positive",
                                "expected positive numbers for {}, got [{:g}, {:g}]", what, range.lower,
                                range.upper);
  }
}

void check_log10(const Range& range, std::string_view what) {
  check(range, what);
  if (range.lower < -6.0 || range.upper > 9.0) {
    throw core::InvalidArgument(
        "models::Range#not_log10",
        "expected log10 of ohm m from -6 to 9 for {}, got [{:g}, {:g}]; is that in ohm m?", what, range.lower,
        range.upper);
  }
}

void check(const IntegerRange& range, std::string_view what, int least) {
  if (range.lower > range.upper) {
    throw core::InvalidArgument("models::Range#range_reversed", "expected lower ≤ upper for {}, got [{}, {}]",
                                what, range.lower, range.upper);
  }
  if (range.lower < least) {
    throw core::InvalidArgument("models::Range#range_too_low", "expected {} or more for {}, got [{}, {}]",
                                least, what, range.lower, range.upper);
  }
}

double Draws::log_uniform(const Range& range) {
  return range.lower * std::pow(range.upper / range.lower, uniform());
}

int Draws::integer(const IntegerRange& range) {
  return range.lower + static_cast<int>(std::floor(uniform() * (range.upper - range.lower + 1.0)));
}

Eigen::MatrixXd Draws::normal(Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd values(rows, columns);
  for (double& value : values.reshaped()) value = normal();
  return values;
}

std::vector<double> Draws::sorted(int n, const Range& range) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::ranges::generate(values, [&] { return uniform(range); });
  std::ranges::sort(values);
  return values;
}

std::size_t Draws::one_of(const std::vector<double>& weights) {
  double left = uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0.0)) continue;
    if (left < weights[i]) return i;
    left -= weights[i];
    last = i;
  }
  return last;  // rounding alone comes here
}

core::Philox branch(const core::Philox& random, std::uint64_t number) {
  // 52 random bits each, from indices that count down from the end and so meet no index that is counted up
  // from 0.
  const auto bits = [&](std::uint64_t index) {
    return static_cast<std::uint64_t>(random.uniform(~index) * 0x1p53);
  };
  return core::Philox(bits(2 * number), bits(2 * number + 1));
}

}  // namespace lodestone::models::earths
