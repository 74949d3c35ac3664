// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/descent_steps.hpp"

#include "engine/core/random.hpp"
#include "engine/core/timer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lodestone::inversion::optimize {
namespace {

/// Returns −H⁻¹ gradient by the two loops of L-BFGS. source: Nocedal & Wright 2006, algorithm 7.4, whose
/// symbols these are: s = change of x, y = change of the gradient, ρ = 1/(sᵀy).
Eigen::VectorXd lbfgs_direction(const Eigen::MatrixXd& memory, const Eigen::VectorXd& gradient,
                                double lambda) {
  const Eigen::Index n_pairs = memory.cols() / n_per_pair;
  Eigen::VectorXd q = -gradient;
  if (n_pairs == 0) return q;
  const auto s = [&](Eigen::Index i) { return memory.col(n_per_pair * i); };
  const auto y = [&](Eigen::Index i) -> Eigen::VectorXd {
    return memory.col(n_per_pair * i + 1) + lambda * memory.col(n_per_pair * i + 2);
  };
  std::vector<double> a(static_cast<std::size_t>(n_pairs)), rho(a.size());
  for (Eigen::Index i = n_pairs; i-- > 0;) {
    const auto k = static_cast<std::size_t>(i);
    const Eigen::VectorXd y_i = y(i);
    rho[k] = 1.0 / s(i).dot(y_i);
    a[k] = rho[k] * s(i).dot(q);
    q -= a[k] * y_i;
  }
  const Eigen::VectorXd newest = y(n_pairs - 1);
  q *= s(n_pairs - 1).dot(newest) / newest.squaredNorm();
  for (Eigen::Index i = 0; i < n_pairs; ++i) {
    const auto k = static_cast<std::size_t>(i);
    q += (a[k] - rho[k] * y(i).dot(q)) * s(i);
  }
  return q;
}

/// Returns β d with β of Polak and Ribière; nothing where β is not positive (restart).
Eigen::MatrixXd remember_direction(const DescentStep& step) {
  const Eigen::VectorXd before = step.before.of(step.lambda), after = step.after.of(step.lambda);
  const double beta = after.dot(after - before) / before.squaredNorm();
  if (!(beta > 0.0)) return {};
  return beta * step.direction;
}

/// Adds the pair unless its data part has no positive curvature, and drops the oldest beyond `n_pairs`.
Eigen::MatrixXd remember_pair(const Eigen::MatrixXd& memory, const DescentStep& step, int n_pairs) {
  const Eigen::VectorXd y = step.after.data - step.before.data;
  if (!(step.change.dot(y) > 1e-10 * step.change.norm() * y.norm())) return memory;
  const Eigen::Index n_kept =
      std::min<Eigen::Index>(memory.cols(), n_per_pair * (static_cast<Eigen::Index>(n_pairs) - 1));
  Eigen::MatrixXd next(step.change.size(), n_kept + n_per_pair);
  next.leftCols(n_kept) = memory.rightCols(n_kept);
  next.col(n_kept) = step.change;
  next.col(n_kept + 1) = y;
  next.col(n_kept + 2) = step.after.roughness - step.before.roughness;
  return next;
}

}  // namespace

Eigen::VectorXd descent_direction(DescentMethod method, const Eigen::MatrixXd& memory,
                                  const Eigen::VectorXd& gradient, double lambda) {
  if (method == DescentMethod::lbfgs) return lbfgs_direction(memory, gradient, lambda);
  if (memory.cols() == 0) return -gradient;
  return memory.col(0) - gradient;
}

Eigen::MatrixXd remember(DescentMethod method, const Eigen::MatrixXd& memory, const DescentStep& step,
                         int n_pairs) {
  return method == DescentMethod::lbfgs ? remember_pair(memory, step, n_pairs) : remember_direction(step);
}

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
