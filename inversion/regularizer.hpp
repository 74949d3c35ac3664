// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/prior/roughness.hpp"
#include "inversion/prior/roughness_norm.hpp"
#include "inversion/unknowns.hpp"

namespace lodestone::inversion {

/// The regularization of a stage: roughness of the free cells in a norm, and a little on the further unknowns
/// (their prior is a datum). Where cells are set by codes, the prior of these takes its place.
class Regularizer {
 public:
  /// Makes the roughness of a problem. `reference`: values of all cells that the model stays near. shape:
  /// (n_cells). errors: InvalidArgument, also for a norm or codes beside an autoregression.
  Regularizer(const physics::mesh::TensorGrid& grid, const prior::RoughnessOptions& roughness,
              const prior::RoughnessNormOptions& norm, Eigen::VectorXd reference, Unknowns unknowns);

  /// Returns the regularization with the weights that the norm has at these unknowns.
  [[nodiscard]] std::shared_ptr<const objective::Regularization> at(const Eigen::VectorXd& unknowns) const;
  /// Returns the rule for the optimizer, empty when the weights do not depend on the model. It keeps a
  /// reference to this object.
  [[nodiscard]] objective::Reweigh reweigh() const;
  /// Returns the roughness beside the codes; nothing where unknowns are cells.
  [[nodiscard]] const std::optional<prior::CodedRoughness>& coded() const { return coded_; }

 private:
  /// Returns the roughness of the free cells and the further unknowns.
  [[nodiscard]] Eigen::SparseMatrix<double> of_unknowns(Eigen::SparseMatrix<double> roughness) const;

  /// Makes the covariance of the free cells and the further unknowns.
  void make_covariance(const physics::mesh::TensorGrid& grid, const prior::Autoregression& options);

  Unknowns unknowns_;
  prior::RoughnessNormOptions norm_;
  Eigen::SparseMatrix<double> roughness_, gradient_;  ///< operators on all cells; `gradient_` is empty for l2
  std::optional<objective::TriangularProduct> covariance_;  ///< in the place of `roughness_`
  Eigen::VectorXd reference_, further_weights_;
  std::optional<prior::CodedRoughness> coded_;  ///< empty without a learned prior
};

}  // namespace lodestone::inversion
