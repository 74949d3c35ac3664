// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/rows.hpp"
#include "inversion/method.hpp"

#include <memory>
#include <variant>

namespace lodestone::mt_invert::config {

using AlternatingConfig = inversion::AlternatingMethod;

/// Table [inversion]: the method and its options.
struct InversionConfig {
  inversion::Method method;

  [[nodiscard]] int max_iterations() const { return inversion::max_iterations(method); }
  [[nodiscard]] double target_rms() const { return inversion::target_rms(method); }
  [[nodiscard]] bool needs_jacobian() const { return inversion::needs_jacobian(method); }
  [[nodiscard]] bool alternates() const { return inversion::alternates(method); }
};

/// errors: ConfigError, also for a key of another algorithm than the one chosen.
[[nodiscard]] InversionConfig read_inversion(ConfigTable table);

}  // namespace lodestone::mt_invert::config
