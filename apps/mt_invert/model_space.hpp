// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config.hpp"
#include "engine/core/differentiable_map.hpp"

#include <optional>

namespace lodestone::mt_invert {

/// What the optimiser moves: log10 resistivity itself, or an unbounded number per cell when bounds are given.
class ModelSpace {
 public:
  ModelSpace(Eigen::Index n_cells, std::optional<BoundsConfig> bounds);

  [[nodiscard]] Eigen::VectorXd from_log10(const Eigen::VectorXd& log10_resistivity) const;
  [[nodiscard]] Eigen::VectorXd to_log10(const Eigen::VectorXd& model) const;
  /// A map of resistivities in ohm m as a map of the unknowns.
  [[nodiscard]] core::MapPtr behind(core::MapPtr simulation) const;

 private:
  std::optional<BoundsConfig> bounds_;
  core::MapPtr to_log10_, to_resistivity_;  ///< `to_log10_` is empty without bounds
};

}  // namespace lodestone::mt_invert
