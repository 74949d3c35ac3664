// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/random.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <string_view>
#include <vector>

namespace lodestone::models::earths {

/// The values from which a quantity is drawn, uniformly unless stated otherwise.
struct Range {
  double lower = 0.0, upper = 0.0;
};
/// Whole numbers, both ends among them.
struct IntegerRange {
  int lower = 0, upper = 0;
};

/// Checks a range, which the message calls `what`. errors: InvalidArgument where an end is not finite,
/// lower > upper, or lower < `least`.
void check(const Range& range, std::string_view what, double least = -1e300);
/// Checks a range that must lie above 0.
void check_positive(const Range& range, std::string_view what);
/// Checks a range of log10 of ohm m: −6 … 9. Resistivities in ohm m seldom lie there.
void check_log10(const Range& range, std::string_view what);
void check(const IntegerRange& range, std::string_view what, int least = 0);

/// Random numbers of one draw, taken one after the other.
class Draws {
 public:
  explicit Draws(const core::Philox& random) : random_(random) {}
  [[nodiscard]] double uniform() { return random_.uniform(next_++); }
  [[nodiscard]] double uniform(const Range& range) {
    return range.lower + (range.upper - range.lower) * uniform();
  }
  /// Draws a number that is uniform in the logarithm: sizes and distances.
  [[nodiscard]] double log_uniform(const Range& range);
  [[nodiscard]] int integer(const IntegerRange& range);
  [[nodiscard]] bool chance(double probability) { return uniform() < probability; }
  [[nodiscard]] double normal() { return random_.normal(next_++); }
  [[nodiscard]] Eigen::MatrixXd normal(Eigen::Index rows, Eigen::Index columns);
  /// Draws n values of a range, in increasing order.
  [[nodiscard]] std::vector<double> sorted(int n, const Range& range);
  /// Draws the number of one of the weights, none negative, at least one positive.
  [[nodiscard]] std::size_t one_of(const std::vector<double>& weights);

 private:
  core::Philox random_;
  std::uint64_t next_ = 0;
};

/// Returns random numbers of their own for part `number` of a draw: a generator below this one, a modifier.
/// Two branches of one draw, and branches of branches, share nothing but a chance of 2⁻¹⁰⁴.
[[nodiscard]] core::Philox branch(const core::Philox& random, std::uint64_t number);

}  // namespace lodestone::models::earths
