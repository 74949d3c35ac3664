// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/table.hpp"
#include "inversion/assessment.hpp"
#include "inversion/method.hpp"
#include "inversion/mt/forward.hpp"

#include <optional>

namespace lodestone::mt_invert::config {

using AlternatingConfig = inversion::AlternatingOptions;

/// Table [inversion]: the method and its options.
struct InversionConfig {
  inversion::Method method;

  [[nodiscard]] int max_iterations() const { return inversion::max_iterations(method); }
  [[nodiscard]] double target_rms() const { return inversion::target_rms(method); }
  [[nodiscard]] bool needs_jacobian() const { return inversion::needs_jacobian(method); }
  [[nodiscard]] bool alternates() const { return inversion::alternates(method); }
};

/// Table [uncertainty].
using UncertaintyConfig = inversion::AssessmentOptions;

/// Table [forward].
using ForwardConfig = inversion::mt::ForwardOptions;
using inversion::Redesigning;
using inversion::mt::CertificateOf;

// Each reads its table. errors: ConfigError with file:line, also for a key of a method that is not chosen.

[[nodiscard]] InversionConfig read_inversion(ConfigTable table);
/// Reads [uncertainty]; returns nothing where it requests neither posterior nor samples.
[[nodiscard]] std::optional<UncertaintyConfig> read_uncertainty(ConfigTable table);
[[nodiscard]] ForwardConfig read_forward(ConfigTable table);

}  // namespace lodestone::mt_invert::config
