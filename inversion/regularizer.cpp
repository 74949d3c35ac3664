// SPDX-License-Identifier: Apache-2.0
#include "inversion/regularizer.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <utility>

namespace lodestone::inversion {

Regularizer::Regularizer(const physics::mesh::TensorGrid& grid, const prior::RoughnessOptions& roughness,
                         const prior::RoughnessNormOptions& norm, Eigen::VectorXd reference,
                         Unknowns unknowns)
    : unknowns_(std::move(unknowns)), norm_(norm), reference_(std::move(reference)) {
  if (roughness.autoregression) {
    make_covariance(grid, *roughness.autoregression);
    return;
  }
  roughness_ = prior::roughness_operator(grid, roughness);
  if (norm_.norm != prior::RoughnessNorm::l2) gradient_ = prior::scaled_gradient(grid, roughness);
  // The operator has to be invertible for the further unknowns as well; at the λ of a model that fits, this
  // is little beside their prior.
  const double of_a_decade = (roughness_ * Eigen::VectorXd::Ones(roughness_.cols())).norm();
  further_weights_ = Eigen::VectorXd::Constant(unknowns_.n_further(), of_a_decade);
  if (!unknowns_.coded()) return;
  Eigen::VectorXd of_free = Eigen::VectorXd::Zero(unknowns_.n_free() + unknowns_.n_further());
  of_free.head(unknowns_.n_free()) = reference_(unknowns_.free_cells());
  const prior::Regions& regions = *unknowns_.regions();
  coded_.emplace(regions.map(unknowns_.n_further()), of_unknowns(roughness_), std::move(of_free),
                 regions.options().weights);
}

void Regularizer::make_covariance(const physics::mesh::TensorGrid& grid,
                                  const prior::Autoregression& options) {
  if (unknowns_.coded() || norm_.norm != prior::RoughnessNorm::l2)
    throw core::InvalidArgument("inversion::Regularizer#covariance_alone",
                                "expected cells and the norm \"l2\" beside an autoregression, got {}",
                                unknowns_.coded() ? "codes of a learned prior" : "another norm");
  // A constant model costs 1 per cell, since the smoothing keeps it.
  const double of_a_decade = std::sqrt(static_cast<double>(unknowns_.n_free()));
  covariance_ = prior::autoregression_operator(grid, options, unknowns_.free_cells(),
                                               Eigen::VectorXd::Constant(unknowns_.n_further(), of_a_decade));
}

Eigen::SparseMatrix<double> Regularizer::of_unknowns(Eigen::SparseMatrix<double> roughness) const {
  if (unknowns_.n_free() < roughness.cols())
    roughness = prior::of_free_cells(roughness, unknowns_.free_cells());
  return unknowns_.n_further() > 0 ? prior::with_further_unknowns(roughness, further_weights_) : roughness;
}

std::shared_ptr<const objective::Regularization> Regularizer::at(const Eigen::VectorXd& unknowns) const {
  if (coded_) return coded_->at(unknowns);
  if (covariance_)
    return std::make_shared<objective::Regularization>(*covariance_, unknowns_.with_zeros(reference_));
  Eigen::SparseMatrix<double> roughness = roughness_;
  if (norm_.norm != prior::RoughnessNorm::l2)
    roughness = prior::reweighted(std::move(roughness),
                                  gradient_ * (unknowns_.to_cells(unknowns) - reference_), norm_);
  return std::make_shared<objective::Regularization>(of_unknowns(std::move(roughness)),
                                                     unknowns_.with_zeros(reference_));
}

objective::Reweigh Regularizer::reweigh() const {
  if (coded_) return coded_->reweigh();
  if (norm_.norm == prior::RoughnessNorm::l2) return {};
  return [this](const core::ConstVectorRef& unknowns) { return at(unknowns); };
}

}  // namespace lodestone::inversion
