// SPDX-License-Identifier: Apache-2.0
// K = RᵀR, C = K⁻¹ and A = W J. The columns of V are the directions, and their parts in cells are orthonormal
// in K; A V are their images, Aᵀ A V their pulls. A step of the model is V y. Of further unknowns
// A has the columns B, and H = Bᵀ B.
#include "inversion/optimize/matrix_free.hpp"

#include "engine/core/log.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/run.hpp"

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

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
    if (terms_.n_further > 0) find_further();
    if (shift_.dot(weight_) > 0.0) add(shift_, 0.0);
    n_first_ = directions_.cols();
  }

  /// Returns y of the step whose gradient is small enough, or as small as the steps allow.
  std::optional<Eigen::VectorXd> solve(StepKind kind, double lambda) {
    if (!(lambda > 0.0)) return std::nullopt;
    const double share_of_weight = kind == StepKind::jump ? lambda : 0.0;
    const double enough = terms_.forcing * norm_before(share_of_weight, lambda);
    while (true) {
      const auto y = projected(share_of_weight, lambda);
      if (!y) return std::nullopt;
      const Eigen::VectorXd step = directions_ * *y;
      const Eigen::VectorXd slope =
          pull_ - share_of_weight * weight_ - pulls_ * *y - lambda * inverse_covariance(step);
      const Eigen::VectorXd direction =
          covered_pull_ - share_of_weight * shift_ - covered_pulls_ * *y - lambda * step;
      const double of_cells = norm(in_cells(slope), direction),
                   of_further = norm(in_further(slope), direction);
      const bool is_small = of_cells <= enough && of_further <= enough;
      if ((is_small && is_settled(share_of_weight, lambda)) || n_steps() >= terms_.max_steps) return y;
      // The further unknowns come first: they are exact at once, and no direction of cells makes up for them.
      if (!(of_further > enough ? add_further(slope, lambda) : add(direction, lambda))) return y;
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
  [[nodiscard]] double gradient_norm(double lambda) const { return norm_before(lambda, lambda); }
  [[nodiscard]] double scale() const {
    const double of_data = residual_.squaredNorm(), of_pull = norm(pull_, covered_pull_);
    return of_data > 0.0 && of_pull > 0.0 ? of_pull * of_pull / of_data : 1.0;
  }
  [[nodiscard]] int n_steps() const { return static_cast<int>(directions_.cols() - n_first_); }

  Terms terms_;

 private:
  /// Computes B and H, and adds the step of the further unknowns alone.
  void find_further() {
    constexpr Eigen::Index n_at_once = 32;
    const Eigen::Index n = model_.size(), n_further = terms_.n_further;
    std::vector<Eigen::Triplet<double>> entries;
    for (Eigen::Index first = 0; first < n_further; first += n_at_once) {
      const Eigen::Index count = std::min(n_at_once, n_further - first);
      Eigen::MatrixXd units = Eigen::MatrixXd::Zero(n, count);
      units.middleRows(n - n_further + first, count).setIdentity();
      const Eigen::MatrixXd columns = agreed(team_, [&] { return linearization_->jvp(units); });
      for (Eigen::Index k = 0; k < count; ++k) {
        for (Eigen::Index row = 0; row < columns.rows(); ++row) {
          const double entry = weights_[row] * columns(row, k);
          if (entry != 0.0) entries.emplace_back(static_cast<int>(row), static_cast<int>(first + k), entry);
        }
      }
    }
    columns_.resize(residual_.size(), n_further);
    columns_.setFromTriplets(entries.begin(), entries.end());
    const auto& roughness = regularization_.roughness();
    const Eigen::SparseMatrix<double> of_further = roughness.rightCols(n_further);
    curvature_ = columns_.transpose() * columns_;
    penalty_ = of_further.transpose() * of_further;
    begins_with_further_ = add_further(pull_, 0.0);
  }

  /// Returns (H + λ K)⁻¹ b of the further unknowns.
  [[nodiscard]] Eigen::VectorXd best_further(const Eigen::VectorXd& b, double lambda) const {
    const Eigen::SparseMatrix<double> matrix = curvature_ + lambda * penalty_;
    return Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>(matrix).solve(b);
  }

  /// Adds the step of the further unknowns against a slope; false where that is nothing.
  bool add_further(const Eigen::VectorXd& slope, double lambda) {
    Eigen::VectorXd direction = Eigen::VectorXd::Zero(model_.size());
    direction.tail(terms_.n_further) = best_further(slope.tail(terms_.n_further), lambda);
    const double length = std::sqrt(direction.dot(inverse_covariance(direction)));
    if (!(agreed_number(length) > 0.0)) return false;
    direction /= length;
    append_all(direction, columns_ * direction.tail(terms_.n_further));
    return true;
  }

  [[nodiscard]] Eigen::VectorXd in_cells(Eigen::VectorXd vector) const {
    vector.tail(terms_.n_further).setZero();
    return vector;
  }
  [[nodiscard]] Eigen::VectorXd in_further(Eigen::VectorXd vector) const {
    vector.head(vector.size() - terms_.n_further).setZero();
    return vector;
  }

  /// Adds what a direction adds to the others in cells, with the further unknowns that are best for it; false
  /// where that is nothing.
  bool add(Eigen::VectorXd direction, double lambda) {
    direction = in_cells(std::move(direction));
    const double before = std::sqrt(direction.dot(inverse_covariance(direction)));
    for (int i = 0; i < 2 && directions_.cols() > 0; ++i)  // twice is enough (Kahan, in Parlett 1998)
      direction = in_cells(direction -
                           directions_ * (directions_.transpose() * inverse_covariance(direction)).eval());
    const double left = std::sqrt(direction.dot(inverse_covariance(direction)));
    if (!(agreed_number(left) > negligible * before)) return false;
    const core::ScopedTimer timer("inversion/inner step");
    direction /= left;
    Eigen::VectorXd image =
        weights_.cwiseProduct(agreed(team_, [&] { return linearization_->jvp(direction); }).col(0));
    if (terms_.n_further > 0) {
      const Eigen::VectorXd further = -best_further(columns_.transpose() * image, lambda);
      direction.tail(terms_.n_further) = further;
      image += columns_ * further;
    }
    append_all(direction, image);
    return true;
  }

  void append_all(const Eigen::VectorXd& direction, const Eigen::VectorXd& image) {
    const Eigen::VectorXd pull = pulled(image);
    append(directions_, direction);
    append(images_, image);
    append(covered_pulls_, covered(pull));
    append(pulls_, pull);
    gram_ = images_.transpose() * images_;
    if (terms_.n_further == 0) {
      metric_ = Eigen::MatrixXd::Identity(directions_.cols(), directions_.cols());
    } else {
      const Eigen::MatrixXd rough = regularization_.roughness() * directions_;
      metric_ = rough.transpose() * rough;
    }
  }

  /// Returns the minimum within the subspace.
  [[nodiscard]] std::optional<Eigen::VectorXd> projected(double share_of_weight, double lambda) const {
    if (directions_.cols() == 0) return Eigen::VectorXd(0);
    const Eigen::MatrixXd matrix = gram_ + lambda * metric_;
    const Eigen::LLT<Eigen::MatrixXd> factorized(matrix);
    if (factorized.info() != Eigen::Success) return std::nullopt;
    return factorized.solve(directions_.transpose() * (pull_ - share_of_weight * weight_));
  }

  /// Returns how much lower the linearized objective is at its minimum within the first n directions.
  [[nodiscard]] double decrease(Eigen::Index n, double share_of_weight, double lambda) const {
    if (n == 0) return 0.0;
    const Eigen::MatrixXd matrix = gram_.topLeftCorner(n, n) + lambda * metric_.topLeftCorner(n, n);
    const Eigen::VectorXd right_side =
        directions_.leftCols(n).transpose() * (pull_ - share_of_weight * weight_);
    return 0.5 * right_side.dot(Eigen::LLT<Eigen::MatrixXd>(matrix).solve(right_side));
  }
  /// Returns whether the latest direction lowered the objective by less than half the mean of all. A gradient
  /// that one large curvature rules is small long before. source: Nash & Sofer 1990, Oper. Res. Lett. 9, 219.
  [[nodiscard]] bool is_settled(double share_of_weight, double lambda) const {
    const Eigen::Index n = directions_.cols();
    if (n_steps() == 0) return false;
    const double all = decrease(n, share_of_weight, lambda),
                 before = decrease(n - 1, share_of_weight, lambda);
    return agreed_number(n_steps() * (all - before) - 0.5 * all) <= 0.0;
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
  /// Returns the norm of the gradient before the first step, or behind that of the further unknowns.
  [[nodiscard]] double norm_before(double share_of_weight, double lambda) const {
    Eigen::VectorXd slope = pull_ - share_of_weight * weight_,
                    direction = covered_pull_ - share_of_weight * shift_;
    if (!begins_with_further_) return norm(slope, direction);
    const auto first = directions_.col(0);
    const double y = first.dot(slope) / (gram_(0, 0) + lambda * metric_(0, 0));
    slope -= y * pulls_.col(0);
    direction -= y * covered_pulls_.col(0);
    return norm(in_cells(slope), direction);
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
  Eigen::MatrixXd directions_, images_, pulls_, covered_pulls_;
  Eigen::MatrixXd gram_, metric_;                    // (A V)ᵀ A V, Vᵀ K V
  Eigen::SparseMatrix<double> columns_;              // B; empty without further unknowns, as the two below
  Eigen::SparseMatrix<double> curvature_, penalty_;  // H, their part of K
  Eigen::Index n_first_ = 0;
  bool begins_with_further_ = false;  // the first direction is that of the further unknowns alone
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
