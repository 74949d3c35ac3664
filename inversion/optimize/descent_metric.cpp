// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/descent_metric.hpp"

#include "engine/core/random.hpp"
#include "engine/core/timer.hpp"

#include <cmath>

namespace lodestone::inversion::optimize {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;

/// Returns R with a row √damping for every unknown below it.
SparseMatrix damped(const SparseMatrix& roughness, const Eigen::VectorXd& damping) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int column = 0; column < roughness.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator entry(roughness, column); entry; ++entry)
      entries.emplace_back(static_cast<int>(entry.row()), static_cast<int>(entry.col()), entry.value());
  }
  for (int i = 0; i < damping.size(); ++i)
    entries.emplace_back(static_cast<int>(roughness.rows()) + i, i, std::sqrt(damping[i]));
  SparseMatrix result(roughness.rows() + damping.size(), roughness.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace

Eigen::VectorXd probe_diagonal(const core::Team& team, const core::Linearization& linearization,
                               const objective::DataMisfit& misfit) {
  constexpr int n_probes = 8;
  const core::ScopedTimer timer("inversion/probe");
  const core::Philox random(1);
  const Eigen::VectorXd weights = misfit.root_weights(linearization.value()).cwiseProduct(misfit.weights());
  const auto sign = [&](Eigen::Index i, Eigen::Index j) {
    return random.uniform(static_cast<std::uint64_t>(j * weights.size() + i)) < 0.5 ? -1.0 : 1.0;
  };
  const Eigen::MatrixXd probes = Eigen::MatrixXd::NullaryExpr(
      weights.size(), n_probes, [&](Eigen::Index i, Eigen::Index j) { return sign(i, j) * weights[i]; });
  return agreed(team, [&] { return linearization.vjp(probes); }).rowwise().squaredNorm() / n_probes;
}

DescentMetric::DescentMetric(const objective::Regularization& regularization, const Eigen::VectorXd& damping)
    : regularization_(regularization),
      root_(damped(regularization.roughness(), damping), regularization.reference()) {}

Eigen::VectorXd DescentMetric::roughness_gradient(const Eigen::VectorXd& model) const {
  const Eigen::VectorXd image = regularization_.roughness() * (model - regularization_.reference());
  return root_transposed(regularization_.roughness().transpose() * image);
}

double lambda_of_balance(const Eigen::VectorXd& diagonal, const objective::Regularization& regularization) {
  constexpr double n_cells = 100.0;
  const double roughness =
      regularization.roughness().squaredNorm() / static_cast<double>(diagonal.size());  // mean of diag(RᵀR)
  const double sensitivity = diagonal.mean();
  return sensitivity > 0.0 ? n_cells * n_cells * sensitivity / roughness : 1.0;
}

}  // namespace lodestone::inversion::optimize
