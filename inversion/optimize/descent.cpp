// SPDX-License-Identifier: Apache-2.0
// The variables x and S as in descent_steps.hpp.
#include "inversion/optimize/descent.hpp"

#include "engine/core/error.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/descent_steps.hpp"
#include "inversion/optimize/run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::optimize {
namespace {

constexpr double sufficient_share = 1e-4;  // of the decrease that the slope promises (Armijo)
constexpr double start_share = 0.01;       // of the λ of balance, for the automatic λ

void check(const DescentOptions& o) {
  check(o.stop, "inversion::Descent");
  if (o.memory < 1 || o.max_halvings < 0)
    throw core::InvalidArgument("inversion::Descent#wrong_counts",
                                "expected memory ≥ 1 and max_halvings ≥ 0, got {} and {}", o.memory,
                                o.max_halvings);
  if (!std::isfinite(o.lambda_start) || !(o.lambda_start >= 0.0) || !std::isfinite(o.lambda_factor) ||
      !(o.lambda_factor > 1.0))
    throw core::InvalidArgument("inversion::Descent#wrong_lambda_options",
                                "expected lambda_start ≥ 0 and lambda_factor > 1, got {} and {}",
                                o.lambda_start, o.lambda_factor);
}

class DescentRun final : public Run {
 public:
  DescentRun(const RunSettings& settings, const DescentOptions& options, Objective objective)
      : Run(settings, options.stop, options.lambda_start, std::move(objective)), options_(options) {}

 private:
  struct Found {
    Candidate candidate;
    std::unique_ptr<core::Linearization> linearization;
    Eigen::VectorXd direction;
    double length;
  };

  void on_redesign() override { gradient_.data.resize(0); }

  void check_memory(const InversionState& state) const override {
    const bool is_lbfgs = options_.method == DescentMethod::lbfgs;
    const Eigen::Index n_steps = state.memory.cols() - 1;
    const bool fits = is_lbfgs ? n_steps % n_per_pair == 0 : n_steps <= 1;
    const Eigen::Index n = state.model.size(), rows = state.memory.rows();
    const bool is_of_x = rows == n || rows == n + objective_.regularization->roughness().rows();
    if (state.memory.size() > 0 && (!is_of_x || !fits))
      refuse_memory(state, fmt::format("{} rows and {}", state.model.size(),
                                       is_lbfgs ? "1, 4, 7 … columns" : "1 or 2 columns"));
  }

  std::optional<Stop> iterate() override {
    failure_.clear();
    any_good_ = false;
    try {
      return descend();
    } catch (const core::SolverError& error) {  // of a product with the Jacobian; thrown on every rank
      return Stop{StopReason::failed, error.what()};
    }
  }

  std::optional<Stop> descend() {
    progress("gradient");
    if (auto stop = linearize()) return stop;
    if (!metric_) make_metric();
    if (gradient_.data.size() == 0) gradient_ = gradient_at(*linearization_, state_.model);
    std::optional<Found> found = search();
    if (!found && state_.memory.cols() > 1) found = search_afresh();
    if (!found) {
      state_.lambda /= options_.lambda_factor;
      found = search_afresh();
    }
    if (!found && failure_.empty())
      return Stop{StopReason::stagnated, "no step along the gradient lowers the objective"};
    if (!found) return Stop{StopReason::failed, "every trial failed; one of them: " + failure_};
    move_to(*found);
    return std::nullopt;
  }

  /// Makes the metric from the first linearization of the run; a resumed run finds the damping in the first
  /// column of the memory.
  void make_metric() {
    if (state_.memory.cols() == 0) {
      const Eigen::VectorXd diagonal = probe_diagonal(team_, *linearization_, objective_.misfit);
      const double balance = lambda_of_balance(diagonal, *objective_.regularization);
      state_.memory = diagonal / balance;
      if (state_.lambda == 0.0) state_.lambda = start_share * balance;
    }
    const Eigen::Index n = state_.model.size();
    metric_ = std::make_unique<DescentMetric>(*objective_.regularization, state_.memory.col(0).head(n));
    if (metric_->size() == state_.memory.rows()) return;
    state_.memory.conservativeResize(metric_->size(), Eigen::NoChange);
    state_.memory.bottomRows(metric_->size() - n).setZero();
  }

  void set_steps(const Eigen::MatrixXd& steps) {
    const Eigen::VectorXd damping = state_.memory.col(0);
    state_.memory.resize(damping.size(), 1 + steps.cols());
    state_.memory.col(0) = damping;
    if (steps.cols() > 0) state_.memory.rightCols(steps.cols()) = steps;
  }
  [[nodiscard]] Eigen::MatrixXd steps() const { return state_.memory.rightCols(state_.memory.cols() - 1); }

  std::optional<Found> search_afresh() {
    set_steps({});
    return search();
  }

  /// Searches along the method's direction: takes the minimum of the quadratic model, shortened by parabolas
  /// until the objective falls enough.
  std::optional<Found> search() {
    const double lambda = state_.lambda;
    const Eigen::VectorXd gradient = gradient_.of(lambda);
    Eigen::VectorXd direction = descent_direction(options_.method, steps(), gradient, lambda);
    if (!(direction.dot(gradient) < 0.0)) direction = -gradient;
    const double slope = direction.dot(gradient);
    if (!(slope < 0.0)) return std::nullopt;
    const Eigen::VectorXd move = metric_->root(direction);
    const double full = -slope / (data_curvature(move) + lambda * metric_->roughness_curvature(move));
    const double present = objective_of(rms_at_start_, state_.model, lambda);
    double length = full;
    for (int i = 0; i <= options_.max_halvings; ++i) {
      Candidate candidate{.model = state_.model + length * move,
                          .kind = StepKind::descent,
                          .lambda = lambda,
                          .step = length / full};
      std::unique_ptr<core::Linearization> linearization;
      evaluate(candidate, linearization);
      progress(fmt::format("lambda {:.2e} step {:.3f} rms {:.3f}", lambda, candidate.step, candidate.rms));
      note(candidate);
      const double rise = objective_of(candidate.rms, candidate.model, lambda) - present;
      if (candidate.failure.empty() && rise <= sufficient_share * length * slope)
        return Found{std::move(candidate), std::move(linearization), std::move(direction), length};
      length *= shortening(rise, length * slope);
    }
    return std::nullopt;
  }

  /// Returns the share of the step at which the parabola through present value, slope and trial is lowest.
  static double shortening(double rise, double slope_times_length) {
    if (!std::isfinite(rise)) return 0.1;
    return std::clamp(-0.5 * slope_times_length / (rise - slope_times_length), 0.1, 0.5);
  }

  void note(const Candidate& candidate) {
    any_good_ = any_good_ || candidate.failure.empty();
    failure_ = any_good_ ? std::string() : candidate.failure;
  }

  void move_to(Found& found) {
    Candidate& candidate = found.candidate;
    DescentGradient gradient = gradient_at(*found.linearization, candidate.model);
    const Eigen::VectorXd change = found.length * found.direction;
    set_steps(remember(options_.method, steps(),
                       {change, found.direction, gradient_, gradient, candidate.lambda}, options_.memory));
    const bool hardly = hardly_fell(candidate.rms);
    const bool is_first =
        state_.history.back().lambda != candidate.lambda;  // of its λ: the next one may still fall
    if (hardly && !is_first) lower_lambda();
    accept(candidate, !hardly ? 0 : state_.n_stagnated + (is_first ? 0 : 1));
    linearization_ = std::move(found.linearization);
    gradient_ = std::move(gradient);
  }

  void lower_lambda() {
    state_.lambda /= options_.lambda_factor;
    if (options_.method == DescentMethod::nlcg) set_steps({});  // conjugate to the objective of the old λ
  }

  [[nodiscard]] Eigen::VectorXd root_weights(const core::Linearization& linearization) const {
    return objective_.misfit.root_weights(linearization.value());
  }

  /// Returns Sᵀ Jᵀ W (−w residual) and the roughness's.
  [[nodiscard]] DescentGradient gradient_at(const core::Linearization& linearization,
                                            const Eigen::VectorXd& model) const {
    const core::ScopedTimer timer("inversion/gradient");
    const objective::DataMisfit& misfit = objective_.misfit;
    const Eigen::VectorXd weights = root_weights(linearization).cwiseAbs2().cwiseProduct(misfit.weights());
    const Eigen::VectorXd pull = -weights.cwiseProduct(misfit.residual(linearization.value()));
    const Eigen::VectorXd of_model = agreed(team_, [&] { return linearization.vjp(pull); });
    return {metric_->root_transposed(of_model), metric_->roughness_gradient(model)};
  }

  /// Returns ‖√w W J move‖².
  [[nodiscard]] double data_curvature(const Eigen::VectorXd& move) const {
    const core::ScopedTimer timer("inversion/curvature");
    const Eigen::VectorXd weights = root_weights(*linearization_).cwiseProduct(objective_.misfit.weights());
    const Eigen::VectorXd change = agreed(team_, [&] { return linearization_->jvp(move); });
    return weights.cwiseProduct(change).squaredNorm();
  }

  /// Returns ½(‖residual‖² + λ roughness).
  [[nodiscard]] double objective_of(double rms, const Eigen::VectorXd& model, double lambda) const {
    return 0.5 * (static_cast<double>(objective_.misfit.n_kept()) * rms * rms +
                  lambda * objective_.regularization->cost(model));
  }

  const DescentOptions& options_;
  std::unique_ptr<DescentMetric> metric_;
  DescentGradient gradient_;  // at the present model on the present map, or empty
  std::string failure_;       // of a trial of this iteration, as long as all failed
  bool any_good_ = false;
};

}  // namespace

Descent::Descent(MPI_Comm comm, DescentOptions options) : Optimizer(comm), options_(options) {
  check(options_);
}

std::unique_ptr<Run> Descent::make_run(const RunSettings& settings, Objective objective) const {
  return std::make_unique<DescentRun>(settings, options_, std::move(objective));
}

}  // namespace lodestone::inversion::optimize
