// SPDX-License-Identifier: Apache-2.0
// Symbols as in system.hpp.
#include "inversion/optimize/system.hpp"

#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/process_memory.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/dense.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::inversion::optimize {
namespace {

core::JacobianRows local_rows(const core::Team& team, const core::Linearization& linearization) {
  const core::ScopedTimer timer("inversion/jacobian");
  core::JacobianRows rows;
  core::Worded failure;
  try {
    rows = linearization.local_jacobian();
  } catch (const core::SolverError& error) {
    failure = core::worded(error);
  }
  team.throw_together(failure);
  return rows;
}

/// Returns the Cholesky factor of A + λ I by the lower triangle of A.
std::optional<Eigen::MatrixXd> shifted_factor(const Eigen::MatrixXd& lower, double lambda) {
  const core::ScopedTimer timer("inversion/cholesky");
  Eigen::MatrixXd factor = lower;
  factor.diagonal().array() += lambda;
  const auto n = static_cast<double>(factor.rows());
  core::TimerTotals::global().add_work("inversion/cholesky", n * n * n / 3.0, 0.0);
  if (!lapack::factorize(factor)) return std::nullopt;
  return factor;
}

}  // namespace

std::vector<Eigen::Index> kept_data(const objective::DataMisfit& misfit) {
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < misfit.size(); ++i) {
    if (misfit.weights()[i] > 0.0) kept.push_back(i);
  }
  return kept;
}

SystemBytes system_bytes(double n_model, double n_data, const InnerSteps& inner, double n_cells) {
  constexpr double number = sizeof(double), vectors_of_model = 3.0;  // direction, pull, and pull times C
  const double side = std::min(n_model, n_data);
  const double of_system = 2.0 * n_model * n_data + 2.0 * side * side;
  const double of_rows = n_cells > 0.0 ? (n_cells + n_model) * n_data : 0.0;
  return {number * std::max(of_system, of_rows),
          number * (inner.max_steps + 1.0) * (vectors_of_model * n_model + n_data)};
}

double jacobian_allowance(const core::Team& team, const GaussNewtonOptions& options) {
  if (options.jacobian_bytes > 0.0) return options.jacobian_bytes;
  const auto machine = static_cast<double>(core::machine_memory_bytes());
  const int n_ranks = team.on_machine();
  return machine > 0.0 ? 0.5 * machine / n_ranks : std::numeric_limits<double>::infinity();
}

bool is_matrix_free(const core::Team& team, const GaussNewtonOptions& options, const SystemBytes& bytes) {
  if (options.space != SystemSpace::automatic) return options.space == SystemSpace::matrix_free;
  if (options.jacobian_products > most_products(options.inner)) return true;
  return team.any(bytes.with_jacobian > jacobian_allowance(team, options));
}

std::string choice_in_words(bool matrix_free, const SystemBytes& bytes, double allowance,
                            const GaussNewtonOptions& options) {
  const std::string price = options.jacobian_products > 0.0
                                ? fmt::format(
                                      "; all rows of the Jacobian cost as much as {:.0f} products, steps "
                                      "without it take at most {:.0f}",
                                      options.jacobian_products, most_products(options.inner))
                                : "";
  return fmt::format(
      "steps are solved {}: the Jacobian and its system take {:.2f} GB of the {:.2f} GB that they may on a "
      "rank, products with up to {} directions {:.2f} GB{}",
      matrix_free ? "without a Jacobian" : "with a Jacobian", bytes.with_jacobian / 1e9, allowance / 1e9,
      options.inner.max_steps, bytes.matrix_free / 1e9, price);
}

/// The rows of J that this rank works on, each a column of B.
struct DenseSystem::OwnRows {
  OwnRows(const core::Team& team, const core::Linearization& linearization,
          const std::vector<Eigen::Index>& kept);
  /// Returns Jᵀ W of some of them, copied eight at a time so that whole cache lines of J are used.
  [[nodiscard]] Eigen::MatrixXd weighted_transpose(Eigen::Index first, Eigen::Index n,
                                                   const Eigen::VectorXd& weights) const;
  /// Returns J d, each number where it is known: at its column of B.
  [[nodiscard]] Eigen::MatrixXd times(const Eigen::VectorXd& d, Eigen::Index n_columns) const;

  core::JacobianRows jacobian;
  std::vector<int> owner;             // of each column of B
  std::vector<Eigen::Index> places;   // in `jacobian`
  std::vector<Eigen::Index> columns;  // of B
};

DenseSystem::OwnRows::OwnRows(const core::Team& team, const core::Linearization& linearization,
                              const std::vector<Eigen::Index>& kept)
    : jacobian(local_rows(team, linearization)) {
  std::vector<Eigen::Index> column_of(static_cast<std::size_t>(linearization.size_out()), -1);
  for (std::size_t column = 0; column < kept.size(); ++column)
    column_of[static_cast<std::size_t>(kept[column])] = static_cast<Eigen::Index>(column);
  std::vector<std::uint8_t> held(kept.size(), 0);
  for (const Eigen::Index row : jacobian.rows) {
    if (const Eigen::Index column = column_of[static_cast<std::size_t>(row)]; column >= 0)
      held[static_cast<std::size_t>(column)] = 1;
  }
  owner = team.deal_rows(held);
  for (std::size_t column = 0; column < owner.size(); ++column) {
    if (owner[column] < 0)
      throw core::ShapeError("inversion::GaussNewton#row_without_rank",
                             "no rank holds row {} of the Jacobian; this is a fault in the map",
                             kept[column]);
  }
  for (std::size_t place = 0; place < jacobian.rows.size(); ++place) {
    const Eigen::Index column = column_of[static_cast<std::size_t>(jacobian.rows[place])];
    if (column < 0 || owner[static_cast<std::size_t>(column)] != team.rank()) continue;
    places.push_back(static_cast<Eigen::Index>(place));
    columns.push_back(column);
  }
}

Eigen::MatrixXd DenseSystem::OwnRows::weighted_transpose(Eigen::Index first, Eigen::Index n,
                                                         const Eigen::VectorXd& weights) const {
  const Eigen::MatrixXd& values = jacobian.values;
  const Eigen::Index* from = places.data() + first;
  Eigen::MatrixXd result(values.cols(), n);
  constexpr Eigen::Index group = 8;
  for (Eigen::Index begin = 0; begin < n; begin += group) {
    const Eigen::Index end = std::min(begin + group, n);
    for (Eigen::Index j = 0; j < values.cols(); ++j) {
      for (Eigen::Index i = begin; i < end; ++i)
        result(j, i) = weights[jacobian.rows[from[i]]] * values(from[i], j);
    }
  }
  return result;
}

Eigen::MatrixXd DenseSystem::OwnRows::times(const Eigen::VectorXd& d, Eigen::Index n_columns) const {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(1, n_columns);
  const Eigen::VectorXd product = jacobian.values * d;
  for (std::size_t i = 0; i < places.size(); ++i) result(0, columns[i]) = product[places[i]];
  return result;
}

DenseSystem::DenseSystem(const core::Team& team, const core::Linearization& linearization,
                         const objective::DataMisfit& misfit, const objective::Regularization& regularization,
                         const Eigen::VectorXd& model)
    : team_(team), regularization_(regularization), model_(model) {
  const std::vector<Eigen::Index> kept = kept_data(misfit);
  const OwnRows own(team, linearization, kept);
  const Eigen::VectorXd root_weights = misfit.root_weights(linearization.value());
  const Eigen::VectorXd weights = misfit.weights().cwiseProduct(root_weights);
  b_.resize(regularization.root_size(), std::ssize(kept));
  build_root(own, weights);
  Eigen::MatrixXd shift = own.times(model - regularization.reference(), b_.cols());
  team_.share_columns(own.owner, shift);
  residual_ = misfit.residual(linearization.value()).cwiseProduct(root_weights)(kept);
  shifted_ = residual_.array() + weights(kept).array() * shift.row(0).transpose().array();
  mean_diagonal_ = b_.squaredNorm() / static_cast<double>(b_.cols());
}

void DenseSystem::build_root(const OwnRows& own, const Eigen::VectorXd& weights) {
  const core::ScopedTimer timer("inversion/root");
  const auto blocks = column_blocks(std::ssize(own.columns), 1);
  core::parallel_for(std::ssize(blocks), [&](std::ptrdiff_t i) {
    const auto& [first, size, owner] = blocks[static_cast<std::size_t>(i)];
    const std::vector<Eigen::Index> columns(own.columns.begin() + first, own.columns.begin() + first + size);
    b_(Eigen::all, columns) =
        regularization_.apply_root_transposed(own.weighted_transpose(first, size, weights));
    const auto width = static_cast<double>(size);
    core::TimerTotals::global().add_work("inversion/root", width * regularization_.flops_per_column(),
                                         24.0 * width * static_cast<double>(b_.rows()));
  });
  team_.share_columns(own.owner, b_);
}

std::optional<Eigen::VectorXd> DenseSystem::step(const Eigen::VectorXd& from, const Eigen::VectorXd& data,
                                                 double lambda) const {
  Eigen::MatrixXd model = Eigen::MatrixXd::Constant(from.size(), 1, std::numeric_limits<double>::quiet_NaN());
  if (team_.rank() == 0) {
    if (const auto x = solve(data, lambda)) model = from + regularization_.apply_root(*x).col(0);
  }
  team_.broadcast(model);
  if (!model.allFinite()) return std::nullopt;
  return model.col(0);
}

std::optional<Eigen::VectorXd> DenseSystem::solve(const Eigen::VectorXd& data, double lambda) const {
  const auto factor = shifted_factor(dense_, lambda);
  if (!factor) return std::nullopt;
  return solve(*factor, data);
}

Eigen::MatrixXd DenseSystem::factor(double lambda) const {
  std::optional<Eigen::MatrixXd> factor;
  if (team_.rank() == 0) factor = shifted_factor(dense_, lambda);
  if (team_.any(team_.rank() == 0 && !factor))
    throw core::SolverError("inversion::GaussNewtonSystem#not_positive_definite",
                            "the system at lambda {:g} is not positive definite; take a larger lambda",
                            lambda);
  return factor ? std::move(*factor) : Eigen::MatrixXd();
}

LinearSample DenseSystem::randomized_jump(const Eigen::MatrixXd& factor, double lambda,
                                          const Noise& noise) const {
  const Eigen::Index n = regularization_.size();
  Eigen::MatrixXd model(n + 1, 1);
  if (team_.rank() == 0) {
    const Eigen::VectorXd drawn = noise.prior / std::sqrt(lambda),
                          data = shifted_ + noise.data - b_.transpose() * drawn;
    const Eigen::VectorXd x = solve(factor, data);
    model << regularization_.reference() + regularization_.apply_root(drawn + x).col(0),
        0.5 * (data - b_.transpose() * x).squaredNorm();
  }
  team_.broadcast(model);
  return {model.col(0).head(n), model(n, 0)};
}

std::optional<Eigen::VectorXd> DenseSystem::jump(double lambda) const {
  return step(regularization_.reference(), shifted_, lambda);
}
std::optional<Eigen::VectorXd> DenseSystem::creep(double lambda) const {
  return step(model_, residual_, lambda);
}

double DenseSystem::linear_rms(double lambda) const {
  Eigen::MatrixXd rms = Eigen::MatrixXd::Constant(1, 1, std::numeric_limits<double>::infinity());
  if (team_.rank() == 0) {
    if (const auto x = solve(shifted_, lambda))
      rms(0, 0) = (shifted_ - b_.transpose() * *x).norm() / std::sqrt(static_cast<double>(shifted_.size()));
  }
  team_.broadcast(rms);
  return rms(0, 0);
}

DataSpaceSystem::DataSpaceSystem(const core::Team& team, const core::Linearization& linearization,
                                 const objective::DataMisfit& misfit,
                                 const objective::Regularization& regularization,
                                 const Eigen::VectorXd& model)
    : DenseSystem(team, linearization, misfit, regularization, model) {
  dense_ = shared_gram(team, b());
}

Eigen::VectorXd DataSpaceSystem::solve(const Eigen::MatrixXd& factor, const Eigen::VectorXd& data) const {
  return b() * lapack::solve(factor, data);
}

ModelSpaceSystem::ModelSpaceSystem(const core::Team& team, const core::Linearization& linearization,
                                   const objective::DataMisfit& misfit,
                                   const objective::Regularization& regularization,
                                   const Eigen::VectorXd& model)
    : DenseSystem(team, linearization, misfit, regularization, model) {
  dense_ = shared_gram(team, b().transpose());
}

Eigen::VectorXd ModelSpaceSystem::solve(const Eigen::MatrixXd& factor, const Eigen::VectorXd& data) const {
  return lapack::solve(factor, b() * data);
}

std::unique_ptr<DenseSystem> make_dense_system(SystemSpace space, const core::Team& team,
                                               const core::Linearization& linearization,
                                               const Objective& objective, const Eigen::VectorXd& model) {
  const objective::DataMisfit& misfit = objective.misfit;
  const objective::Regularization& regularization = *objective.regularization;
  if (space == SystemSpace::matrix_free)
    throw core::InvalidArgument("inversion::GaussNewtonSystem#needs_rows",
                                "expected space \"auto\", \"data\" or \"model\" where all rows of the "
                                "Jacobian are needed, got \"matrix_free\"");
  // n·p² + p³/3 flops for a system of the size p, n the other size: the smaller p always wins.
  const bool in_model =
      space == SystemSpace::model || (space == SystemSpace::automatic && model.size() < misfit.n_kept());
  if (in_model) return std::make_unique<ModelSpaceSystem>(team, linearization, misfit, regularization, model);
  return std::make_unique<DataSpaceSystem>(team, linearization, misfit, regularization, model);
}

}  // namespace lodestone::inversion::optimize
