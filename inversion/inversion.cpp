// SPDX-License-Identifier: Apache-2.0
#include "inversion/inversion.hpp"

#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/mpi/team.hpp"
#include "engine/core/process_memory.hpp"
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
  const Problem& problem = *stage.problem;
  const Method priced = with_price(method, problem.forward.jacobian_products);
  if (!stage.alternates()) return make_optimizer(comm, priced);
  const Regularizer of_codes(problem.earth.grid, problem.roughness, problem.norm, stage.reference,
                             *stage.codes);
  return make_alternating(comm, priced, *of_codes.coded(), stage.codes->regions()->encoding());
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

void log_rms(const Problem& problem, const char* meshes, const Eigen::VectorXd& on_iterations,
             const Outcome& out) {
  const objective::DataMisfit misfit(problem.data, problem.huber_threshold);
  const double difference = rms_between(misfit, on_iterations, out.predicted);
  core::log::info(
      "last model: rms {:.4f} on the {} meshes, {:.4f} at the final accuracy; the responses differ by {:.3f} "
      "of "
      "the data's errors",
      misfit.rms(on_iterations), meshes, misfit.rms(out.predicted), difference);
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
Eigen::VectorXd responses_of(const Problem& problem, const Eigen::VectorXd& model,
                             const Eigen::VectorXd& further) {
  const DataMaps& maps = problem.forward.results;
  core::MapPtr map = maps.design(model);
  Eigen::VectorXd x = model;
  if (scale_between(problem) == physics::mesh::Scale::log10) x = Eigen::pow(10.0, x.array());
  if (further.size() == 0) return in_result_rows(problem, map->value(x));
  map = maps.with_further(std::move(map));
  Eigen::VectorXd all(x.size() + further.size());
  all << x, further;
  return in_result_rows(problem, map->value(all));
}

/// Names what the iterations compare with the target beside the squares of the data's residuals.
std::string counting_of(const Problem& problem) {
  const bool huber = problem.huber_threshold > 0.0, further = problem.further.n > 0;
  return huber && further ? "by Huber's norm, with the further unknowns"
         : huber          ? "by Huber's norm"
                          : "with the further unknowns";
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

struct Inversion::FinalResponses {
  Eigen::VectorXd all{};  ///< data, and below them the further unknowns
  double rms = 0.0;       ///< counts both, as it is compared with the target
};

struct Inversion::Minimized {
  std::optional<Stage> polish{}, last_steps{};
  optimize::InversionSummary summary{};
  std::optional<FinalResponses> responses{};  ///< responses of its model, where they are known

  [[nodiscard]] const Stage& last_of_iterations(const Stage& first) const { return polish ? *polish : first; }
  [[nodiscard]] const Stage& last(const Stage& first) const {
    return last_steps ? *last_steps : last_of_iterations(first);
  }
  /// Returns the run whose last model is assessed, on the meshes of the iterations.
  [[nodiscard]] EndedRun assessed(const Stage& first) const {
    const bool no_step = last_steps && summary.history.size() <= 1;
    return {first, last_of_iterations(first), no_step ? *last_steps->iterated : summary};
  }
};

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
          first_.codes ? first_.codes->regions()->identity() : "", identity(*problem_)};
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
            write_checkpoint(sink, inputs_, {state, stage.features, stage.iterated});
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
                                      .regularization = regularizer.at(stage.start),
                                      .n_further = stage.unknowns.n_further(),
                                      .n_cells = stage.unknowns.coded() ? stage.unknowns.n_free() : 0};

  // Steps until the data are fitted
  const bool is_last = !stage.codes || problem_->prior->polish == prior::Polish::never;
  const auto optimizer = optimizer_of(comm_, stage,
                                      stage.is_final() ? for_last_steps(method_, *stage.iterated)
                                      : is_last        ? method_
                                                       : before_another(method_));
  optimize::Hooks hooks{.directives = directives(stage),
                        .redesign = stage.redesign(target_rms(method_)),
                        .confirm = stage.is_final(),
                        .reweigh = regularizer.reweigh(),
                        .stop = [this] { return stopped(); }};
  if (!saved_) return optimizer->minimize(objective, stage.start, std::move(hooks));
  return optimizer->resume(objective, std::exchange(saved_, std::nullopt)->state, std::move(hooks));
}

Inversion::FinalResponses Inversion::final_responses(const Stage& stage,
                                                     const optimize::InversionSummary& summary) {
  const core::ScopedTimer timer("run/final responses");
  FinalResponses found{.all = responses_of(*problem_, stage.unknowns.to_cells(summary.model),
                                           stage.unknowns.further_of(summary.model))};
  found.rms = misfit_of_results(*problem_).rms(found.all);
  results_s_ = timer.seconds();
  return found;
}

Inversion::Minimized Inversion::minimize_stages() {
  // 1. The first stage, unless the checkpoint is of a later one
  const double target = target_rms(method_);
  const std::optional<optimize::InversionSummary> before = saved_ ? saved_->before : std::nullopt,
                                                  iterated = saved_ ? saved_->iterated : std::nullopt;
  Minimized found;
  found.summary = before ? *before : iterated ? *iterated : minimize_stage(first_);

  // 2. Where no draw of the prior fits the data, its cells move on their own, as little as they must
  if (needs_polish(*problem_, found.summary)) {
    found.polish.emplace(polish_stage(first_, std::move(found.summary), target));
    found.summary = iterated ? *iterated : minimize_stage(*found.polish);
  }

  // 3. Where the target is reached on the iterations' meshes alone, the last steps are taken on finer ones
  const Stage& last = found.last_of_iterations(first_);
  const double reached = found.summary.target_rms;
  if (!problem_->forward.last_steps.design || found.summary.reason != optimize::StopReason::target_reached)
    return found;
  if (!iterated) {
    found.responses = final_responses(last, found.summary);
    if (!misses(found.responses->rms, reached)) return found;
    core::log::info(
        "the target {:g} is reached on the iterations' meshes (rms {:.4f}), and missed at the final accuracy "
        "(rms {:.4f}): the last steps are taken there",
        reached, found.summary.rms, found.responses->rms);
    found.responses.reset();
  }
  found.last_steps.emplace(final_stage(last, std::move(found.summary)));
  found.summary = minimize_stage(*found.last_steps);
  const std::string where = " (in the last steps, at the final accuracy)";
  found.summary.message += where;
  if (inversion::was_stopped(found.summary) || found.summary.reason == optimize::StopReason::failed)
    return found;
  found.responses = final_responses(*found.last_steps, found.summary);
  if (misses(found.responses->rms, reached) || found.summary.reason == optimize::StopReason::target_reached)
    return found;
  found.summary.reason = optimize::StopReason::target_reached;
  found.summary.message = "at the target on the meshes of the final model" + where;
  return found;
}

void Inversion::find_responses(const Minimized& found, Outcome& out) {
  const Stage& last = found.last(first_);
  const Eigen::VectorXd on_iterations = of_iterations(*problem_, found.summary);
  const objective::DataMisfit misfit(problem_->data, problem_->huber_threshold);
  double rms_to_target = 0.0;
  if (found.summary.reason == optimize::StopReason::failed) {
    out.predicted = on_iterations;
    rms_to_target = misfit.rms(out.predicted);
  } else {
    const FinalResponses responses =
        found.responses ? *found.responses : final_responses(last, found.summary);
    out.predicted = responses.all.head(problem_->data.size());
    rms_to_target = responses.rms;
  }
  out.ending.rms = objective::DataMisfit(problem_->data).rms(out.predicted);
  log_rms(*problem_, last.is_final() ? "last step's" : "iterations'", on_iterations, out);
  optimize::InversionSummary summary = found.summary;
  if (const double asked = target_rms(method_); out.ending.target_rms > asked)
    summary.message += fmt::format("; the target was raised from {:g} to what the data allow", asked);
  if (!summary.history.empty()) summary.history.back().iteration += last.history().n_iterations_before();
  out.ending = judge(summary, {out.ending.rms, rms_to_target, counting_of(*problem_), last.is_final()},
                     out.ending.target_rms, problem_->forward.remedy);
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

  // 1. The model
  const Minimized found = minimize_stages();
  const Stage& last = found.last(first_);
  const optimize::InversionSummary& summary = found.summary;
  out.ending.reason = summary.reason;
  out.ending.message = summary.message;
  out.ending.target_rms = summary.target_rms;
  out.history = last.history().with(summary.history);
  if (inversion::was_stopped(summary)) return stopped_outcome(std::move(out), summary.message);
  require_model(summary);
  warn_of_bend(summary, out.ending.target_rms);
  out.model.values = last.unknowns.to_cells(summary.model);
  out.further = last.unknowns.further_of(summary.model);

  // 2. How well the data determine the model, and how it stands to the prior
  const EndedRun run = found.assessed(first_);
  if (assessment_) {
    UncertaintyResult result =
        find_uncertainty(comm_, run, *assessment_, samples_, [this] { return stopped(); });
    if (result.stopped)
      return stopped_outcome(std::move(out),
                             fmt::format("stopped from outside ({})", core::word(*result.stopped)));
    out.findings.uncertainty = std::move(result.found);
  }
  if (out.findings.uncertainty)
    core::log::info("uncertainty: {}", uncertainty::in_words(*out.findings.uncertainty, problem_->earth.grid,
                                                             out.ending.target_rms));
  if (first_.codes)
    out.findings.prior = find_prior(run, out.model.values, out.findings.uncertainty, out.ending.target_rms);

  // 3. Responses at the final accuracy, also of data that were not used
  find_responses(found, out);
  if (problem_->forward.tables && out.ending.reason != optimize::StopReason::failed)
    out.tables = problem_->forward.tables(out.model.values, out.further);
  out.about.provenance.finished_utc = core::utc_now();
  return out;
}

bool Inversion::certify(Outcome& outcome) const {
  const auto& certificate = problem_->forward.certificate;
  if (!certificate || outcome.was_stopped() || outcome.ending.reason == optimize::StopReason::failed)
    return false;
  const core::ProcessMemory memory = core::process_memory();
  const Certified found = certificate(
      outcome.model.values, {.stop = [this] { return core::Team(comm_).any(stopped().has_value()); },
                             .results_s = results_s_,
                             .free_bytes = memory.largest - memory.resident});
  if (found.stopped)
    core::log::warning(
        core::log::Id("inversion::Inversion#certificate_stopped"),
        "stopped from outside before the certificate of the meshes was ready. The results are complete, only "
        "the table \"certificate\" is missing; resume the run to make it (--resume), or set "
        "forward.certificate = \"none\"");
  if (!found.table && !found.note.empty())
    core::log::warning(core::log::Id("inversion::Inversion#certificate_off"), "no certificate was made. {}",
                       found.note);
  if (found.table)
    outcome.tables.push_back(*found.table);
  else if (!found.note.empty())
    outcome.about.facts.emplace_back("Certificate of the meshes", found.note);
  return found.table || !found.note.empty();
}

Inversion::DirectivePtr iteration_table(const Stage& stage) {
  return std::make_shared<optimize::IterationTable>(stage.is_final() ? "rms at the final accuracy"
                                                                     : "rms on the iterations' meshes");
}

}  // namespace lodestone::inversion
