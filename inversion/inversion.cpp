// SPDX-License-Identifier: Apache-2.0
#include "inversion/inversion.hpp"

#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/timer.hpp"
#include "inversion/regularizer.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace lodestone::inversion {
namespace {

constexpr double largest_difference =
    0.3;  // of the responses on iteration and final meshes, in errors of the data; the aim is 0.2

ProblemPtr checked(Problem problem) {
  problem.check();
  return std::make_shared<const Problem>(std::move(problem));
}

std::unique_ptr<optimize::Optimizer> optimizer_of(MPI_Comm comm, const Stage& stage, const Method& method) {
  if (!stage.alternates()) return make_optimizer(comm, method);
  const Problem& problem = *stage.problem;
  const Regularizer of_codes(problem.earth.grid, problem.roughness, problem.norm, stage.reference,
                             *stage.codes);
  return make_alternating(comm, method, *of_codes.coded(), stage.codes->regions()->encoding());
}

/// Returns the rms over used data of the difference of two predictions, in units of the data's errors.
double rms_between(const objective::DataMisfit& misfit, const Eigen::VectorXd& first,
                   const Eigen::VectorXd& second) {
  return (misfit.residual(first) - misfit.residual(second)).norm() /
         std::sqrt(static_cast<double>(misfit.n_kept()));
}

/// Returns all data as the iterations predicted them; NaN where they did not.
Eigen::VectorXd of_iterations(const Problem& problem, const optimize::InversionSummary& summary) {
  return problem.forward.used_only ? spread_over_all(problem.data, summary.predicted)
                                   : Eigen::VectorXd(summary.predicted.head(problem.data.size()));
}

void log_rms(const Problem& problem, const Eigen::VectorXd& on_iterations, const Outcome& out) {
  const objective::DataMisfit misfit(problem.data, problem.huber_threshold);
  const double difference = rms_between(misfit, on_iterations, out.predicted);
  core::log::info(
      "rms {:.4f} on the iterations' meshes, {:.4f} at the final accuracy; the responses differ by {:.3f} of "
      "the data's errors",
      misfit.rms(on_iterations), misfit.rms(out.predicted), difference);
  if (problem.huber_threshold > 0.0)
    core::log::info(
        "these rms count residuals beyond {:g} errors by Huber's norm; squared as all others they give "
        "{:.4f}, the figure in the files",
        problem.huber_threshold, out.ending.rms);
  if (difference > largest_difference)
    core::log::warning(
        core::log::Id("inversion::Inversion#meshes_differ"),
        "the responses of the iterations' meshes differ too much for these errors (at most by 0.2 is the "
        "aim); {}",
        problem.forward.remedy);
}

/// Puts what the maps of the results return in its rows of all data, NaN in the others; the further unknowns
/// stay below.
Eigen::VectorXd in_result_rows(const Problem& problem, const Eigen::VectorXd& values) {
  const std::vector<Eigen::Index>& rows = problem.forward.result_rows;
  if (rows.empty()) return values;
  const Eigen::Index n_further = values.size() - std::ssize(rows), n = problem.data.size();
  Eigen::VectorXd all = Eigen::VectorXd::Constant(n + n_further, std::numeric_limits<double>::quiet_NaN());
  all(rows) = values.head(std::ssize(rows));
  all.tail(n_further) = values.tail(n_further);
  return all;
}

/// Returns predictions of all data at the final accuracy, and below them the further unknowns.
Eigen::VectorXd final_responses(const Problem& problem, const Outcome& out) {
  const core::ScopedTimer timer("run/final responses");
  const DataMaps& maps = problem.forward.results;
  core::MapPtr map = maps.design(out.model.values);
  Eigen::VectorXd x = out.model.values;
  if (scale_between(problem) == physics::mesh::Scale::log10) x = Eigen::pow(10.0, x.array());
  if (out.further.size() == 0) return in_result_rows(problem, map->value(x));
  map = maps.with_further(std::move(map));
  Eigen::VectorXd all(x.size() + out.further.size());
  all << x, out.further;
  return in_result_rows(problem, map->value(all));
}

Outcome stopped_outcome(Outcome out, std::string message) {
  out.ending.code = core::ExitCode::interrupted;
  out.ending.text = std::move(message);
  out.ending.place = core::Place("inversion::Inversion#stopped");
  return out;
}

void require_model(const optimize::InversionSummary& summary) {
  if (summary.predicted.size() > 0) return;
  throw core::SolverError(
      "inversion::Inversion#no_model", "{}; there are no results to write. {}", summary.message,
      summary.history.empty() ? "Look at the start model and the grid (`--dry-run` shows unknowns and meshes)"
                              : "The models so far are in the checkpoint and in the files of the iterations");
}

}  // namespace

Inversion::Inversion(MPI_Comm comm, Problem problem, Method method)
    : comm_(comm),
      provenance_(core::make_provenance(core::size_of(comm))),
      problem_(checked(std::move(problem))),
      method_(std::move(method)),
      first_(first_stage(problem_, method_)) {}

void Inversion::add(DirectivePtr directive) {
  makers_.emplace_back([directive = std::move(directive)](const Stage&) { return directive; });
}

RunInputs Inversion::inputs() const {
  return {problem_->about.configuration, problem_->data, first_.start,
          first_.codes ? first_.codes->regions()->identity() : ""};
}

void Inversion::keep(core::StorePtr checkpoint) {
  checkpoint_ = std::move(checkpoint);
  inputs_ = inputs();
  if (checkpoint_->exists()) saved_ = read_checkpoint(*checkpoint_->load(), inputs_);
}

void Inversion::resume_from(const core::Store& checkpoint) {
  saved_ = read_checkpoint(*checkpoint.load(), inputs());
}

void Inversion::assess(AssessmentOptions options, core::StorePtr samples) {
  assessment_ = std::move(options);
  samples_ = std::move(samples);
}

std::vector<Inversion::DirectivePtr> Inversion::directives(const Stage& stage) const {
  std::vector<DirectivePtr> result;
  for (const DirectiveMaker& make : makers_) {
    if (auto directive = make(stage)) result.push_back(std::move(directive));
  }
  if (!checkpoint_) return result;
  result.push_back(
      std::make_shared<optimize::CheckpointDirective>([&](const optimize::InversionState& state) {
        core::on_rank_zero(comm_, [&] {
          checkpoint_->save([&](core::ArraySink& sink) {
            write_checkpoint(sink, inputs_, {state, stage.features});
          });
        });
      }));
  return result;
}

optimize::InversionSummary Inversion::minimize_stage(const Stage& stage) {
  // A good model fits the data, and is smooth or like the draws of its prior
  const Regularizer regularizer(problem_->earth.grid, problem_->roughness, problem_->norm, stage.reference,
                                stage.unknowns);
  const optimize::Objective objective{.forward = stage.first_forward(),
                                      .misfit = misfit_of_iterations(*problem_),
                                      .regularization = regularizer.at(stage.start)};

  // Steps until the data are fitted
  const auto optimizer = optimizer_of(comm_, stage, method_);
  optimize::Hooks hooks{.directives = directives(stage),
                        .redesign = stage.redesign(target_rms(method_)),
                        .reweigh = regularizer.reweigh(),
                        .stop = [this] { return stopped(); }};
  if (!saved_) return optimizer->minimize(objective, stage.start, std::move(hooks));
  return optimizer->resume(objective, std::exchange(saved_, std::nullopt)->state, std::move(hooks));
}

void Inversion::find_responses(const EndedRun& run, Outcome& out) const {
  const Eigen::VectorXd on_iterations = of_iterations(*problem_, run.summary);
  const objective::DataMisfit misfit(problem_->data, problem_->huber_threshold);
  double rms_to_target = 0.0;
  if (run.summary.reason == optimize::StopReason::failed) {
    out.predicted = on_iterations;
    rms_to_target = misfit.rms(out.predicted);
  } else {
    const Eigen::VectorXd all = final_responses(*problem_, out);
    out.predicted = all.head(problem_->data.size());
    rms_to_target = misfit_of_results(*problem_).rms(all);
  }
  out.ending.rms = objective::DataMisfit(problem_->data).rms(out.predicted);
  log_rms(*problem_, on_iterations, out);
  optimize::InversionSummary summary = run.summary;
  if (!summary.history.empty()) summary.history.back().iteration += run.last.history().n_iterations_before();
  const double rms = out.ending.rms;  // of the used data alone
  out.ending = judge(summary, rms_to_target, out.ending.target_rms, problem_->forward.remedy);
  out.ending.rms = rms;
}

Outcome Inversion::minimize() {
  Outcome out{.about = problem_->about,
              .model = {problem_->earth, problem_->property, {}},
              .start = first_.start_model,
              .data = problem_->data,
              .sites = problem_->sites,
              .frame = problem_->frame,
              .ending = {.target_rms = target_rms(method_)}};
  out.about.provenance = provenance_;

  // 1. The first stage, unless the checkpoint is of the second
  const bool is_first_over = saved_ && saved_->before;
  optimize::InversionSummary summary = is_first_over ? *saved_->before : minimize_stage(first_);

  // 2. Where no draw of the prior fits the data, its cells move on their own, as little as they must
  std::optional<Stage> polish;
  if (needs_polish(*problem_, summary)) {
    polish.emplace(polish_stage(first_, std::move(summary), out.ending.target_rms));
    summary = minimize_stage(*polish);
  }
  const EndedRun run{first_, polish ? *polish : first_, summary};
  out.ending.reason = summary.reason;
  out.ending.message = summary.message;
  out.history = run.last.history().with(summary.history);
  if (inversion::was_stopped(summary)) return stopped_outcome(std::move(out), summary.message);
  require_model(summary);
  out.model.values = run.last.unknowns.to_cells(summary.model);
  out.further = run.last.unknowns.further_of(summary.model);

  // 3. How well the data determine the model, and how it stands to the prior
  if (assessment_) {
    UncertaintyResult found =
        find_uncertainty(comm_, run, *assessment_, samples_, [this] { return stopped(); });
    if (found.stopped)
      return stopped_outcome(std::move(out),
                             fmt::format("stopped from outside ({})", core::word(*found.stopped)));
    out.findings.uncertainty = std::move(found.found);
  }
  if (out.findings.uncertainty)
    core::log::info("uncertainty: {}",
                    uncertainty::in_words(*out.findings.uncertainty, problem_->earth.grid));
  if (first_.codes)
    out.findings.prior = find_prior(run, out.model.values, out.findings.uncertainty, out.ending.target_rms);

  // 4. Responses at the final accuracy, also of data that were not used
  find_responses(run, out);
  if (problem_->forward.tables && out.ending.reason != optimize::StopReason::failed)
    out.tables = problem_->forward.tables(out.model.values, out.further);
  out.about.provenance.finished_utc = core::utc_now();
  return out;
}

Inversion::DirectivePtr iteration_table() { return std::make_shared<optimize::IterationTable>(); }

}  // namespace lodestone::inversion
