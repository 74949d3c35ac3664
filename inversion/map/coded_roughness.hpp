// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/map/subdomain_map.hpp"
#include "inversion/optimiser.hpp"

namespace lodestone::inversion {

/// How codes and cells are weighed against each other.
struct CodedRoughnessOptions {
  /// Of ‖v‖² beside the roughness. In 2-D ∫|∇m|² does not depend on scale: a body of one decade costs about 1, as does a code one standard deviation off.
  double code_weight = 1.0;
  /// Of the roughness across faces between two subdomains, of that elsewhere; inside a subdomain the decoder alone rules.
  /// source: β_h/α_h of the published field case (Zhou et al. 2024).
  double between_weight = 1.0 / 6.0;
};

/// ‖R (M(u) − m_ref)‖² + w ‖v‖² of the unknowns u = [v; outside] of a SubdomainMap M: roughness outside and between the subdomains, the prior of the codes.
class CodedRoughness {
 public:
  /// `roughness`: of first order on the model's cells, as `roughness_operator` makes it. shapes: (n_rows, n_model), (n_model).
  /// errors: InvalidArgument (weights), ShapeError.
  CodedRoughness(std::shared_ptr<const SubdomainMap> map, Eigen::SparseMatrix<double> roughness, Eigen::VectorXd reference,
                 CodedRoughnessOptions options = {});

  [[nodiscard]] double cost(const core::ConstVectorRef& unknowns) const;
  /// Its quadratic part (Gauss–Newton) at these unknowns. errors: SolverError when that is singular.
  [[nodiscard]] std::shared_ptr<const Regularization> at(const core::ConstVectorRef& unknowns) const;
  /// For the optimiser.
  [[nodiscard]] Reweigh reweigh() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;  ///< shared with the regularizations, which outlive this object
};

}  // namespace lodestone::inversion
