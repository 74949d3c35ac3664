// SPDX-License-Identifier: Apache-2.0
#include "inversion/assessment.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/timer.hpp"
#include "inversion/regularizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lodestone::inversion {
namespace {

using Eigen::VectorXd;
using uncertainty::Ensemble;
constexpr const char* format_name = "lodestone ensemble";

/// The place where a run ended, and the problem around it.
struct End {
  const Stage& stage;
  const Unknowns& of;  ///< the unknowns that the prior is about
  VectorXd unknowns;
  uncertainty::Counting counting;
  double lambda = 0.0;  ///< by that
  Regularizer regularizer;
  optimize::Objective objective;

  [[nodiscard]] std::string kind() const { return of.coded() ? "codes" : "cells"; }
};

/// Returns the λ by which no region's codes are narrower before the data than they were trained; `counting`
/// notes what it was and is.
double widened(double lambda, const Regularizer& regularizer, bool widen, uncertainty::Counting& counting) {
  if (!regularizer.coded()) return lambda;
  const double trained = 1.0 / std::ranges::max(regularizer.coded()->code_weights());
  const double here = widen ? std::min(lambda, trained) : lambda;
  counting.codes_in_run = std::sqrt(trained / lambda);
  counting.codes = std::sqrt(trained / here);
  return here;
}

/// Returns nothing where no step was taken, which leaves no λ.
std::optional<End> end_of(const EndedRun& run, const AssessmentOptions& wanted) {
  const bool only_features = run.last.features && !(run.summary.lambda > 0.0);
  const Stage& stage = only_features ? run.first : run.last;
  const optimize::InversionSummary& ended = only_features ? *run.last.features : run.summary;
  const double lambda =
      stage.alternates() && !ended.history.empty() ? ended.history.back().code_lambda : ended.lambda;
  if (!(lambda > 0.0)) return std::nullopt;
  const Unknowns& of = stage.alternates() ? *stage.codes : stage.unknowns;
  const VectorXd model = stage.unknowns.to_cells(ended.model);
  VectorXd unknowns = ended.model;
  if (stage.alternates()) {
    unknowns.resize(of.size());
    unknowns << of.decoded_from(model), stage.unknowns.further_of(ended.model);
  }
  const Problem& problem = *stage.problem;
  Regularizer regularizer(problem.earth.grid, problem.roughness, problem.norm, stage.reference, of);
  const double scale = wanted.scale_errors ? std::max(1.0, ended.rms) : 1.0;
  uncertainty::Counting counting{.error_scale = scale};
  const double here = widened(lambda / (scale * scale), regularizer, wanted.widen_prior, counting);
  optimize::Objective objective{.forward = stage.forward_for(model, of),
                                .misfit = misfit_of_iterations(problem).with_errors_times(scale),
                                .regularization = regularizer.at(unknowns),
                                .n_further = of.n_further()};
  return End{stage, of, std::move(unknowns), counting, here, std::move(regularizer), std::move(objective)};
}

/// Spreads numbers of the free cells over all cells; `of_held` in those that are held.
VectorXd in_all_cells(const Problem& problem, const VectorXd& of_free, double of_held) {
  VectorXd all = VectorXd::Constant(problem.earth.grid.n_cells(), of_held);
  all(problem.free_cells) = of_free;
  return all;
}

/// Returns the deviations of the free cells in the scale of the model.
uncertainty::Spread spread_of_cells(const uncertainty::Posterior& posterior, const End& end) {
  const Unknowns& of = end.of;
  const Eigen::Index n = of.n_free();
  if (of.coded()) {
    const auto map = of.regions()->map(of.n_further());
    const uncertainty::Spread spread = posterior.spread_of(*map->linearize(end.unknowns));
    return {spread.prior.head(n), spread.posterior.head(n)};
  }
  const VectorXd slope = of.slope_of_cells(end.unknowns).cwiseAbs();
  return {posterior.spread().prior.head(n).cwiseProduct(slope),
          posterior.spread().posterior.head(n).cwiseProduct(slope)};
}

/// Returns each free cell's own diagonal element; NaN where codes set it.
VectorXd resolution_of_cells(const uncertainty::Posterior& posterior, const End& end) {
  const Unknowns& of = end.of;
  if (!of.coded()) return posterior.resolution().head(of.n_free());
  VectorXd cells = VectorXd::Constant(of.n_free(), std::numeric_limits<double>::quiet_NaN());
  cells(of.coded()->outside()) =
      posterior.resolution().segment(of.coded()->n_codes(), std::ssize(of.coded()->outside()));
  return cells;
}

VectorXd capped(const VectorXd& deviation) {
  constexpr double most = uncertainty::PosteriorSpread::largest;
  return deviation.unaryExpr([](double value) { return value < most ? value : most; });
}

uncertainty::PosteriorSpread posterior_at(MPI_Comm comm, const End& end,
                                          const uncertainty::InvestigationOptions& rule) {
  const core::ScopedTimer timer("run/posterior");
  const Problem& problem = *end.stage.problem;
  const uncertainty::Posterior posterior(comm, end.objective, end.unknowns, end.lambda);
  const uncertainty::Spread spread = spread_of_cells(posterior, end);
  const std::vector<std::uint8_t> seen = uncertainty::investigated(spread, rule);
  const VectorXd of_seen =
      Eigen::Map<const Eigen::Matrix<std::uint8_t, Eigen::Dynamic, 1>>(seen.data(), std::ssize(seen))
          .cast<double>();
  return {.prior_deviation_decades = in_all_cells(problem, capped(spread.prior), 0.0),
          .deviation_decades = in_all_cells(problem, capped(spread.posterior), 0.0),
          .variance_reduction = in_all_cells(problem, spread.variance_reduction(), 0.0),
          .resolution = in_all_cells(problem, resolution_of_cells(posterior, end),
                                     std::numeric_limits<double>::quiet_NaN()),
          .investigated = in_all_cells(problem, of_seen, 1.0),
          .seen_share = rule.share,
          .largest_prior_decades = rule.largest_prior,
          .lambda = end.lambda,
          .degrees_of_freedom = posterior.degrees_of_freedom(),
          .n_unknowns = static_cast<double>(end.unknowns.size()),
          .n_data =
              static_cast<double>(end.objective.misfit.n_kept() -
                                  end.of.n_further()),  // the prior of the further unknowns stands among them
          .counting = end.counting,
          .unknowns = end.kind()};
}

void save(core::Store& store, const Ensemble& ensemble, int max_iterations) {
  store.save([&](core::ArraySink& sink) {
    sink.attribute("", "format", format_name);
    sink.attribute("", "max_iterations", std::to_string(max_iterations));
    uncertainty::write_ensemble(sink, ensemble);
  });
}

/// Returns the saved samples, if they are of this model and drawn alike.
Ensemble saved_samples(const core::Store& store, const End& end,
                       const uncertainty::EnsembleOptions& options) {
  if (!store.exists()) return {};
  const auto source = store.load();
  if (!source->has_attribute("", "format") || source->attribute("", "format") != format_name)
    throw core::FormatError("inversion::samples#not_samples",
                            "{}: expected samples of a run, got another file; remove it", store.name());
  Ensemble ensemble = uncertainty::read_ensemble(*source);
  const bool same_start =
      ensemble.start.size() == end.unknowns.size() && (ensemble.start.array() == end.unknowns.array()).all();
  if (same_start && ensemble.lambda == end.lambda && ensemble.seed == options.seed &&
      source->attribute("", "max_iterations") == std::to_string(options.max_iterations))
    return ensemble;
  core::log::warning(
      core::log::Id("inversion::samples#other_samples"),
      "{}: these samples are of another model, seed or number of steps; new ones take their place",
      store.name());
  return {};
}

Ensemble sample(MPI_Comm comm, const End& end, const uncertainty::EnsembleOptions& options,
                const core::StorePtr& store, Ensemble done, const StopRule& stop) {
  const core::ScopedTimer timer("run/samples");
  const auto n_done = std::ssize(done.records);
  if (n_done > 0) core::log::info("samples: {} of {} are there already", n_done, options.n_samples);
  const auto on_sample = [&](const Ensemble& ensemble) {
    const uncertainty::SampleRecord& last = ensemble.records.back();
    core::log::info("sample {} of {}: {}", ensemble.records.size(), options.n_samples,
                    last.failure.empty()
                        ? fmt::format("rms {:.4f} on the iterations' meshes after {} step(s){}",
                                      end.counting.error_scale * last.rms, last.n_iterations,
                                      last.converged ? "" : ", not converged")
                        : "failed: " + last.failure);
    if (store) core::on_rank_zero(comm, [&] { save(*store, ensemble, options.max_iterations); });
  };
  bool is_first =
      true;  // a process makes at least one, so that short ones come to an end, as with iterations
  const auto ask = [&]() -> std::optional<optimize::StopReason> {
    const auto reason = stop();
    const bool goes_on = std::exchange(is_first, false) && reason != optimize::StopReason::interrupted;
    return goes_on ? std::nullopt : reason;
  };
  const uncertainty::EnsembleHooks hooks{
      .reweigh = end.of.coded() ? end.regularizer.reweigh() : objective::Reweigh{},
      .progress = on_sample,
      .stop = ask};
  return uncertainty::randomize_then_optimize(comm, end.objective, end.unknowns, end.lambda, options, hooks,
                                              std::move(done));
}

/// Replaces the rms of its samples by that of the errors as stated.
Ensemble with_stated_rms(Ensemble ensemble, double error_scale) {
  for (uncertainty::SampleRecord& record : ensemble.records) record.rms *= error_scale;
  return ensemble;
}

std::optional<uncertainty::EnsembleSpread> spread_of(const Ensemble& ensemble, const End& end) {
  if (ensemble.models.cols() < 2) {
    core::log::warning(core::log::Id("inversion::assessment#few_samples"),
                       "{}: too few for percentiles, which are left out", ensemble.brief());
    return std::nullopt;
  }
  Eigen::MatrixXd cells(end.of.to_cells(end.unknowns).size(), ensemble.models.cols());
  for (Eigen::Index i = 0; i < cells.cols(); ++i) cells.col(i) = end.of.to_cells(ensemble.models.col(i));
  const uncertainty::EnsembleStatistics of_cells = uncertainty::statistics(cells);
  uncertainty::EnsembleSpread spread{.p5_log10_resistivity = of_cells.p5,
                                     .p50_log10_resistivity = of_cells.p50,
                                     .p95_log10_resistivity = of_cells.p95,
                                     .deviation_decades = of_cells.deviation,
                                     .lambda = ensemble.lambda,
                                     .smallest_rms = std::numeric_limits<double>::infinity(),
                                     .counting = end.counting,
                                     .n_samples = static_cast<int>(cells.cols()),
                                     .n_failed = ensemble.n_failed(),
                                     .n_unconverged = ensemble.n_unconverged(),
                                     .seed = ensemble.seed,
                                     .unknowns = end.kind()};
  for (const uncertainty::SampleRecord& record : ensemble.records) {
    if (!record.failure.empty()) continue;
    spread.smallest_rms = std::min(spread.smallest_rms, record.rms);
    spread.largest_rms = std::max(spread.largest_rms, record.rms);
  }
  return spread;
}

}  // namespace

UncertaintyResult find_uncertainty(MPI_Comm comm, const EndedRun& run, const AssessmentOptions& options,
                                   const core::StorePtr& samples, const StopRule& stop) {
  if (run.summary.predicted.size() == 0) return {};
  try {
    const std::optional<End> end = end_of(run, options);
    if (!end) {
      core::log::warning(
          core::log::Id("inversion::assessment#no_step"),
          "[uncertainty] is left out: the run took no step, so there is no λ to weigh the prior with; lower "
          "inversion.target_rms");
      return {};
    }
    uncertainty::Uncertainty found;
    if (options.ensemble) {
      Ensemble done = samples ? saved_samples(*samples, *end, *options.ensemble) : Ensemble{};
      const Ensemble ensemble = with_stated_rms(
          sample(comm, *end, *options.ensemble, samples, std::move(done), stop), end->counting.error_scale);
      if (ensemble.stopped) return {{}, ensemble.stopped};
      core::log::info("{}", ensemble.brief());
      found.ensemble = spread_of(ensemble, *end);
    }
    if (options.posterior) found.posterior = posterior_at(comm, *end, options.investigation);
    if (found.posterior || found.ensemble) return {std::move(found), {}};
  } catch (const core::SolverError& error) {  // on every rank together; the model is good without
    core::log::warning(core::log::Id("inversion::assessment#failed"), "[uncertainty] is left out: {}",
                       error.what());
  }
  return {};
}

}  // namespace lodestone::inversion
