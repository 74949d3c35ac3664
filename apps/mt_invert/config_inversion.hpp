// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config_table.hpp"
#include "inversion/descent.hpp"
#include "inversion/gauss_newton.hpp"

#include <memory>
#include <variant>

namespace lodestone::mt_invert {

/// Table [inversion]: the method and its options.
struct InversionConfig {
  std::variant<inversion::GaussNewtonOptions, inversion::DescentOptions> method;

  [[nodiscard]] int max_iterations() const;
  [[nodiscard]] double target_rms() const;
  [[nodiscard]] bool needs_jacobian() const { return std::holds_alternative<inversion::GaussNewtonOptions>(method); }
  [[nodiscard]] std::unique_ptr<inversion::Optimiser> make_optimiser(MPI_Comm comm) const;
};

/// errors: ConfigError, also for a key of another algorithm than the one chosen.
[[nodiscard]] InversionConfig read_inversion(ConfigTable table);

}  // namespace lodestone::mt_invert
