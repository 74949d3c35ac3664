// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/gauss_newton.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "inversion/optimize/cooling.hpp"
#include "inversion/optimize/matrix_free.hpp"
#include "inversion/optimize/run.hpp"
#include "inversion/optimize/step_search.hpp"
#include "inversion/optimize/system.hpp"
#include "inversion/optimize/target.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <variant>

namespace lodestone::inversion::optimize {
namespace {

bool finite_and(double value, bool condition) { return std::isfinite(value) && condition; }

void check_rule(const Occam& o) {
  if (o.max_trials < 1)
    throw core::InvalidArgument("inversion::GaussNewton#wrong_counts",
                                "expected max_trials of Occam of at least 1, got {}", o.max_trials);
  if (!finite_and(o.factor, o.factor > 1.0) || !finite_and(o.tolerance, o.tolerance > 0.0))
    throw core::InvalidArgument("inversion::GaussNewton#wrong_lambda_options",
                                "expected factor > 1 and tolerance > 0 of Occam, got {} and {}", o.factor,
                                o.tolerance);
  if (!finite_and(o.sufficient_drop, o.sufficient_drop > 0.0 && o.sufficient_drop <= 1.0))
    throw core::InvalidArgument("inversion::GaussNewton#wrong_sufficient_drop",
                                "expected sufficient_drop above 0 and at most 1, got {}", o.sufficient_drop);
  if (!finite_and(o.min_roughness_drop, o.min_roughness_drop >= 0.0))
    throw core::InvalidArgument("inversion::GaussNewton#wrong_roughness_drop",
                                "expected min_roughness_drop of 0 or more, got {}", o.min_roughness_drop);
}

void check_rule(const Cooling& o) {
  if (o.rate < 1)
    throw core::InvalidArgument("inversion::GaussNewton#wrong_counts",
                                "expected rate of Cooling of at least 1, got {}", o.rate);
  if (!finite_and(o.factor, o.factor > 1.0))
    throw core::InvalidArgument("inversion::GaussNewton#wrong_lambda_options",
                                "expected factor of Cooling above 1, got {}", o.factor);
}

void check(const GaussNewtonOptions& o) {
  check(o.stop, "inversion::GaussNewton");
  if (o.max_halvings < 0)
    throw core::InvalidArgument("inversion::GaussNewton#wrong_counts",
                                "expected max_halvings of at least 0, got {}", o.max_halvings);
  if (!finite_and(o.lambda_start, o.lambda_start >= 0.0))
    throw core::InvalidArgument("inversion::GaussNewton#wrong_lambda_options",
                                "expected lambda_start of at least 0, got {}", o.lambda_start);
  if (o.inner.max_steps < 1 || !finite_and(o.inner.forcing, o.inner.forcing > 0.0 && o.inner.forcing < 1.0))
    throw core::InvalidArgument(
        "inversion::GaussNewton#wrong_inner_steps",
        "expected inner steps of at least 1 and a forcing between 0 and 1, got {} and {}", o.inner.max_steps,
        o.inner.forcing);
  if (!finite_and(o.jacobian_bytes, o.jacobian_bytes >= 0.0))
    throw core::InvalidArgument("inversion::GaussNewton#wrong_jacobian_bytes",
                                "expected jacobian_bytes of at least 0, got {}", o.jacobian_bytes);
  std::visit([](const auto& rule) { check_rule(rule); }, o.lambda);
}

bool is_stagnation(const std::variant<Candidate, Stop>& outcome) {
  const auto* stop = std::get_if<Stop>(&outcome);
  return stop != nullptr && stop->reason == StopReason::stagnated;
}

class GaussNewtonRun final : public Run {
 public:
  GaussNewtonRun(const RunSettings& settings, const GaussNewtonOptions& options, Objective objective)
      : Run(settings, options.stop, options.lambda_start, std::move(objective)), options_(options) {}

 private:
  [[nodiscard]] double target_rms() const override { return raised_ ? raised_->rms : Run::target_rms(); }
  void on_record() override {
    if (may_raise()) set(raised_target(Run::target_rms(), state_.history));
  }
  [[nodiscard]] bool may_raise() const {
    const auto* occam = std::get_if<Occam>(&options_.lambda);
    return occam != nullptr && occam->raise_target;
  }
  void set(std::optional<RaisedTarget> target) {
    if (target && !raised_) core::log::info("{}", target->in_words(Run::target_rms(), state_.history));
    if (target && target->after + 1 == state_.history.size()) state_.n_stagnated = 0;  // the run begins anew
    raised_ = target;
  }

  /// Occam goes on while the roughness falls; cooling ends at once. Only a jump looks for a smoother model: a
  /// creeping step to the target mends the fit that a redesign spoilt, at the roughness it finds.
  [[nodiscard]] std::optional<Stop> settled_at_target() const override {
    const auto* occam = std::get_if<Occam>(&options_.lambda);
    if (occam == nullptr || !occam->smooth_at_target) return Run::settled_at_target();
    const auto& history = state_.history;
    const std::size_t first = raised_ ? raised_->after : 0;  // at the target on purpose
    if (history.size() < first + 2) return std::nullopt;
    const IterationRecord &last = history.back(), &before = history[history.size() - 2];
    if (last.kind == StepKind::jump && at_target(before.rms) &&
        last.roughness > (1.0 - occam->min_roughness_drop) * before.roughness)
      return Stop{StopReason::target_reached, "the roughness no longer falls at the target"};
    return std::nullopt;
  }

  /// Decides once per run, and says how.
  bool is_without_jacobian() {
    if (without_jacobian_) return *without_jacobian_;
    const SystemBytes bytes = system_bytes(static_cast<double>(state_.model.size()),
                                           static_cast<double>(objective_.misfit.n_kept()), options_.inner,
                                           static_cast<double>(objective_.n_cells));
    without_jacobian_ = is_matrix_free(team_, options_, bytes);
    if (options_.space == SystemSpace::automatic && *without_jacobian_)  // the usual choice needs no word
      core::log::info("{}", choice_in_words(true, bytes, jacobian_allowance(team_, options_), options_));
    return *without_jacobian_;
  }

  /// Returns the linearized problem at the present model, or why there is none.
  std::optional<Stop> make_linear_system(std::unique_ptr<GaussNewtonSystem>& system) {
    const bool is_free = is_without_jacobian();
    progress(is_free ? "gradient" : "jacobian");
    if (auto stop = linearize()) return stop;
    std::string failure;
    try {
      system = is_free ? make_matrix_free() : make_with_jacobian();
    } catch (const core::SolverError& error) {
      failure = error.what();
    }
    if (!team_.any(!failure.empty())) return std::nullopt;
    return Stop{StopReason::failed, failure.empty() ? "the linearization failed on another rank" : failure};
  }

  std::unique_ptr<GaussNewtonSystem> make_with_jacobian() {
    ++n_jacobian_;
    const auto linearization =
        std::move(linearization_);  // freed here, before the forward runs of the search
    return make_dense_system(options_.space, team_, *linearization, objective_, state_.model);
  }

  /// The system keeps the linearization, and multiplies with it while λ is searched.
  std::unique_ptr<GaussNewtonSystem> make_matrix_free() {
    const ForcingState before = forcing_state(state_.memory).value_or(ForcingState{});
    auto system = std::make_unique<MatrixFreeSystem>(
        team_, std::move(linearization_), objective_.misfit, *objective_.regularization, state_.model,
        MatrixFreeSystem::Terms{.forcing = options_.inner.forcing,
                                .max_steps = options_.inner.max_steps,
                                .n_further = objective_.n_further,
                                .on_step = [this](int step) {
                                  progress(fmt::format("inner step {}/{}", step, options_.inner.max_steps));
                                }});
    forcing_ = before.lambda > 0.0
                   ? next_forcing(before, system->gradient_norm(before.lambda), options_.inner.forcing)
                   : options_.inner.forcing;
    system->set_forcing(forcing_);
    return system;
  }

  /// Keeps what the next forcing term needs, before the state is written.
  void note_forcing(const GaussNewtonSystem& system, double lambda) {
    const auto* matrix_free = dynamic_cast<const MatrixFreeSystem*>(&system);
    if (matrix_free == nullptr) return;
    core::log::info("iteration {}: {} of {} inner steps, forcing {:.3f}", state_.iteration + 1,
                    matrix_free->n_steps(), options_.inner.max_steps, forcing_);
    state_.memory = memory_of({lambda, matrix_free->gradient_norm(lambda), forcing_});
  }

  std::optional<Stop> iterate() override {
    std::unique_ptr<GaussNewtonSystem> system;
    if (auto stop = make_linear_system(system)) return stop;
    const StepServices services{[this](Candidate& candidate) { evaluate_trial(candidate); },
                                [this](const std::string& what) { progress(what); }};
    try {
      return std::holds_alternative<Cooling>(options_.lambda) ? cool(*system, services)
                                                              : search(*system, services);
    } catch (const core::SolverError& error) {  // of a product with the Jacobian; thrown on every rank
      return Stop{StopReason::failed, error.what()};
    }
  }

  std::variant<Candidate, Stop> next_model(const GaussNewtonSystem& system, const StepServices& services) {
    const bool may_creep = !may_raise() || raised_;
    StepSearch search(
        options_, system, *objective_.regularization,
        {state_.model, rms_at_start_, state_.lambda, state_.creep_lambda, target_rms(), may_creep}, services);
    return search.run();
  }

  std::optional<Stop> search(const GaussNewtonSystem& system, const StepServices& services) {
    auto outcome = next_model(system, services);
    if (is_stagnation(outcome) && may_raise() && !raised_) {
      set(raised_now(state_.history));
      outcome = next_model(system, services);
    }
    if (auto* stop = std::get_if<Stop>(&outcome)) return std::move(*stop);
    auto& candidate = std::get<Candidate>(outcome);
    if (candidate.kind == StepKind::jump) state_.lambda = candidate.lambda;
    state_.creep_lambda = candidate.kind == StepKind::creep ? candidate.lambda : 0.0;
    note_forcing(system, candidate.lambda);
    accept(candidate, hardly_fell(candidate.rms) ? state_.n_stagnated + 1 : 0);
    return std::nullopt;
  }

  std::optional<Stop> cool(const GaussNewtonSystem& system, const StepServices& services) {
    CoolingStep step(options_, system, objective_,
                     {state_.model, rms_at_start_, state_.lambda, state_.history}, services);
    auto outcome = step.run();
    if (auto* stop = std::get_if<Stop>(&outcome)) return std::move(*stop);
    auto& candidate = std::get<Candidate>(outcome);
    state_.lambda = candidate.lambda;
    note_forcing(system, candidate.lambda);
    const bool stagnated = hardly_fell(candidate.rms) && !step.is_lambda_too_large(candidate.lambda);
    accept(candidate, stagnated ? state_.n_stagnated + 1 : 0);
    return std::nullopt;
  }

  const GaussNewtonOptions& options_;
  std::optional<bool> without_jacobian_;
  double forcing_ = 0.0;  // of this iteration
  std::optional<RaisedTarget> raised_;
};

}  // namespace

GaussNewton::GaussNewton(MPI_Comm comm, GaussNewtonOptions options) : Optimizer(comm), options_(options) {
  check(options_);
}

std::unique_ptr<Run> GaussNewton::make_run(const RunSettings& settings, Objective objective) const {
  return std::make_unique<GaussNewtonRun>(settings, options_, std::move(objective));
}

}  // namespace lodestone::inversion::optimize
