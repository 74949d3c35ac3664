// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "inversion/prior/regions.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace lodestone::inversion {

/// Bounds of every free cell, in the scale of the model.
struct Bounds {
  double lower = 0.0, upper = 0.0;
};

/// The cells of a model that an inversion moves, and the values of all cells in the scale of the model.
struct FreeCells {
  std::vector<Eigen::Index> cells;  ///< in order
  Eigen::VectorXd held;             ///< (n_cells); only those of cells that are not free count
};

/// The numbers an optimizer moves: the values of the free cells (or an unbounded number for each when bounds
/// are given), then further unknowns such as static shifts. With a learned prior the codes of its subdomains
/// come first, and cells only where there is no subdomain.
class Unknowns {
 public:
  /// `scale`: log10 when forward maps take the quantity itself and the model holds its logarithm, else
  /// linear.
  Unknowns(FreeCells cells, physics::mesh::Scale scale, std::optional<Bounds> bounds,
           Eigen::Index n_further = 0, std::shared_ptr<const prior::Regions> regions = nullptr);

  /// Returns the unknowns of the free cells; codes are those whose model is nearest. shapes: (n_cells) →
  /// (n_of_cells).
  [[nodiscard]] Eigen::VectorXd from_cells(const Eigen::VectorXd& values) const;
  /// Returns the codes that made a decoded model, and the cells outside. Needs a learned prior.
  [[nodiscard]] Eigen::VectorXd decoded_from(const Eigen::VectorXd& values) const;
  /// Returns `from_cells` with further unknowns of zero. shapes: (n_cells) → (size).
  [[nodiscard]] Eigen::VectorXd with_zeros(const Eigen::VectorXd& values) const;
  /// Returns the value of every cell, with or without further unknowns in the argument. shapes: (n_of_cells
  /// …) → (n_cells).
  [[nodiscard]] Eigen::VectorXd to_cells(const Eigen::VectorXd& unknowns) const;
  /// Returns the derivative of each free cell's value by its unknown, without a learned prior. shapes:
  /// (n_of_cells …) → (n_free).
  [[nodiscard]] Eigen::VectorXd slope_of_cells(const Eigen::VectorXd& unknowns) const;
  [[nodiscard]] Eigen::VectorXd further_of(const Eigen::VectorXd& unknowns) const {
    return unknowns.tail(n_further_);
  }

  /// Returns a map of the quantity in all cells as a map of the unknowns of the cells.
  [[nodiscard]] core::MapPtr behind(core::MapPtr map) const;

  [[nodiscard]] Eigen::Index size() const { return n_of_cells() + n_further_; }
  [[nodiscard]] Eigen::Index n_free() const { return std::ssize(cells_.cells); }
  /// Returns the number of unknowns that set the free cells, as many as these without a learned prior.
  [[nodiscard]] Eigen::Index n_of_cells() const { return coded_ ? coded_->size_in() : n_free(); }
  [[nodiscard]] Eigen::Index n_further() const { return n_further_; }
  [[nodiscard]] const std::vector<Eigen::Index>& free_cells() const { return cells_.cells; }
  /// Returns the regions of the learned prior; null without one.
  [[nodiscard]] const std::shared_ptr<const prior::Regions>& regions() const { return regions_; }
  /// Returns the map from the unknowns of the cells to the free cells; null without a learned prior.
  [[nodiscard]] const std::shared_ptr<const prior::SubdomainMap>& coded() const { return coded_; }

 private:
  FreeCells cells_;
  physics::mesh::Scale scale_;
  std::optional<Bounds> bounds_;
  Eigen::Index n_further_;
  std::shared_ptr<const prior::Regions> regions_;
  std::shared_ptr<const prior::SubdomainMap> coded_;
  core::MapPtr to_values_;    ///< values of the free cells; null where unknowns are the values
  core::MapPtr to_quantity_;  ///< quantity of the free cells; null where that is the unknown itself
};

}  // namespace lodestone::inversion
