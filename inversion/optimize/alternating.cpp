// SPDX-License-Identifier: Apache-2.0
// Symbols as in docs/theory/learned_prior.md.
#include "inversion/optimize/alternating.hpp"

#include "engine/core/error.hpp"
#include "inversion/optimize/matrix_free.hpp"
#include "inversion/optimize/pair_step.hpp"
#include "inversion/optimize/run.hpp"
#include "inversion/optimize/system.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace lodestone::inversion::optimize {
namespace {

constexpr double slow = 0.8,
                 after_slow = 0.1;  // a pair that falls by less than a fifth: λ/rms falls to a tenth
constexpr Eigen::Index of_pixels = 0, of_codes = 1;  // places in the memory

void check(const AlternatingOptions& o) {
  check(o.stop, "inversion::Alternating");
  const auto is_lambda = [](double value) { return std::isfinite(value) && value >= 0.0; };
  if (!is_lambda(o.pixel_lambda) || !is_lambda(o.code_lambda))
    throw core::InvalidArgument("inversion::Alternating#wrong_lambdas",
                                "expected pixel_lambda ≥ 0 and code_lambda ≥ 0, got {} and {}",
                                o.pixel_lambda, o.code_lambda);
  if (!(o.decay > 0.0 && o.decay <= 1.0) || o.max_halvings < 0)
    throw core::InvalidArgument("inversion::Alternating#wrong_decay",
                                "expected a decay above 0 and at most 1 and max_halvings ≥ 0, got {} and {}",
                                o.decay, o.max_halvings);
  if (!(o.encode.sigma_decades > 0.0) || o.encode.max_iterations < 0)
    throw core::InvalidArgument(
        "inversion::Alternating#wrong_encode_options",
        "expected encode.sigma_decades > 0 and encode.max_iterations ≥ 0, got {} and {}",
        o.encode.sigma_decades, o.encode.max_iterations);
}

/// A linearized half of a pair: unknowns x (cells or codes), the model they set, and what is frozen
/// meanwhile.
struct Half {
  const char* name;
  const GaussNewtonSystem& system;
  const objective::Regularization& regularization;
  double lambda;
  std::function<Eigen::VectorXd(const Eigen::VectorXd& x)> model_of;
  bool is_last;  ///< last half of its pair: its trial may be accepted
};

class AlternatingRun final : public Run {
 public:
  AlternatingRun(const RunSettings& settings, const AlternatingOptions& options,
                 const prior::CodedRoughness& coded, Objective objective)
      : Run(settings, options.stop, options.pixel_lambda, std::move(objective)),
        options_(options),
        coded_(coded) {}

 private:
  using System = std::unique_ptr<GaussNewtonSystem>;

  /// Takes the pair at its λ or at smaller ones, or else the step of the codes alone, whose model fits
  /// better; its two halves follow their own objectives.
  std::optional<Stop> iterate() override {
    System system;
    progress("jacobian of the cells");
    if (auto stop = linearize()) return stop;
    if (auto stop = make_linear_system(system, std::move(linearization_), objective_, state_.model))
      return stop;
    const double lambda = lambda_of(of_pixels, *system, rms_at_start_);
    failure_.clear();
    any_good_ = false;
    for (const auto& [share, moves_cells] : {std::pair{1.0, true}, {0.1, true}, {0.01, true}, {1.0, false}}) {
      const Half pixels{"cells",
                        *system,
                        *objective_.regularization,
                        share * lambda,
                        [](const Eigen::VectorXd& m) { return m; },
                        false};
      Candidate between{.model = state_.model, .rms = rms_at_start_};
      if (moves_cells) between = step(pixels, state_.model, std::move(between));
      Candidate pair{.kind = StepKind::pair, .lambda = pixels.lambda};
      Eigen::Vector2d next(pixels.lambda / rms_at_start_, 0.0);
      if (auto stop = step_of_codes(between.model, share, pair, next[of_codes])) return stop;
      if (!(pair.rms < rms_at_start_)) continue;
      state_.lambda = pixels.lambda;
      state_.memory = (pair.rms > slow * rms_at_start_ ? after_slow : options_.decay) * next;
      accept(pair, hardly_fell(pair.rms) ? state_.n_stagnated + 1 : 0);
      return std::nullopt;
    }
    if (!any_good_) return Stop{StopReason::failed, "every trial failed; one of them: " + failure_};
    return Stop{StopReason::stagnated,
                "no pair of steps lowers the rms, at these lambdas or at smaller ones, nor does a step of "
                "the codes alone"};
  }

  /// Moves from the codes of `model` to better ones; sets the pair's model, and λ/rms of the next one.
  std::optional<Stop> step_of_codes(const Eigen::VectorXd& model, double share, Candidate& pair,
                                    double& next) {
    const prior::SubdomainMap& map = coded_.map();
    const Eigen::Index n_codes = map.n_codes();
    Eigen::VectorXd unknowns = Eigen::VectorXd::Zero(map.size_in());
    Eigen::SparseMatrix<double> derivative;
    Objective of_these{objective_.forward, objective_.misfit, nullptr};
    decode_together(pair, [&] {
      unknowns = map.encode(model, options_.encode);
      pair.model = map.value(unknowns);
      derivative = map.derivative(unknowns).leftCols(n_codes);
      of_these.regularization = coded_.of_codes(unknowns);
    });
    if (!pair.failure.empty()) return std::nullopt;
    team_.broadcast(unknowns);
    team_.broadcast(pair.model);
    progress("jacobian of the codes");
    std::unique_ptr<core::Linearization> linearization;
    evaluate(pair, linearization);
    note(pair);
    if (!pair.failure.empty()) return std::nullopt;
    const Eigen::VectorXd codes = unknowns.head(n_codes);
    System system;
    if (auto stop = make_linear_system(system, by_codes(std::move(linearization), std::move(derivative)),
                                       of_these, codes))
      return stop;
    const double lambda = share * lambda_of(of_codes, *system, pair.rms);
    next = lambda / pair.rms;
    const Half half{"codes",
                    *system,
                    *of_these.regularization,
                    lambda,
                    [&](const Eigen::VectorXd& v) {
                      unknowns.head(n_codes) = v;
                      return map.value(unknowns);
                    },
                    true};
    const double pixel_lambda = pair.lambda;
    pair = step(half, codes, std::move(pair));
    pair.lambda = pixel_lambda;
    pair.code_lambda = lambda;
    return std::nullopt;
  }

  /// Returns the jump, or the first of its halves, that lowers the objective of its λ; else its start.
  Candidate step(const Half& half, const Eigen::VectorXd& x, Candidate begin) {
    begin.step = 0.0;
    const auto full = half.system.jump(half.lambda);
    if (!full) return begin;
    const double present = objective_of(half, begin.rms, x);
    double share = 1.0;
    for (int i = 0; i <= options_.max_halvings; ++i, share *= 0.5) {
      const Eigen::VectorXd shorter = x + share * (*full - x);
      Candidate trial{.kind = StepKind::pair, .lambda = half.lambda, .step = share};
      decode_together(trial, [&] { trial.model = half.model_of(shorter); });
      if (trial.failure.empty()) {
        team_.broadcast(trial.model);
        half.is_last ? evaluate_trial(trial) : evaluate(trial);
      }
      note(trial);
      progress(
          fmt::format("{} lambda {:.2e} step {:.3f} rms {:.3f}", half.name, half.lambda, share, trial.rms));
      if (trial.failure.empty() && objective_of(half, trial.rms, shorter) < present) return trial;
    }
    return begin;
  }

  void check_memory(const InversionState& state) const override {
    const bool is_of_gradients = state.memory.rows() == state.model.size();
    if (state.memory.size() > 0 && !is_of_gradients && !is_of_pairs(state))
      refuse_memory(state, "2 rows and 1 column");
  }
  static bool is_of_pairs(const InversionState& state) {
    return state.memory.rows() == 2 && state.memory.cols() == 1;
  }

  /// Returns λ/rms of the pair before, times the present rms, if it promises enough. A state of another
  /// method has none, and begins afresh.
  double lambda_of(Eigen::Index half, const GaussNewtonSystem& system, double rms) const {
    const bool first = !is_of_pairs(state_);
    const double given = half == of_pixels ? options_.pixel_lambda : options_.code_lambda;
    if (first && given > 0.0) return given;
    return half_step_lambda(system, first ? 0.0 : state_.memory(half, 0) * rms,
                            {options_.stop.target_rms, rms_at_start_, rms, half == of_codes});
  }

  /// Returns the system of a step, with J where that is the cheaper one. It keeps the linearization without.
  System system_of(std::unique_ptr<core::Linearization> linearization, const Objective& objective,
                   const Eigen::VectorXd& x) {
    const GaussNewtonOptions how{.space = options_.space,
                                 .inner = options_.inner,
                                 .jacobian_products = options_.jacobian_products,
                                 .jacobian_bytes = options_.jacobian_bytes};
    const SystemBytes bytes =
        system_bytes(static_cast<double>(x.size()), static_cast<double>(objective.misfit.n_kept()),
                     options_.inner, static_cast<double>(state_.model.size()));
    if (is_matrix_free(team_, how, bytes))
      return std::make_unique<MatrixFreeSystem>(team_, std::move(linearization), objective.misfit,
                                                *objective.regularization, x,
                                                MatrixFreeSystem::Terms{.forcing = options_.inner.forcing,
                                                                        .max_steps = options_.inner.max_steps,
                                                                        .n_further = objective.n_further});
    ++n_jacobian_;
    return make_dense_system(options_.space, team_, *linearization, objective, x);
  }

  std::optional<Stop> make_linear_system(System& system, std::unique_ptr<core::Linearization> linearization,
                                         const Objective& objective, const Eigen::VectorXd& x) {
    std::string failure;
    try {
      system = system_of(std::move(linearization), objective, x);
    } catch (const core::SolverError& error) {
      failure = error.what();
    }
    if (!team_.any(!failure.empty())) return std::nullopt;
    return Stop{StopReason::failed, failure.empty() ? "the linearization failed on another rank" : failure};
  }

  /// Decoders may fail at codes far from their prior; then the trial fails on all ranks.
  template <class Decode>
  void decode_together(Candidate& candidate, Decode&& decode) {
    try {
      decode();
    } catch (const core::SolverError& error) {
      candidate.failure = error.what();
    }
    if (team_.any(!candidate.failure.empty()) && candidate.failure.empty())
      candidate.failure = "the decoder failed on another rank";
    if (!candidate.failure.empty()) note(candidate);
  }

  void note(const Candidate& trial) {
    any_good_ = any_good_ || trial.failure.empty();
    if (!trial.failure.empty()) failure_ = trial.failure;
  }

  /// Returns ‖residual‖² + λ roughness.
  double objective_of(const Half& half, double rms, const Eigen::VectorXd& x) const {
    return static_cast<double>(objective_.misfit.n_kept()) * rms * rms +
           half.lambda * half.regularization.cost(x);
  }

  const AlternatingOptions& options_;
  const prior::CodedRoughness& coded_;
  std::string failure_;  // of a trial of this pair
  bool any_good_ = false;
};

}  // namespace

Alternating::Alternating(MPI_Comm comm, AlternatingOptions options, prior::CodedRoughness coded)
    : Optimizer(comm), options_(options), coded_(std::move(coded)) {
  check(options_);
  if (coded_.map().n_codes() == 0)
    throw core::InvalidArgument("inversion::Alternating#no_subdomain",
                                "the map has no subdomain; name a region or invert without codes");
}

std::unique_ptr<Run> Alternating::make_run(const RunSettings& settings, Objective objective) const {
  if (objective.regularization->size() != coded_.map().size_out())
    throw core::ShapeError("inversion::Alternating#wrong_cells",
                           "expected an objective of the {} cells that the subdomains cut, got {} unknowns",
                           coded_.map().size_out(), objective.regularization->size());
  return std::make_unique<AlternatingRun>(settings, options_, coded_, std::move(objective));
}

}  // namespace lodestone::inversion::optimize
