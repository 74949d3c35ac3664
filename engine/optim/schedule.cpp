// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/schedule.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lodestone::engine {
namespace {

void check_steps(const char* schedule, std::int64_t n) {
  if (n < 1)
    throw core::InvalidArgument(std::string(schedule) + "#no_steps", "expected at least one step, got {}", n);
}

}  // namespace

Schedule step_decay(const StepDecay& options) {
  check_steps("step_decay", options.every);
  return [options](std::int64_t n) {
    return options.rate * std::pow(options.factor, static_cast<double>(n / options.every));
  };
}

Schedule exponential_decay(const ExponentialDecay& options) {
  return
      [options](std::int64_t n) { return options.rate * std::pow(options.factor, static_cast<double>(n)); };
}

Schedule cosine_decay(const CosineDecay& options) {
  check_steps("cosine_decay", options.n_steps);
  return [options](std::int64_t n) {
    const double done =
        static_cast<double>(std::min(n, options.n_steps)) / static_cast<double>(options.n_steps);
    return options.lowest + 0.5 * (options.rate - options.lowest) * (1.0 + std::cos(std::numbers::pi * done));
  };
}

Schedule warm_up(std::int64_t n_steps, const Schedule& then) {
  check_steps("warm_up", n_steps);
  return [=](std::int64_t n) {
    return n < n_steps ? then(0) * static_cast<double>(n + 1) / static_cast<double>(n_steps)
                       : then(n - n_steps);
  };
}

}  // namespace lodestone::engine
