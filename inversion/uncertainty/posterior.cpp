// SPDX-License-Identifier: Apache-2.0
// With L Lᵀ = G + λI (data space) or H + λI (model space), G = BᵀB and H = BBᵀ (gauss_newton_system.hpp):
//   data space:  X = S B L⁻ᵀ,  C = (S Sᵀ − X Xᵀ)/λ,  resolution = X Xᵀ RᵀR
//   model space: X = S L⁻ᵀ,    C = X Xᵀ,              resolution = 1 − λ X Xᵀ RᵀR
#include "inversion/uncertainty/posterior.hpp"

#include "engine/core/error.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/dense.hpp"
#include "inversion/optimize/run.hpp"
#include "inversion/optimize/system.hpp"
#include "inversion/uncertainty/sample_noise.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace lodestone::inversion::uncertainty {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Returns unit vectors [first, first + size) of n.
MatrixXd units(Index n, Index first, Index size) {
  MatrixXd result = MatrixXd::Zero(n, size);
  result.middleRows(first, size).setIdentity();
  return result;
}

/// Returns the linearization, or the same error on every rank.
std::unique_ptr<core::Linearization> linearized(const core::Team& team, const core::DifferentiableMap& map,
                                                const VectorXd& model) {
  std::unique_ptr<core::Linearization> linearization;
  core::Worded failure;
  try {
    linearization = map.linearize(model);
  } catch (const core::SolverError& error) {
    failure = core::worded(error);
  }
  team.throw_together(failure);
  return linearization;
}

/// Checks before the first collective call.
const optimize::Objective& checked(const optimize::Objective& objective, const VectorXd& model,
                                   double lambda) {
  check(objective, model);
  if (!(lambda > 0.0) || !std::isfinite(lambda))
    throw core::InvalidArgument("inversion::Posterior#wrong_lambda", "expected lambda > 0, got {}", lambda);
  return objective;
}

}  // namespace

VectorXd Spread::variance_reduction() const {
  return prior.binaryExpr(posterior, [](double before, double after) {
    return before > 0.0 ? 1.0 - (after * after) / (before * before) : 0.0;
  });
}

struct Posterior::Impl {
  Impl(MPI_Comm comm, const optimize::Objective& of, VectorXd at, double of_lambda,
       optimize::SystemSpace space);
  [[nodiscard]] bool in_data_space() const { return system->space() == optimize::SystemSpace::data; }
  [[nodiscard]] MatrixXd make_root() const;
  [[nodiscard]] VectorXd make_resolution() const;
  /// Returns the spread of numbers whose gradients by the unknowns are Mᵀ of unit vectors; `push` is M.
  [[nodiscard]] Spread spread_of(Index n_out,
                                 const std::function<MatrixXd(Index first, Index size)>& gradients,
                                 const std::function<MatrixXd(const MatrixXd&)>& push) const;
  [[nodiscard]] MatrixXd on_root(Index n_columns, const std::function<MatrixXd()>& compute) const;
  [[nodiscard]] MatrixXd unit_columns(const std::vector<Index>& which) const;
  /// Returns RᵀR B.
  [[nodiscard]] MatrixXd precision(const MatrixXd& b) const {
    const auto& r = objective.regularization->roughness();
    return r.transpose() * (r * b);
  }
  /// Sums over the columns of X, block by block: `of_block` gives one column of n_out sums.
  [[nodiscard]] VectorXd sum_over_root(Index n_out,
                                       const std::function<VectorXd(const MatrixXd&)>& of_block) const;

  core::Team team;
  optimize::Objective objective;
  VectorXd model;
  double lambda;
  std::unique_ptr<optimize::DenseSystem> system;
  MatrixXd factor;  // L, on rank 0
  MatrixXd root;    // X
  Spread spread;
  VectorXd resolution;
};

Posterior::Impl::Impl(MPI_Comm comm, const optimize::Objective& of, VectorXd at, double of_lambda,
                      optimize::SystemSpace space)
    : team(comm), objective(of), model(std::move(at)), lambda(of_lambda) {
  const auto linearization = linearized(team, *objective.forward, model);
  system = optimize::make_dense_system(space, team, *linearization, objective, model);
  factor = system->factor(lambda);
  const core::ScopedTimer timer("inversion/posterior");
  root = make_root();
  const Index n = model.size();
  spread = spread_of(
      n, [n](Index first, Index size) { return units(n, first, size); }, [](const MatrixXd& x) { return x; });
  resolution = make_resolution();
}

MatrixXd Posterior::Impl::make_root() const {
  const objective::Regularization& regularization = *objective.regularization;
  const MatrixXd& b = system->b();
  const Index k = in_data_space() ? b.cols() : b.rows();
  MatrixXd l = team.rank() == 0 ? factor : MatrixXd(k, k);
  team.broadcast(l);
  if (!in_data_space())
    return optimize::shared_blocks(team, model.size(), k, [&](Index first, Index size) {
      return regularization.apply_root(optimize::lapack::divide_lower_transposed(l, units(k, first, size)));
    });
  const MatrixXd v = optimize::shared_blocks(team, k, b.rows(), [&](Index first, Index size) {
    return optimize::lapack::divide_lower(l, b.middleRows(first, size).transpose());
  });
  return optimize::shared_blocks(team, model.size(), k, [&](Index first, Index size) {
    return regularization.apply_root(v.middleRows(first, size).transpose());
  });
}

VectorXd Posterior::Impl::sum_over_root(Index n_out,
                                        const std::function<VectorXd(const MatrixXd&)>& of_block) const {
  const auto blocks = optimize::column_blocks(root.cols(), team.size());
  MatrixXd sums = MatrixXd::Zero(n_out, std::ssize(blocks));
  std::vector<int> owner;
  core::Worded failure;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    owner.push_back(blocks[i].owner);
    if (blocks[i].owner != team.rank() || !failure.empty()) continue;
    try {
      sums.col(static_cast<Index>(i)) = of_block(root.middleCols(blocks[i].first, blocks[i].size));
    } catch (const core::SolverError& error) {
      failure = core::worded(error);
    }
  }
  team.throw_together(failure);
  team.share_columns(owner, sums);
  return sums.rowwise().sum();
}

VectorXd Posterior::Impl::make_resolution() const {
  const VectorXd sum = sum_over_root(model.size(), [this](const MatrixXd& x) {
    return x.cwiseProduct(precision(x)).rowwise().sum().eval();
  });
  return in_data_space() ? sum : (1.0 - lambda * sum.array()).matrix().eval();
}

Spread Posterior::Impl::spread_of(Index n_out,
                                  const std::function<MatrixXd(Index first, Index size)>& gradients,
                                  const std::function<MatrixXd(const MatrixXd&)>& push) const {
  const MatrixXd prior = optimize::shared_blocks(team, 1, n_out, [&](Index first, Index size) {
    return objective.regularization->apply_root_transposed(gradients(first, size))
        .colwise()
        .squaredNorm()
        .eval();
  });
  const VectorXd of_prior = prior.row(0).transpose() / lambda;
  const VectorXd sum =
      sum_over_root(n_out, [&](const MatrixXd& x) { return push(x).rowwise().squaredNorm().eval(); });
  const VectorXd variance = in_data_space() ? (of_prior - sum / lambda).eval() : sum;
  return {of_prior.cwiseSqrt(), variance.cwiseMax(0.0).cwiseSqrt()};
}

MatrixXd Posterior::Impl::on_root(Index n_columns, const std::function<MatrixXd()>& compute) const {
  MatrixXd result(model.size(), n_columns);
  if (team.rank() == 0) result = compute();
  team.broadcast(result);
  return result;
}

MatrixXd Posterior::Impl::unit_columns(const std::vector<Index>& which) const {
  MatrixXd result = MatrixXd::Zero(model.size(), std::ssize(which));
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (which[i] < 0 || which[i] >= model.size())
      throw core::InvalidArgument("inversion::Posterior#unknown_outside",
                                  "expected an unknown from 0 to {}, got {}", model.size() - 1, which[i]);
    result(which[i], static_cast<Index>(i)) = 1.0;
  }
  return result;
}

Posterior::Posterior(MPI_Comm comm, optimize::Objective objective, VectorXd model, double lambda,
                     optimize::SystemSpace space)
    : impl_(
          std::make_unique<Impl>(comm, checked(objective, model, lambda), std::move(model), lambda, space)) {}
Posterior::~Posterior() = default;
Posterior::Posterior(Posterior&&) noexcept = default;

Index Posterior::size() const { return impl_->model.size(); }
const Spread& Posterior::spread() const { return impl_->spread; }
const VectorXd& Posterior::resolution() const { return impl_->resolution; }

Spread Posterior::spread_of(const core::Linearization& map) const {
  if (map.size_in() != size())
    throw core::ShapeError("inversion::Posterior#wrong_size", "expected a map of {} unknowns, got {}", size(),
                           map.size_in());
  const Index n_out = map.size_out();
  return impl_->spread_of(
      n_out, [&](Index first, Index count) { return map.vjp(units(n_out, first, count)); },
      [&](const MatrixXd& x) { return map.jvp(x); });
}

MatrixXd Posterior::covariance_columns(const std::vector<Index>& which) const {
  const MatrixXd columns = impl_->unit_columns(which);
  const objective::Regularization& prior = *impl_->objective.regularization;
  return impl_->on_root(columns.cols(), [&]() -> MatrixXd {
    const MatrixXd image = impl_->root * (impl_->root.transpose() * columns);
    if (!impl_->in_data_space()) return image;
    return (prior.apply_root(prior.apply_root_transposed(columns)) - image) / impl_->lambda;
  });
}

MatrixXd Posterior::resolution_columns(const std::vector<Index>& which) const {
  const MatrixXd columns = impl_->unit_columns(which);
  return impl_->on_root(columns.cols(), [&]() -> MatrixXd {
    const MatrixXd image = impl_->root * (impl_->root.transpose() * impl_->precision(columns));
    if (impl_->in_data_space()) return image;
    return columns - impl_->lambda * image;
  });
}

MatrixXd Posterior::samples(std::uint64_t seed, int first, int count) const {
  const objective::Regularization& prior = *impl_->objective.regularization;
  const optimize::Noise none{VectorXd::Zero(impl_->system->b().cols()),
                             VectorXd::Zero(impl_->system->b().rows())};
  const VectorXd shift =
      impl_->model - impl_->system->randomized_jump(impl_->factor, impl_->lambda, none).model;
  MatrixXd result(size(), count);
  for (int i = 0; i < count; ++i) {
    const optimize::Noise noise =
        SampleNoise(impl_->objective.misfit, prior, seed, first + i).for_system(prior);
    result.col(i) = shift + impl_->system->randomized_jump(impl_->factor, impl_->lambda, noise).model;
  }
  return result;
}

std::vector<std::uint8_t> investigated(const Spread& spread, const InvestigationOptions& options) {
  if (!(options.share > 0.0 && options.share < 1.0) || !(options.largest_prior > 0.0))
    throw core::InvalidArgument("inversion::investigated#wrong_options",
                                "expected a share between 0 and 1 and largest_prior > 0, got {} and {}",
                                options.share, options.largest_prior);
  std::vector<std::uint8_t> seen;
  for (Index i = 0; i < spread.prior.size(); ++i)
    seen.push_back(
        spread.posterior[i] <= options.share * std::min(spread.prior[i], options.largest_prior) ? 1 : 0);
  return seen;
}

}  // namespace lodestone::inversion::uncertainty
