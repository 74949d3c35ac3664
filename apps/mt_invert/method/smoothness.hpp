// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/model_space.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/coded_roughness.hpp"

namespace lodestone::mt_invert::method {

/// The regularization of a run: roughness of the free cells, in the norm of the configuration, and a little
/// on the shifts (their prior is a datum). Where cells are set by codes, the prior of these takes its place.
class Smoothness {
 public:
  /// errors: InvalidArgument.
  Smoothness(const config::RegularizationConfig& config, const Earth& earth, ModelSpace space);

  /// With the weights that the norm has at these unknowns.
  [[nodiscard]] std::shared_ptr<const inversion::objective::Regularization> at(
      const Eigen::VectorXd& unknowns) const;
  /// For the optimizer; empty when the weights do not depend on the model. Keeps a reference to this object.
  [[nodiscard]] inversion::objective::Reweigh reweigh() const;
  /// What the codes are weighed against; nothing where unknowns are cells.
  [[nodiscard]] const std::optional<inversion::prior::CodedRoughness>& coded() const { return coded_; }

 private:
  /// Of the free cells and the shifts.
  [[nodiscard]] Eigen::SparseMatrix<double> of_unknowns(Eigen::SparseMatrix<double> roughness) const;

  ModelSpace space_;
  inversion::prior::RoughnessNormOptions norm_;
  Eigen::SparseMatrix<double> roughness_, gradient_;  ///< of all cells; `gradient_` is empty for l2
  std::vector<Eigen::Index> free_cells_;
  Eigen::VectorXd reference_log10_, shift_weights_;
  std::optional<inversion::prior::CodedRoughness> coded_;  ///< with a learned prior
};

}  // namespace lodestone::mt_invert::method
