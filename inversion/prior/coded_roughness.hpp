// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/objective/regularization.hpp"
#include "inversion/prior/roughness.hpp"
#include "inversion/prior/roughness_norm.hpp"
#include "inversion/prior/subdomain_map.hpp"

namespace lodestone::inversion::prior {

/// The weights of codes and cells against each other.
struct CodedRoughnessOptions {
  /// Weight of ‖v‖² beside the roughness, in units of the rule. With 1, draws of the prior cost on average as
  /// much as the roughness of their cells. So λ has one meaning with codes and without.
  double code_weight = 1.0;
  /// Roughness across faces between two subdomains, relative to that elsewhere.
  double between_weight = 1.0;
  /// Roughness and smallness inside a subdomain, relative to those elsewhere. 0: there the decoder alone
  /// rules; 1: a smooth draw among those that fit.
  double inside_weight = 0.0;
  /// Norm of a jump between two subdomains, face by face, ε in decades: ‖·‖², or one in which a few high
  /// steps are cheaper than many low ones (reweighted at each model).
  RoughnessNormOptions between_norm{};
};

/// ‖R (M(u) − m_ref)‖² + Σ w ‖v‖² of the unknowns u = [v; outside] of a SubdomainMap M: roughness outside and
/// between the subdomains (inside them by its weight), the prior of the codes. Where jumps between subdomains
/// count by another norm, their rows of R follow u.
class CodedRoughness {
 public:
  /// Combines the parts. `roughness`: of first order on the model's cells, as `roughness_operator` makes it.
  /// shapes: (n_rows, n_model), (n_model). errors: InvalidArgument (weights), ShapeError.
  CodedRoughness(std::shared_ptr<const SubdomainMap> map, Eigen::SparseMatrix<double> roughness,
                 Eigen::VectorXd reference, CodedRoughnessOptions options = {});

  [[nodiscard]] double cost(const core::ConstVectorRef& unknowns) const;
  /// Returns the weight of ‖v‖² of each region's codes by the rule, times `code_weight`.
  [[nodiscard]] const std::vector<double>& code_weights() const;
  /// Returns its quadratic part (Gauss–Newton) at these unknowns, with the weights of the norm there. errors:
  /// SolverError when that is singular.
  [[nodiscard]] std::shared_ptr<const objective::Regularization> at(
      const core::ConstVectorRef& unknowns) const;
  /// Returns the quadratic part of the codes alone, with fixed cells outside. Its cost takes codes. errors:
  /// SolverError when that is singular.
  [[nodiscard]] std::shared_ptr<const objective::Regularization> of_codes(
      const core::ConstVectorRef& unknowns) const;
  [[nodiscard]] const SubdomainMap& map() const;
  /// Returns the rule by which an optimizer remakes the regularization.
  [[nodiscard]] objective::Reweigh reweigh() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;  ///< shared with the regularizations, which outlive this object
};

}  // namespace lodestone::inversion::prior
