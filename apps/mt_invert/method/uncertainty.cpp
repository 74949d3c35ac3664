// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/uncertainty.hpp"

#include "apps/mt_invert/commands/rank_zero.hpp"
#include "apps/mt_invert/method/run_results.hpp"
#include "apps/mt_invert/method/smoothness.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/timer.hpp"
#include "inversion/uncertainty/ensemble.hpp"
#include "inversion/uncertainty/posterior.hpp"
#include "io/hdf5/file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

namespace lodestone::mt_invert::method {
namespace {

using Eigen::VectorXd;
using inversion::uncertainty::Ensemble;
constexpr const char* format_name = "lodestone ensemble";

/// Where a run ended, and the problem around it.
struct End {
  PhysicsSetup physics;  ///< of the unknowns that the prior is about
  VectorXd unknowns;
  io::run::Counting counting;
  double lambda = 0.0;  ///< by that
  Smoothness smoothness;
  inversion::optimize::Objective objective;

  [[nodiscard]] const ModelSpace& space() const { return physics.space(); }
  [[nodiscard]] std::string kind() const { return space().coded() ? "codes" : "cells"; }
};

/// λ by which no region's codes are narrower before the data than they were trained; `counting` notes what it
/// was and is.
double widened(double lambda, const Smoothness& smoothness, bool widen, io::run::Counting& counting) {
  if (!smoothness.coded()) return lambda;
  const double trained = 1.0 / std::ranges::max(smoothness.coded()->code_weights());
  const double here = widen ? std::min(lambda, trained) : lambda;
  counting.codes_in_run = std::sqrt(trained / lambda);
  counting.codes = std::sqrt(trained / here);
  return here;
}

/// Nothing where no step was taken, which leaves no λ.
std::optional<End> end_of(const EndedRun& run) {
  const bool only_features = run.last.features && !(run.summary.lambda > 0.0);
  const Stage& stage = only_features ? run.first : run.last;
  const inversion::optimize::InversionSummary& ended = only_features ? *run.last.features : run.summary;
  const double lambda =
      stage.alternates() && !ended.history.empty() ? ended.history.back().code_lambda : ended.lambda;
  if (!(lambda > 0.0)) return std::nullopt;
  const ModelSpace& of_stage = stage.physics.space();
  const ModelSpace& space = stage.alternates() ? *stage.codes : of_stage;
  const VectorXd log10_resistivity = of_stage.to_log10(ended.model);
  VectorXd unknowns = ended.model;
  if (stage.alternates()) {
    unknowns.resize(space.n_of_cells() + space.n_shifts());
    unknowns << space.decoded_from(log10_resistivity), of_stage.shifts_of(ended.model);
  }
  PhysicsSetup physics(stage.physics.comm(), stage.earth, stage.physics.survey(), space, run.config.forward);
  Smoothness smoothness(run.config.regularization, stage.earth, space);
  const config::UncertaintyConfig& wanted = *run.config.uncertainty;
  const double scale = wanted.scale_errors ? std::max(1.0, ended.rms) : 1.0;
  io::run::Counting counting{.error_scale = scale};
  const double here = widened(lambda / (scale * scale), smoothness, wanted.widen_prior, counting);
  const inversion::objective::DataMisfit misfit =
      misfit_of(run.data, run.config.huber_threshold, shift_prior_of(run.config, space));
  inversion::optimize::Objective objective{.forward = physics.forward_for(log10_resistivity),
                                           .misfit = misfit.with_errors_times(scale),
                                           .regularization = smoothness.at(unknowns)};
  return End{std::move(physics),    std::move(unknowns), counting, here,
             std::move(smoothness), std::move(objective)};
}

/// Numbers of the free cells in all cells; `of_held` in those that are held.
VectorXd in_all_cells(const Earth& earth, const VectorXd& of_free, double of_held) {
  VectorXd all = VectorXd::Constant(earth.grid.n_cells(), of_held);
  all(earth.free_cells) = of_free;
  return all;
}

/// Of log10 resistivity of the free cells.
inversion::uncertainty::Spread spread_of_cells(const inversion::uncertainty::Posterior& posterior,
                                               const End& end) {
  const ModelSpace& space = end.space();
  const Eigen::Index n = space.n_free();
  if (space.coded()) {
    const auto map = space.subdomains()->map(space.n_shifts());
    const inversion::uncertainty::Spread spread = posterior.spread_of(*map->linearize(end.unknowns));
    return {spread.prior.head(n), spread.posterior.head(n)};
  }
  const VectorXd slope = space.slope_of_log10(end.unknowns).cwiseAbs();
  return {posterior.spread().prior.head(n).cwiseProduct(slope),
          posterior.spread().posterior.head(n).cwiseProduct(slope)};
}

/// Each free cell's own diagonal element; NaN where codes set it.
VectorXd resolution_of_cells(const inversion::uncertainty::Posterior& posterior, const End& end) {
  const ModelSpace& space = end.space();
  if (!space.coded()) return posterior.resolution().head(space.n_free());
  VectorXd cells = VectorXd::Constant(space.n_free(), std::numeric_limits<double>::quiet_NaN());
  cells(space.coded()->outside()) =
      posterior.resolution().segment(space.coded()->n_codes(), std::ssize(space.coded()->outside()));
  return cells;
}

VectorXd capped(const VectorXd& deviation) {
  constexpr double most = io::run::PosteriorSpread::largest;
  return deviation.unaryExpr([](double value) { return value < most ? value : most; });
}

io::run::PosteriorSpread posterior_at(const End& end, const Earth& earth,
                                      const inversion::uncertainty::InvestigationOptions& rule) {
  const core::ScopedTimer timer("run/posterior");
  const inversion::uncertainty::Posterior posterior(end.physics.comm(), end.objective, end.unknowns,
                                                    end.lambda);
  const inversion::uncertainty::Spread spread = spread_of_cells(posterior, end);
  const std::vector<std::uint8_t> seen = inversion::uncertainty::investigated(spread, rule);
  const VectorXd of_seen =
      Eigen::Map<const Eigen::Matrix<std::uint8_t, Eigen::Dynamic, 1>>(seen.data(), std::ssize(seen))
          .cast<double>();
  return {.prior_deviation_decades = in_all_cells(earth, capped(spread.prior), 0.0),
          .deviation_decades = in_all_cells(earth, capped(spread.posterior), 0.0),
          .variance_reduction = in_all_cells(earth, spread.variance_reduction(), 0.0),
          .resolution = in_all_cells(earth, resolution_of_cells(posterior, end),
                                     std::numeric_limits<double>::quiet_NaN()),
          .investigated = in_all_cells(earth, of_seen, 1.0),
          .seen_share = rule.share,
          .largest_prior_decades = rule.largest_prior,
          .lambda = end.lambda,
          .degrees_of_freedom = posterior.degrees_of_freedom(),
          .n_unknowns = static_cast<double>(end.unknowns.size()),
          .n_data = static_cast<double>(end.objective.misfit.n_kept() -
                                        end.space().n_shifts()),  // the shifts' prior stands among them
          .counting = end.counting,
          .unknowns = end.kind()};
}

void save(const std::string& path, const Ensemble& ensemble, int max_iterations) {
  io::hdf5::Hdf5Sink sink(path);
  sink.attribute("", "format", format_name);
  sink.attribute("", "max_iterations", std::to_string(max_iterations));
  inversion::uncertainty::write_ensemble(sink, ensemble);
  sink.commit();
}

/// The samples in the folder, if they are of this model and drawn alike.
Ensemble saved_samples(const std::string& path, const End& end,
                       const inversion::uncertainty::EnsembleOptions& options) {
  if (!std::filesystem::exists(path)) return {};
  const io::hdf5::Hdf5Source source(path);
  if (!source.has_attribute("", "format") || source.attribute("", "format") != format_name)
    throw core::FormatError("mt_invert", "{}: expected samples of a run, got another HDF5 file; remove it",
                            path);
  Ensemble ensemble = inversion::uncertainty::read_ensemble(source);
  const bool same_start =
      ensemble.start.size() == end.unknowns.size() && (ensemble.start.array() == end.unknowns.array()).all();
  if (same_start && ensemble.lambda == end.lambda && ensemble.seed == options.seed &&
      source.attribute("", "max_iterations") == std::to_string(options.max_iterations))
    return ensemble;
  core::log::warning(
      "{}: these samples are of another model, seed or number of steps; new ones take their place", path);
  return {};
}

Ensemble sample(const End& end, const inversion::uncertainty::EnsembleOptions& options,
                const std::string& path, Ensemble done,
                const std::function<std::optional<inversion::optimize::StopReason>()>& stop) {
  const core::ScopedTimer timer("run/samples");
  const auto n_done = std::ssize(done.records);
  if (n_done > 0) core::log::info("samples: {} of {} are there already", n_done, options.n_samples);
  const auto on_sample = [&](const Ensemble& ensemble) {
    const inversion::uncertainty::SampleRecord& last = ensemble.records.back();
    core::log::info("sample {} of {}: {}", ensemble.records.size(), options.n_samples,
                    last.failure.empty()
                        ? fmt::format("rms {:.4f} after {} step(s){}", end.counting.error_scale * last.rms,
                                      last.n_iterations, last.converged ? "" : ", not converged")
                        : "failed: " + last.failure);
    commands::on_rank_zero(end.physics.comm(), [&] { save(path, ensemble, options.max_iterations); });
  };
  bool is_first =
      true;  // a process makes at least one, so that short ones come to an end, as with iterations
  const auto ask = [&]() -> std::optional<inversion::optimize::StopReason> {
    const auto reason = stop();
    const bool goes_on =
        std::exchange(is_first, false) && reason != inversion::optimize::StopReason::interrupted;
    return goes_on ? std::nullopt : reason;
  };
  const inversion::uncertainty::EnsembleHooks hooks{
      .reweigh = end.space().coded() ? end.smoothness.reweigh() : inversion::objective::Reweigh{},
      .progress = on_sample,
      .stop = ask};
  return inversion::uncertainty::randomize_then_optimize(end.physics.comm(), end.objective, end.unknowns,
                                                         end.lambda, options, hooks, std::move(done));
}

/// The rms of its samples by the errors as stated.
Ensemble with_stated_rms(Ensemble ensemble, double error_scale) {
  for (inversion::uncertainty::SampleRecord& record : ensemble.records) record.rms *= error_scale;
  return ensemble;
}

std::optional<io::run::EnsembleSpread> spread_of(const Ensemble& ensemble, const End& end) {
  if (ensemble.models.cols() < 2) {
    core::log::warning("{}: too few for percentiles, which are left out", ensemble.brief());
    return std::nullopt;
  }
  Eigen::MatrixXd cells(end.space().to_log10(end.unknowns).size(), ensemble.models.cols());
  for (Eigen::Index i = 0; i < cells.cols(); ++i) cells.col(i) = end.space().to_log10(ensemble.models.col(i));
  const inversion::uncertainty::EnsembleStatistics of_cells = inversion::uncertainty::statistics(cells);
  io::run::EnsembleSpread spread{.p5_log10_resistivity = of_cells.p5,
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
  for (const inversion::uncertainty::SampleRecord& record : ensemble.records) {
    if (!record.failure.empty()) continue;
    spread.smallest_rms = std::min(spread.smallest_rms, record.rms);
    spread.largest_rms = std::max(spread.largest_rms, record.rms);
  }
  return spread;
}

}  // namespace

Findings find_uncertainty(const EndedRun& run, Samples in_folder,
                          const std::function<std::optional<inversion::optimize::StopReason>()>& stop) {
  if (!run.config.uncertainty || run.summary.predicted.size() == 0) return {};
  const config::UncertaintyConfig& wanted = *run.config.uncertainty;
  Findings found;
  try {
    const std::optional<End> end = end_of(run);
    if (!end) {
      core::log::warning(
          "[uncertainty] is left out: the run took no step, so there is no λ to weigh the prior with; lower "
          "inversion.target_rms");
      return {};
    }
    io::run::Uncertainty uncertainty;
    if (wanted.ensemble) {
      Ensemble done = in_folder == Samples::kept
                          ? saved_samples(run.folder.ensemble(), *end, *wanted.ensemble)
                          : Ensemble{};
      const Ensemble ensemble =
          with_stated_rms(sample(*end, *wanted.ensemble, run.folder.ensemble(), std::move(done), stop),
                          end->counting.error_scale);
      if (ensemble.stopped) return {{}, ensemble.stopped};
      core::log::info("{}", ensemble.brief());
      uncertainty.ensemble = spread_of(ensemble, *end);
    }
    if (wanted.posterior) uncertainty.posterior = posterior_at(*end, run.last.earth, wanted.investigation);
    if (uncertainty.posterior || uncertainty.ensemble) found.uncertainty = std::move(uncertainty);
  } catch (const core::SolverError& error) {  // on every rank together; the model is good without
    core::log::warning("[uncertainty] is left out: {}", error.what());
  }
  return found;
}

}  // namespace lodestone::mt_invert::method
