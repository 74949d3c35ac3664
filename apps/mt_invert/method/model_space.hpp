// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/subdomains.hpp"
#include "engine/core/differentiable_map.hpp"
#include "physics/mt/static_shift.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace lodestone::mt_invert::method {

/// What the optimizer moves: log10 resistivity of the free cells (or an unbounded number for each when bounds
/// are given), then the static shifts. With a learned prior the codes of its subdomains come first, and cells
/// only where there is no subdomain.
class ModelSpace {
 public:
  ModelSpace(const Earth& earth, std::optional<config::BoundsConfig> bounds,
             std::vector<physics::mt::StaticShiftKey> shifts = {},
             std::shared_ptr<const Subdomains> subdomains = nullptr);

  /// The unknowns of the free cells: codes are those whose model is nearest. shapes: (n_cells) →
  /// (n_of_cells).
  [[nodiscard]] Eigen::VectorXd from_log10(const Eigen::VectorXd& log10_resistivity) const;
  /// The same of a model that was decoded: the codes that made it. Needs a learned prior.
  [[nodiscard]] Eigen::VectorXd decoded_from(const Eigen::VectorXd& log10_resistivity) const;
  /// The same as `from_log10` with shifts of zero behind them. shapes: (n_cells) → (n_of_cells + n_shifts).
  [[nodiscard]] Eigen::VectorXd unshifted(const Eigen::VectorXd& log10_resistivity) const;
  /// Every cell's log10 resistivity, with or without the shifts in `unknowns`. shapes: (n_of_cells …) →
  /// (n_cells).
  [[nodiscard]] Eigen::VectorXd to_log10(const Eigen::VectorXd& unknowns) const;
  /// Derivative of each free cell's log10 resistivity by its unknown, without a learned prior. shapes:
  /// (n_of_cells …) → (n_free).
  [[nodiscard]] Eigen::VectorXd slope_of_log10(const Eigen::VectorXd& unknowns) const;
  [[nodiscard]] Eigen::VectorXd shifts_of(const Eigen::VectorXd& unknowns) const {
    return unknowns.tail(n_shifts());
  }

  /// A map of resistivities in ohm m as a map of the unknowns of the cells.
  [[nodiscard]] core::MapPtr behind(core::MapPtr simulation) const;
  /// The same of all unknowns; with shifts, they come out below the data.
  [[nodiscard]] core::MapPtr behind(core::MapPtr simulation, const physics::mt::Survey2D& survey) const;

  [[nodiscard]] Eigen::Index n_free() const { return static_cast<Eigen::Index>(free_cells_.size()); }
  /// Unknowns that set the free cells, as many as these without a learned prior.
  [[nodiscard]] Eigen::Index n_of_cells() const { return coded_ ? coded_->size_in() : n_free(); }
  [[nodiscard]] Eigen::Index n_shifts() const { return static_cast<Eigen::Index>(shifts_.size()); }
  [[nodiscard]] const std::vector<physics::mt::StaticShiftKey>& shift_keys() const { return shifts_; }
  [[nodiscard]] const std::shared_ptr<const Subdomains>& subdomains() const {
    return subdomains_;
  }  ///< may be empty
  /// The map from the unknowns of the cells to the free cells; empty without a learned prior.
  [[nodiscard]] const std::shared_ptr<const inversion::prior::SubdomainMap>& coded() const { return coded_; }

 private:
  std::optional<config::BoundsConfig> bounds_;
  std::vector<Eigen::Index> free_cells_;
  Eigen::VectorXd held_log10_;  ///< (n_cells); what counts are the cells that are not free
  std::vector<physics::mt::StaticShiftKey> shifts_;
  std::shared_ptr<const Subdomains> subdomains_;
  std::shared_ptr<const inversion::prior::SubdomainMap> coded_;
  core::MapPtr to_log10_,
      to_resistivity_;  ///< of the free cells; `to_log10_` is empty where unknowns are log10 resistivities
};

}  // namespace lodestone::mt_invert::method
