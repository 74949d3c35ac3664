// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>

namespace lodestone::engine {

/// The learning rate as a function of the number of steps made; a plain number is one that stays. It has no
/// state: the optimizer counts.
class Schedule {
 public:
  Schedule(double rate)
      : rate_([rate](std::int64_t) { return rate; }) {
  }  // NOLINT(google-explicit-constructor): a number is a schedule
  template <std::invocable<std::int64_t> F>
  Schedule(F rate) : rate_(std::move(rate)) {}  // NOLINT(google-explicit-constructor): so is a function
  [[nodiscard]] double operator()(std::int64_t n_steps) const { return rate_(n_steps); }

 private:
  std::function<double(std::int64_t)> rate_;
};

struct StepDecay {
  double rate;          ///< at first
  std::int64_t every;   ///< steps
  double factor = 0.1;  ///< applied each time
};
[[nodiscard]] Schedule step_decay(const StepDecay& options);

struct ExponentialDecay {
  double rate;    ///< at first
  double factor;  ///< applied every step
};
[[nodiscard]] Schedule exponential_decay(const ExponentialDecay& options);

struct CosineDecay {
  double rate;           ///< at first
  std::int64_t n_steps;  ///< until the lowest rate, which stays
  double lowest = 0.0;
};
/// Returns lowest + (rate − lowest) (1 + cos(π n / n_steps)) / 2. source: Loshchilov & Hutter 2017,
/// arXiv:1608.03983, eq. 5 without restarts
[[nodiscard]] Schedule cosine_decay(const CosineDecay& options);

/// Rises linearly over `n_steps` steps to what `then` begins with, and goes on with it. source: Goyal et al.
/// 2017, arXiv:1706.02677, section 2.2
[[nodiscard]] Schedule warm_up(std::int64_t n_steps, const Schedule& then);

}  // namespace lodestone::engine
