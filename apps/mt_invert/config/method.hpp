// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/rows.hpp"
#include "inversion/optimize/alternating.hpp"
#include "inversion/optimize/descent.hpp"
#include "inversion/optimize/gauss_newton.hpp"

#include <memory>
#include <variant>

namespace lodestone::mt_invert::config {

/// Pairs of steps of cells and of codes, and Gauss–Newton for the polish behind them.
struct AlternatingConfig {
  inversion::optimize::AlternatingOptions pairs;
  inversion::optimize::GaussNewtonOptions polish;
};

/// Table [inversion]: the method and its options.
struct InversionConfig {
  std::variant<inversion::optimize::GaussNewtonOptions, inversion::optimize::DescentOptions,
               AlternatingConfig>
      method;

  [[nodiscard]] int max_iterations() const;
  [[nodiscard]] double target_rms() const;
  [[nodiscard]] bool needs_jacobian() const {
    return !std::holds_alternative<inversion::optimize::DescentOptions>(method);
  }
  [[nodiscard]] bool alternates() const { return std::holds_alternative<AlternatingConfig>(method); }
  /// Makes the optimizer of a stage in cells, or in codes and cells together. Where the method alternates, it
  /// serves the polish.
  [[nodiscard]] std::unique_ptr<inversion::optimize::Optimizer> make_optimizer(MPI_Comm comm) const;
  /// Makes the optimizer that alternates between cells and codes.
  [[nodiscard]] std::unique_ptr<inversion::optimize::Optimizer> make_alternating(
      MPI_Comm comm, inversion::prior::CodedRoughness codes, inversion::prior::EncodeOptions encode) const;
};

/// errors: ConfigError, also for a key of another algorithm than the one chosen.
[[nodiscard]] InversionConfig read_inversion(ConfigTable table);

}  // namespace lodestone::mt_invert::config
