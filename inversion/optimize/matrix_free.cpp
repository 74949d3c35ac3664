// SPDX-License-Identifier: Apache-2.0
// With K = RᵀR, C = K⁻¹ and A = W J: columns of V are the directions, Vᵀ K V = 1; A V are their images,
// Aᵀ A V their pulls. A step of the model is V y.
#include "inversion/optimize/matrix_free.hpp"

#include "engine/core/log.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/run.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace lodestone::inversion::optimize {
namespace {

constexpr double factor = 0.9, power = 2.0;  // of the forcing term
constexpr double least_forcing = 0.01;       // more is lost to what the linearization leaves out
constexpr double negligible = 1e-9;          // of a direction, after the others are taken out of it

void append(Eigen::MatrixXd& matrix, const Eigen::VectorXd& column) {
  matrix.conservativeResize(column.size(), matrix.cols() + 1);
  matrix.rightCols(1) = column;
}

}  // namespace

Eigen::MatrixXd memory_of(const ForcingState& state) {
  return Eigen::RowVector3d(state.lambda, state.gradient_norm, state.forcing);
}

std::optional<ForcingState> forcing_state(const Eigen::MatrixXd& memory) {
  if (memory.rows() != 1 || memory.cols() != 3) return std::nullopt;
  return ForcingState{memory(0, 0), memory(0, 1), memory(0, 2)};
}

double next_forcing(const ForcingState& before, double gradient_norm, double largest) {
  if (!(before.gradient_norm > 0.0)) return largest;
  double forcing = factor * std::pow(gradient_norm / before.gradient_norm, power);
  const double safeguard = factor * std::pow(before.forcing, power);
  if (safeguard > 0.1) forcing = std::max(forcing, safeguard);
  return std::clamp(forcing, std::min(least_forcing, largest), largest);
}

class MatrixFreeSystem::Subspace {
 public:
  Subspace(const core::Team& team, std::unique_ptr<core::Linearization> linearization,
           const objective::DataMisfit& misfit, const objective::Regularization& regularization,
           Eigen::VectorXd model, Terms terms)
      : terms_(std::move(terms)),
        team_(team),
        linearization_(std::move(linearization)),
        regularization_(regularization),
        model_(std::move(model)),
        n_kept_(static_cast<double>(misfit.n_kept())) {
    const Eigen::VectorXd root_weights = misfit.root_weights(linearization_->value());
    weights_ = misfit.weights().cwiseProduct(root_weights);
    residual_ = misfit.residual(linearization_->value()).cwiseProduct(root_weights);
    pull_ = pulled(residual_);
    covered_pull_ = covered(pull_);
    shift_ = model_ - regularization_.reference();
    weight_ = inverse_covariance(shift_);
    directions_.resize(model_.size(), 0);
    images_.resize(residual_.size(), 0);
    pulls_ = covered_pulls_ = directions_;
    if (shift_.dot(weight_) > 0.0) add(shift_);
    n_first_ = directions_.cols();
  }

  /// Returns y of the step whose gradient is small enough, or as small as the steps allow.
  std::optional<Eigen::VectorXd> solve(StepKind kind, double lambda) {
    if (!(lambda > 0.0)) return std::nullopt;
    const double share_of_weight = kind == StepKind::jump ? lambda : 0.0;
    const double enough =
        terms_.forcing * norm(pull_ - share_of_weight * weight_, covered_pull_ - share_of_weight * shift_);
    while (true) {
      const auto y = projected(share_of_weight, lambda);
      if (!y) return std::nullopt;
      const Eigen::VectorXd step = directions_ * *y;
      const Eigen::VectorXd slope =
          pull_ - share_of_weight * weight_ - pulls_ * *y - lambda * inverse_covariance(step);
      const Eigen::VectorXd direction =
          covered_pull_ - share_of_weight * shift_ - covered_pulls_ * *y - lambda * step;
      const bool small = norm(slope, direction) <= enough;
      if (small || n_steps() >= terms_.max_steps || !add(direction)) return y;
      if (terms_.on_step) terms_.on_step(n_steps());
    }
  }

  [[nodiscard]] Eigen::VectorXd model_of(const Eigen::VectorXd& y) const {
    Eigen::MatrixXd model = model_ + directions_ * y;
    team_.broadcast(model);
    return model.col(0);
  }
  [[nodiscard]] double rms_of(const Eigen::VectorXd& y) const {
    return agreed_number((residual_ - images_ * y).norm() / std::sqrt(n_kept_));
  }
  [[nodiscard]] double gradient_norm(double lambda) const {
    return norm(pull_ - lambda * weight_, covered_pull_ - lambda * shift_);
  }
  [[nodiscard]] double scale() const {
    const double of_data = residual_.squaredNorm(), of_pull = norm(pull_, covered_pull_);
    return of_data > 0.0 && of_pull > 0.0 ? of_pull * of_pull / of_data : 1.0;
  }
  [[nodiscard]] int n_steps() const { return static_cast<int>(directions_.cols() - n_first_); }

  Terms terms_;

 private:
  /// Adds what a direction adds to the others; false where that is nothing.
  bool add(Eigen::VectorXd direction) {
    const double before = std::sqrt(direction.dot(inverse_covariance(direction)));
    for (int i = 0; i < 2 && directions_.cols() > 0; ++i)  // twice is enough (Kahan, in Parlett 1998)
      direction -= directions_ * (directions_.transpose() * inverse_covariance(direction));
    const double left = std::sqrt(direction.dot(inverse_covariance(direction)));
    if (!(agreed_number(left) > negligible * before)) return false;
    const core::ScopedTimer timer("inversion/inner step");
    direction /= left;
    const Eigen::VectorXd image =
        weights_.cwiseProduct(agreed(team_, [&] { return linearization_->jvp(direction); }).col(0));
    const Eigen::VectorXd pull = pulled(image);
    append(directions_, direction);
    append(images_, image);
    append(covered_pulls_, covered(pull));
    append(pulls_, pull);
    gram_ = images_.transpose() * images_;
    return true;
  }

  /// Returns the minimum within the subspace.
  [[nodiscard]] std::optional<Eigen::VectorXd> projected(double share_of_weight, double lambda) const {
    if (directions_.cols() == 0) return Eigen::VectorXd(0);
    Eigen::MatrixXd matrix = gram_;
    matrix.diagonal().array() += lambda;
    const Eigen::LLT<Eigen::MatrixXd> factorized(matrix);
    if (factorized.info() != Eigen::Success) return std::nullopt;
    return factorized.solve(directions_.transpose() * (pull_ - share_of_weight * weight_));
  }

  /// Returns Jᵀ W of weighted data.
  [[nodiscard]] Eigen::VectorXd pulled(const Eigen::VectorXd& data) const {
    const Eigen::VectorXd weighted = weights_.cwiseProduct(data);
    return agreed(team_, [&] { return linearization_->vjp(weighted); }).col(0);
  }
  [[nodiscard]] Eigen::VectorXd covered(const Eigen::VectorXd& pull) const {
    const core::ScopedTimer timer("inversion/covariance");
    return regularization_.apply_covariance(pull);
  }
  [[nodiscard]] Eigen::VectorXd inverse_covariance(const Eigen::VectorXd& change) const {
    const auto& roughness = regularization_.roughness();
    return roughness.transpose() * (roughness * change).eval();
  }
  /// Returns √(gᵀ C g) from g and C g, the same bits on every rank.
  [[nodiscard]] double norm(const Eigen::VectorXd& slope, const Eigen::VectorXd& covered) const {
    return agreed_number(std::sqrt(std::max(0.0, slope.dot(covered))));
  }
  [[nodiscard]] double agreed_number(double value) const {
    Eigen::MatrixXd of_root = Eigen::MatrixXd::Constant(1, 1, value);
    team_.broadcast(of_root);
    return of_root(0, 0);
  }

  const core::Team& team_;
  std::unique_ptr<core::Linearization> linearization_;
  const objective::Regularization& regularization_;
  Eigen::VectorXd model_;
  double n_kept_;
  Eigen::VectorXd weights_, residual_;   // W; of the present model
  Eigen::VectorXd pull_, covered_pull_;  // Aᵀ r, C Aᵀ r
  Eigen::VectorXd shift_, weight_;       // m_k − m_ref, K (m_k − m_ref)
  Eigen::MatrixXd directions_, images_, pulls_, covered_pulls_, gram_;
  Eigen::Index n_first_ = 0;
};

MatrixFreeSystem::MatrixFreeSystem(const core::Team& team, std::unique_ptr<core::Linearization> linearization,
                                   const objective::DataMisfit& misfit,
                                   const objective::Regularization& regularization, Eigen::VectorXd model,
                                   Terms terms)
    : subspace_(std::make_unique<Subspace>(team, std::move(linearization), misfit, regularization,
                                           std::move(model), std::move(terms))) {}
MatrixFreeSystem::~MatrixFreeSystem() = default;

std::optional<Eigen::VectorXd> MatrixFreeSystem::jump(double lambda) const {
  const auto y = subspace_->solve(StepKind::jump, lambda);
  if (!y) return std::nullopt;
  return subspace_->model_of(*y);
}
std::optional<Eigen::VectorXd> MatrixFreeSystem::creep(double lambda) const {
  const auto y = subspace_->solve(StepKind::creep, lambda);
  if (!y) return std::nullopt;
  return subspace_->model_of(*y);
}
double MatrixFreeSystem::linear_rms(double lambda) const {
  const auto y = subspace_->solve(StepKind::jump, lambda);
  return y ? subspace_->rms_of(*y) : std::numeric_limits<double>::infinity();
}

double MatrixFreeSystem::scale() const { return subspace_->scale(); }
double MatrixFreeSystem::gradient_norm(double lambda) const { return subspace_->gradient_norm(lambda); }
void MatrixFreeSystem::set_forcing(double forcing) { subspace_->terms_.forcing = forcing; }
int MatrixFreeSystem::n_steps() const { return subspace_->n_steps(); }

}  // namespace lodestone::inversion::optimize
