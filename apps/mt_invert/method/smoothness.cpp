// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/smoothness.hpp"

#include "inversion/prior/roughness.hpp"

#include <utility>

namespace lodestone::mt_invert::method {

Smoothness::Smoothness(const config::RegularizationConfig& config, const Earth& earth, ModelSpace space)
    : space_(std::move(space)),
      norm_(config.norm),
      roughness_(inversion::prior::roughness_operator(earth.grid, config.roughness)),
      free_cells_(earth.free_cells),
      reference_log10_(earth.reference_log10) {
  if (norm_.norm != inversion::prior::RoughnessNorm::l2)
    gradient_ = inversion::prior::scaled_gradient(earth.grid, config.roughness);
  // The operator has to be invertible for the shifts as well; at the λ of a model that fits, this is little
  // beside their prior.
  const double of_a_decade = (roughness_ * Eigen::VectorXd::Ones(roughness_.cols())).norm();
  shift_weights_ = Eigen::VectorXd::Constant(space_.n_shifts(), of_a_decade);
  if (!space_.coded()) return;
  Eigen::VectorXd reference = Eigen::VectorXd::Zero(space_.n_free() + space_.n_shifts());
  reference.head(space_.n_free()) = reference_log10_(free_cells_);
  const Subdomains& subdomains = *space_.subdomains();
  coded_.emplace(subdomains.map(space_.n_shifts()), of_unknowns(roughness_), std::move(reference),
                 subdomains.config().weights);
}

Eigen::SparseMatrix<double> Smoothness::of_unknowns(Eigen::SparseMatrix<double> roughness) const {
  if (space_.n_free() < roughness.cols()) roughness = inversion::prior::of_free_cells(roughness, free_cells_);
  return space_.n_shifts() > 0 ? inversion::prior::with_further_unknowns(roughness, shift_weights_)
                               : roughness;
}

std::shared_ptr<const inversion::objective::Regularization> Smoothness::at(
    const Eigen::VectorXd& unknowns) const {
  if (coded_) return coded_->at(unknowns);
  Eigen::SparseMatrix<double> roughness = roughness_;
  if (norm_.norm != inversion::prior::RoughnessNorm::l2)
    roughness = inversion::prior::reweighted(
        std::move(roughness), gradient_ * (space_.to_log10(unknowns) - reference_log10_), norm_);
  return std::make_shared<inversion::objective::Regularization>(of_unknowns(std::move(roughness)),
                                                                space_.unshifted(reference_log10_));
}

inversion::objective::Reweigh Smoothness::reweigh() const {
  if (coded_) return coded_->reweigh();
  if (norm_.norm == inversion::prior::RoughnessNorm::l2) return {};
  return [this](const core::ConstVectorRef& unknowns) { return at(unknowns); };
}

}  // namespace lodestone::mt_invert::method
