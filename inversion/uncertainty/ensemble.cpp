// SPDX-License-Identifier: Apache-2.0
#include "inversion/uncertainty/ensemble.hpp"

#include "engine/core/error.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/run.hpp"
#include "inversion/optimize/system.hpp"
#include "inversion/uncertainty/sample_noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lodestone::inversion::uncertainty {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check(const EnsembleOptions& o, const optimize::Objective& objective, const EnsembleHooks& hooks,
           double lambda) {
  if (o.n_samples < 1 || o.max_iterations < 1 || o.max_halvings < 0 || !(o.tolerance > 0.0))
    throw core::InvalidArgument("inversion::Ensemble#wrong_options",
                                "expected n_samples ≥ 1, max_iterations ≥ 1, max_halvings ≥ 0 and tolerance "
                                "> 0, got {}, {}, {} and {}",
                                o.n_samples, o.max_iterations, o.max_halvings, o.tolerance);
  if (!(lambda > 0.0) || !std::isfinite(lambda))
    throw core::InvalidArgument("inversion::Ensemble#wrong_lambda", "expected lambda > 0, got {}", lambda);
  if (objective.misfit.huber_threshold() > 0.0)
    throw core::InvalidArgument("inversion::Ensemble#huber_misfit",
                                "expected a least-squares misfit, got a Huber threshold of {}: it stands for "
                                "no distribution of errors "
                                "to draw from; use a misfit without one",
                                objective.misfit.huber_threshold());
  if (!objective.regularization->is_quadratic() && !hooks.reweigh)
    throw core::InvalidArgument("inversion::Ensemble#no_reweigh",
                                "the roughness is not quadratic; give the hook that makes its quadratic part "
                                "at each model (reweigh)");
}

/// A model on the way to the minimum of its sample.
struct Point {
  VectorXd model;
  std::unique_ptr<core::Linearization> linearization{};  ///< empty: only the value was asked for
  VectorXd predicted{};
  double objective = std::numeric_limits<double>::infinity();
};

class Sampler {
 public:
  Sampler(MPI_Comm comm, const optimize::Objective& objective, const VectorXd& start, double lambda,
          const EnsembleOptions& options, const EnsembleHooks& hooks);
  /// Returns the sample's record, and its model unless it failed.
  SampleRecord draw(int number, VectorXd& model) const;
  [[nodiscard]] const core::Team& team() const { return team_; }

 private:
  using RegularizationPtr = std::shared_ptr<const objective::Regularization>;
  /// One linearized problem, ready for right-hand sides.
  struct Linear {
    RegularizationPtr regularization;
    std::unique_ptr<optimize::DenseSystem> system;
    MatrixXd factor;
  };
  [[nodiscard]] RegularizationPtr regularization_at(const VectorXd& model) const {
    return hooks_.reweigh ? hooks_.reweigh(model) : objective_.regularization;
  }
  [[nodiscard]] Linear linear_at(const VectorXd& model) const;
  /// Runs the forward map; errors: SolverError, on every rank.
  [[nodiscard]] VectorXd predict(const VectorXd& model) const;
  [[nodiscard]] double data_part(const VectorXd& predicted, const SampleNoise& noise) const {
    return 0.5 * (objective_.misfit.residual(predicted)(kept_) + noise.data()).squaredNorm();
  }
  [[nodiscard]] double prior_part(const VectorXd& residual, const SampleNoise& noise) const {
    return 0.5 * lambda_ * (residual - noise.roughness() / std::sqrt(lambda_)).squaredNorm();
  }
  /// Takes a step from `at` by its linear problem; true when the sample is done.
  bool step(const Linear& linear, const SampleNoise& noise, Point& at) const;
  [[nodiscard]] bool shortened(const Linear& linear, const SampleNoise& noise, const VectorXd& move,
                               Point& at, double& share) const;

  core::Team team_;
  const optimize::Objective& objective_;
  const VectorXd& start_;
  double lambda_;
  const EnsembleOptions& options_;
  const EnsembleHooks& hooks_;
  std::vector<Index> kept_;
  Linear first_;
  VectorXd predicted_;  // at the start
};

/// Says on every rank what failed on any; `work` may call collective functions that fail together.
template <class Work>
void together(const core::Team& team, Work&& work) {
  core::Worded failure;
  try {
    work();
  } catch (const core::SolverError& error) {
    failure = core::worded(error);
  } catch (const core::InvalidArgument&
               error) {  // a trial may ask for what no forward map can give, as 10^400 ohm m
    failure = core::worded(error);
  }
  team.throw_together(failure);
}

Sampler::Sampler(MPI_Comm comm, const optimize::Objective& objective, const VectorXd& start, double lambda,
                 const EnsembleOptions& options, const EnsembleHooks& hooks)
    : team_(comm),
      objective_(objective),
      start_(start),
      lambda_(lambda),
      options_(options),
      hooks_(hooks),
      kept_(optimize::kept_data(objective.misfit)) {
  predicted_ = predict(start);
  first_ = linear_at(start);
}

VectorXd Sampler::predict(const VectorXd& model) const {
  const core::ScopedTimer timer("inversion/forward");
  VectorXd predicted(objective_.misfit.size());
  together(team_, [&] { predicted = objective_.forward->value(model); });
  team_.broadcast(predicted);
  if (!objective_.misfit.residual(predicted).allFinite())
    throw core::SolverError("inversion::Ensemble#not_finite",
                            "the forward run gave a kept datum that is not finite");
  return predicted;
}

Sampler::Linear Sampler::linear_at(const VectorXd& model) const {
  Linear linear;
  linear.regularization = regularization_at(model);
  std::unique_ptr<core::Linearization> linearization;
  together(team_, [&] { linearization = objective_.forward->linearize(model); });
  linear.system =
      optimize::make_dense_system(options_.space, team_, *linearization,
                                  {objective_.forward, objective_.misfit, linear.regularization}, model);
  linear.factor = linear.system->factor(lambda_);
  return linear;
}

bool Sampler::shortened(const Linear& linear, const SampleNoise& noise, const VectorXd& move, Point& at,
                        double& share) const {
  for (int halving = 0; halving <= options_.max_halvings; ++halving, share *= 0.5) {
    Point trial{.model = at.model + share * move};
    try {
      trial.predicted = predict(trial.model);
    } catch (const core::SolverError&) {
      continue;  // as a trial that is worse
    }
    trial.objective =
        data_part(trial.predicted, noise) + prior_part(linear.regularization->residual(trial.model), noise);
    if (!(trial.objective < at.objective)) continue;
    at = std::move(trial);
    return true;
  }
  return false;
}

bool Sampler::step(const Linear& linear, const SampleNoise& noise, Point& at) const {
  const objective::Regularization& regularization = *linear.regularization;
  const VectorXd residual = regularization.residual(at.model);
  at.objective = data_part(at.predicted, noise) + prior_part(residual, noise);
  const optimize::LinearSample aim =
      linear.system->randomized_jump(linear.factor, lambda_, noise.for_system(regularization));
  const VectorXd move = aim.model - at.model;
  const double promised = aim.half_misfit + prior_part(residual + regularization.roughness() * move, noise),
               before = at.objective;
  if (before - promised < options_.tolerance) return true;
  double share = 1.0;
  if (!shortened(linear, noise, move, at, share))
    throw core::SolverError("inversion::Ensemble#no_step", "no step lowers the objective of the sample");
  return before - at.objective < options_.tolerance ||
         (share == 1.0 && std::abs(at.objective - promised) < options_.tolerance);
}

SampleRecord Sampler::draw(int number, VectorXd& model) const {
  SampleRecord record{.number = number};
  const SampleNoise noise(objective_.misfit, *first_.regularization, options_.seed, number);
  Point at{.model = start_, .predicted = predicted_};
  try {
    while (!record.converged && record.n_iterations < options_.max_iterations) {
      const Linear here = record.n_iterations == 0 ? Linear{} : linear_at(at.model);
      record.converged = step(record.n_iterations == 0 ? first_ : here, noise, at);
      ++record.n_iterations;
    }
  } catch (const core::SolverError& error) {
    record.failure = error.what();
  }
  record.rms = objective_.misfit.rms(at.predicted);
  record.objective = at.objective;
  model = std::move(at.model);
  return record;
}

/// Returns the numbers of the samples that are still to be tried.
std::vector<int> missing(const Ensemble& done, int n_samples) {
  std::vector<int> numbers;
  for (int number = 0; number < n_samples; ++number) {
    if (std::none_of(done.records.begin(), done.records.end(),
                     [number](const SampleRecord& r) { return r.number == number; }))
      numbers.push_back(number);
  }
  return numbers;
}

Ensemble begun(Ensemble done, const VectorXd& start, double lambda, std::uint64_t seed) {
  if (done.records.empty())
    return {.seed = seed,
            .lambda = lambda,
            .start = start,
            .records = {},
            .models = MatrixXd(start.size(), 0),
            .stopped = {}};
  const bool same_start = done.start.size() == start.size() && (done.start.array() == start.array()).all();
  if (done.seed != seed || done.lambda != lambda || !same_start)
    throw core::InvalidArgument("inversion::Ensemble#other_samples",
                                "expected samples of seed {} and lambda {:g} from the same start model, got "
                                "those of seed {} and lambda {:g}{}; "
                                "begin a new ensemble or go back to the model it was made with",
                                seed, lambda, done.seed, done.lambda, same_start ? "" : " from another one");
  done.stopped.reset();
  return done;
}

}  // namespace

EnsembleCost cost_of(const EnsembleOptions& o) {  // one of each at the start, which all share
  return {{1 + o.n_samples, 1},
          {1 + o.n_samples * o.max_iterations, 1 + o.n_samples * (o.max_iterations - 1)}};
}

Ensemble randomize_then_optimize(MPI_Comm comm, const optimize::Objective& objective, const VectorXd& start,
                                 double lambda, const EnsembleOptions& options, const EnsembleHooks& hooks,
                                 Ensemble done) {
  check(objective, start);
  check(options, objective, hooks, lambda);
  Ensemble ensemble = begun(std::move(done), start, lambda, options.seed);
  const std::vector<int> numbers = missing(ensemble, options.n_samples);
  if (numbers.empty()) return ensemble;
  const Sampler sampler(comm, objective, start, lambda, options, hooks);
  for (const int number : numbers) {
    const auto reason = hooks.stop ? hooks.stop() : std::nullopt;
    if (const int code = sampler.team().max(reason ? static_cast<int>(*reason) : -1); code >= 0) {
      ensemble.stopped = static_cast<optimize::StopReason>(code);
      break;
    }
    VectorXd model;
    ensemble.records.push_back(sampler.draw(number, model));
    if (ensemble.records.back().failure.empty()) {
      ensemble.models.conservativeResize(Eigen::NoChange, ensemble.models.cols() + 1);
      ensemble.models.rightCols(1) = model;
    }
    if (hooks.progress) hooks.progress(ensemble);
  }
  return ensemble;
}

int Ensemble::n_failed() const {
  return static_cast<int>(std::count_if(records.begin(), records.end(),
                                        [](const SampleRecord& r) { return !r.failure.empty(); }));
}

int Ensemble::n_unconverged() const {
  return static_cast<int>(std::count_if(records.begin(), records.end(), [](const SampleRecord& r) {
    return r.failure.empty() && !r.converged;
  }));
}

std::string Ensemble::brief() const {
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const SampleRecord& r : records) {
    if (!r.failure.empty()) continue;
    least = std::min(least, r.rms);
    most = std::max(most, r.rms);
  }
  const std::string counts =
      fmt::format("{} samples ({} failed, {} not converged)", records.size(), n_failed(), n_unconverged());
  return models.cols() == 0 ? counts : fmt::format("{}: rms {:.3f} to {:.3f}", counts, least, most);
}

}  // namespace lodestone::inversion::uncertainty
