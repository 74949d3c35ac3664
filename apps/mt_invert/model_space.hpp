// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/earth.hpp"
#include "engine/core/differentiable_map.hpp"
#include "physics/mt/static_shift.hpp"

#include <optional>
#include <vector>

namespace lodestone::mt_invert {

/// What the optimiser moves: log10 resistivity of the free cells (or an unbounded number for each when bounds are given), then the static shifts.
class ModelSpace {
 public:
  ModelSpace(const Earth& earth, std::optional<BoundsConfig> bounds, std::vector<physics::mt::StaticShiftKey> shifts = {});

  /// The unknowns of the free cells. shapes: (n_cells) → (n_free).
  [[nodiscard]] Eigen::VectorXd from_log10(const Eigen::VectorXd& log10_resistivity) const;
  /// The same with shifts of zero behind them. shapes: (n_cells) → (n_free + n_shifts).
  [[nodiscard]] Eigen::VectorXd unshifted(const Eigen::VectorXd& log10_resistivity) const;
  /// Every cell's log10 resistivity, with or without the shifts in `unknowns`. shapes: (n_free …) → (n_cells).
  [[nodiscard]] Eigen::VectorXd to_log10(const Eigen::VectorXd& unknowns) const;
  [[nodiscard]] Eigen::VectorXd shifts_of(const Eigen::VectorXd& unknowns) const { return unknowns.tail(n_shifts()); }

  /// A map of resistivities in ohm m as a map of the unknowns of the cells.
  [[nodiscard]] core::MapPtr behind(core::MapPtr simulation) const;
  /// The same of all unknowns; with shifts, they come out below the data.
  [[nodiscard]] core::MapPtr behind(core::MapPtr simulation, const physics::mt::Survey2D& survey) const;

  [[nodiscard]] Eigen::Index n_free() const { return static_cast<Eigen::Index>(free_cells_.size()); }
  [[nodiscard]] Eigen::Index n_shifts() const { return static_cast<Eigen::Index>(shifts_.size()); }
  [[nodiscard]] const std::vector<physics::mt::StaticShiftKey>& shift_keys() const { return shifts_; }

 private:
  std::optional<BoundsConfig> bounds_;
  std::vector<Eigen::Index> free_cells_;
  Eigen::VectorXd held_log10_;  ///< (n_cells); what counts are the cells that are not free
  std::vector<physics::mt::StaticShiftKey> shifts_;
  core::MapPtr to_log10_, to_resistivity_;  ///< of the free cells; `to_log10_` is empty without bounds
};

}  // namespace lodestone::mt_invert
