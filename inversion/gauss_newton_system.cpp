// SPDX-License-Identifier: Apache-2.0
// Symbols as in gauss_newton_system.hpp.
#include "inversion/gauss_newton_system.hpp"

#include "engine/core/timer.hpp"
#include "inversion/lapack.hpp"
#include "inversion/shared_gram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::inversion {
namespace {

std::vector<Eigen::Index> kept_data(const DataMisfit& misfit) {
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < misfit.size(); ++i) {
    if (misfit.weights()[i] > 0.0) kept.push_back(i);
  }
  return kept;
}

/// Jᵀ W of some data, copied eight data at a time so that whole cache lines of J are used.
Eigen::MatrixXd weighted_transpose(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& weights, const Eigen::Index* data,
                                   Eigen::Index n_data) {
  Eigen::MatrixXd result(jacobian.cols(), n_data);
  constexpr Eigen::Index group = 8;
  for (Eigen::Index begin = 0; begin < n_data; begin += group) {
    const Eigen::Index end = std::min(begin + group, n_data);
    for (Eigen::Index j = 0; j < jacobian.cols(); ++j) {
      for (Eigen::Index i = begin; i < end; ++i) result(j, i) = weights[data[i]] * jacobian(data[i], j);
    }
  }
  return result;
}

/// (A + λ I)⁻¹ b of the lower triangle of A.
std::optional<Eigen::VectorXd> shifted_solve(const Eigen::MatrixXd& lower, double lambda, const Eigen::VectorXd& b) {
  const core::ScopedTimer timer("inversion/cholesky");
  Eigen::MatrixXd factor = lower;
  factor.diagonal().array() += lambda;
  const auto n = static_cast<double>(factor.rows());
  core::Trace::global().add_work("inversion/cholesky", n * n * n / 3.0, 0.0);
  if (!lapack::factorise(factor)) return std::nullopt;
  return lapack::solve(factor, b);
}

}  // namespace

GaussNewtonSystem::GaussNewtonSystem(const Team& team, const core::Linearization& linearization, const DataMisfit& misfit,
                                     const Regularization& regularization, const Eigen::VectorXd& model)
    : team_(team), regularization_(regularization), model_(model) {
  const std::vector<Eigen::Index> kept = kept_data(misfit);
  Eigen::MatrixXd jacobian;
  {
    const core::ScopedTimer timer("inversion/jacobian");
    jacobian = linearization.jacobian();
  }
  const Eigen::VectorXd root_weights = misfit.root_weights(linearization.value());
  const Eigen::VectorXd weights = misfit.weights().cwiseProduct(root_weights);
  build_root(jacobian, kept, weights);
  const Eigen::VectorXd shift = jacobian * (model - regularization.reference());
  residual_ = misfit.residual(linearization.value()).cwiseProduct(root_weights)(kept);
  shifted_ = residual_.array() + weights(kept).array() * shift(kept).array();
  mean_diagonal_ = b_.squaredNorm() / static_cast<double>(b_.cols());
}

void GaussNewtonSystem::build_root(const Eigen::MatrixXd& jacobian, const std::vector<Eigen::Index>& kept, const Eigen::VectorXd& weights) {
  const core::ScopedTimer timer("inversion/root");
  b_.resize(jacobian.cols(), static_cast<Eigen::Index>(kept.size()));
  const auto blocks = column_blocks(b_.cols(), team_.size());
  for (const ColumnBlock& block : blocks) {
    if (block.owner != team_.rank()) continue;
    const Eigen::MatrixXd rows = weighted_transpose(jacobian, weights, kept.data() + block.first, block.size);
    b_.middleCols(block.first, block.size) = regularization_.apply_root_transposed(rows);
    const auto width = static_cast<double>(block.size);
    core::Trace::global().add_work("inversion/root", width * regularization_.flops_per_column(),
                                   24.0 * width * static_cast<double>(b_.rows()));
  }
  for (const ColumnBlock& block : blocks) team_.broadcast(b_.middleCols(block.first, block.size), block.owner);
}

std::optional<Eigen::VectorXd> GaussNewtonSystem::step(const Eigen::VectorXd& from, const Eigen::VectorXd& data, double lambda) const {
  Eigen::MatrixXd model = Eigen::MatrixXd::Constant(b_.rows(), 1, std::numeric_limits<double>::quiet_NaN());
  if (team_.rank() == 0) {
    if (const auto x = solve(data, lambda)) model = from + regularization_.apply_root(*x).col(0);
  }
  team_.broadcast(model);
  if (!model.allFinite()) return std::nullopt;
  return model.col(0);
}

std::optional<Eigen::VectorXd> GaussNewtonSystem::jump(double lambda) const { return step(regularization_.reference(), shifted_, lambda); }
std::optional<Eigen::VectorXd> GaussNewtonSystem::creep(double lambda) const { return step(model_, residual_, lambda); }

double GaussNewtonSystem::linear_rms(double lambda) const {
  Eigen::MatrixXd rms = Eigen::MatrixXd::Constant(1, 1, std::numeric_limits<double>::infinity());
  if (team_.rank() == 0) {
    if (const auto x = solve(shifted_, lambda))
      rms(0, 0) = (shifted_ - b_.transpose() * *x).norm() / std::sqrt(static_cast<double>(shifted_.size()));
  }
  team_.broadcast(rms);
  return rms(0, 0);
}

DataSpaceSystem::DataSpaceSystem(const Team& team, const core::Linearization& linearization, const DataMisfit& misfit,
                                 const Regularization& regularization, const Eigen::VectorXd& model)
    : GaussNewtonSystem(team, linearization, misfit, regularization, model), gram_(shared_gram(team, b())) {}

std::optional<Eigen::VectorXd> DataSpaceSystem::solve(const Eigen::VectorXd& data, double lambda) const {
  const auto alpha = shifted_solve(gram_, lambda, data);
  if (!alpha) return std::nullopt;
  return b() * *alpha;
}

ModelSpaceSystem::ModelSpaceSystem(const Team& team, const core::Linearization& linearization, const DataMisfit& misfit,
                                   const Regularization& regularization, const Eigen::VectorXd& model)
    : GaussNewtonSystem(team, linearization, misfit, regularization, model), normal_(shared_gram(team, b().transpose())) {}

std::optional<Eigen::VectorXd> ModelSpaceSystem::solve(const Eigen::VectorXd& data, double lambda) const {
  return shifted_solve(normal_, lambda, b() * data);
}

std::unique_ptr<GaussNewtonSystem> make_system(SystemSpace space, const Team& team, const core::Linearization& linearization,
                                               const Objective& objective, const Eigen::VectorXd& model) {
  const DataMisfit& misfit = objective.misfit;
  const Regularization& regularization = *objective.regularization;
  // n·p² + p³/3 flops for a system of the size p, n the other size: the smaller p always wins.
  const bool in_model = space == SystemSpace::model || (space == SystemSpace::automatic && model.size() < misfit.n_kept());
  if (in_model) return std::make_unique<ModelSpaceSystem>(team, linearization, misfit, regularization, model);
  return std::make_unique<DataSpaceSystem>(team, linearization, misfit, regularization, model);
}

}  // namespace lodestone::inversion
