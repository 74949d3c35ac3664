// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/rows.hpp"
#include "inversion/uncertainty/ensemble.hpp"
#include "inversion/uncertainty/posterior.hpp"

#include <optional>

namespace lodestone::mt_invert::config {

/// Table [uncertainty]: what is found out about the final model. Nothing of it changes the model.
struct UncertaintyConfig {
  bool posterior = false;                                           ///< linearized, at the final model
  std::optional<inversion::uncertainty::EnsembleOptions> ensemble;  ///< absent: no samples
  inversion::uncertainty::InvestigationOptions investigation;
  bool scale_errors = true;  ///< where the rms ends above 1, errors are taken to be so many times larger
  bool widen_prior =
      true;  ///< codes are not narrower before the data than they were trained, whatever the λ of the run
};

/// Nothing where neither is asked for. errors: ConfigError.
[[nodiscard]] std::optional<UncertaintyConfig> read_uncertainty(ConfigTable table);

}  // namespace lodestone::mt_invert::config
