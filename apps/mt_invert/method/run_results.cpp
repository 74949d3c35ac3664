// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/run_results.hpp"

#include "apps/mt_invert/commands/rank_zero.hpp"
#include "apps/mt_invert/method/learned_prior.hpp"
#include "apps/mt_invert/method/verdict.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/timer.hpp"
#include "io/csv/csv.hpp"
#include "io/report/report.hpp"
#include "io/run/output_folder.hpp"
#include "io/vtk/run.hpp"

#include <cmath>
#include <limits>

namespace lodestone::mt_invert::method {
namespace {

namespace mt = physics::mt;
using inversion::optimize::StopReason;

constexpr double largest_difference =
    0.3;  // of the responses on iteration and final meshes, in errors of the data; the aim is 0.2

std::vector<io::run::IterationRow> rows_of(const std::vector<inversion::optimize::StagedRecord>& history) {
  std::vector<io::run::IterationRow> rows;
  rows.reserve(history.size());
  for (const auto& [stage, record] : history) {
    rows.push_back({.iteration = record.iteration,
                    .kind = std::string(describe(record.kind)),
                    .lambda = record.lambda,
                    .rms = record.rms,
                    .roughness = record.roughness,
                    .step = record.step,
                    .rms_at_start = record.rms_at_start,
                    .n_forward = record.n_forward,
                    .n_jacobian = record.n_jacobian,
                    .seconds = record.seconds,
                    .stage = stage});
  }
  return rows;
}

/// What is known without another forward run.
io::run::InversionResult describe_run(const FinishedRun& run, const Eigen::VectorXd& log10_resistivity) {
  io::run::InversionResult result;
  result.title = run.config.title;
  result.configuration_toml = run.config.toml;
  result.provenance = run.provenance;
  result.data = run.observations.data;
  result.floors = run.config.data.selection.floors;
  result.grid = run.first.earth.grid;
  result.surface = run.first.earth.surface;
  result.sea = run.first.earth.sea;
  result.start_log10_resistivity = run.first.earth.start_log10;
  result.log10_resistivity = log10_resistivity;
  result.profile = run.observations.geometry;
  result.history = rows_of(run.last.history().with(run.summary.history));
  result.stop_reason = std::string(inversion::optimize::describe(run.summary.reason));
  result.stop_message = run.summary.message;
  result.target_rms = run.config.inversion.target_rms();
  add_static_shifts(run.config, run.last.physics.space(), run.summary.model, result);
  result.uncertainty = run.uncertainty;
  if (result.uncertainty) core::log::info("uncertainty: {}", io::run::words_on_uncertainty(result));
  add_learned_prior(run, result);
  return result;
}

/// Predictions of all keys from those of the kept ones; NaN elsewhere.
Eigen::VectorXd spread(const Eigen::VectorXd& of_kept, const mt::ObservedData& data) {
  Eigen::VectorXd all =
      Eigen::VectorXd::Constant(data.value.size(), std::numeric_limits<double>::quiet_NaN());
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < data.mask.size(); ++i) {
    if (data.mask[i] == mt::MaskReason::kept) all[static_cast<Eigen::Index>(i)] = of_kept[next++];
  }
  return all;
}

/// rms over kept data of the difference of two predictions in units of the data's errors.
double rms_between(const inversion::objective::DataMisfit& misfit, const Eigen::VectorXd& first,
                   const Eigen::VectorXd& second) {
  return (misfit.residual(first) - misfit.residual(second)).norm() /
         std::sqrt(static_cast<double>(misfit.n_kept()));
}

/// Responses of the final model at the final accuracy, also at masked data, and the certificate.
void add_final_responses(const FinishedRun& run, io::run::InversionResult& result) {
  const core::ScopedTimer timer("run/final responses");
  const auto simulation = run.last.physics.simulation_for(result.log10_resistivity, result.data.survey,
                                                          run.config.forward.final_accuracy);
  const Eigen::VectorXd unshifted = simulation->value(result.section().resistivity_ohm_m);
  result.predicted = mt::shifted(unshifted, result.data.survey, run.last.physics.space().shift_keys(),
                                 run.last.physics.space().shifts_of(run.summary.model));
  result.meshes = simulation->meshes();
}

void add_certificate(const FinishedRun& run, io::run::InversionResult& result) {
  if (run.config.forward.certificate == config::CertificateOf::none) return;
  const core::ScopedTimer timer("run/certificate");
  result.certificate = run.last.physics.certify(result.log10_resistivity);
  core::log::info("{}", result.certificate.table());
  if (!result.certificate.passed)
    core::log::warning("the certificate of the forward meshes fails; see the rows above");
}

/// The rms that the iterations compared with the target: of all data and, with static shifts, of their prior.
double rms_to_target(const FinishedRun& run, const io::run::InversionResult& result) {
  const ModelSpace& space = run.last.physics.space();
  Eigen::VectorXd predicted(result.predicted.size() + space.n_shifts());
  predicted << result.predicted, space.shifts_of(run.summary.model);
  return misfit_of(result.data, run.config.huber_threshold, shift_prior_of(run.config, space)).rms(predicted);
}

/// Says the last line of a run and returns the exit code of the contract.
int conclude(const FinishedRun& run, double rms) {
  inversion::optimize::InversionSummary summary = run.summary;
  if (!summary.history.empty()) summary.history.back().iteration += run.last.history().n_iterations_before();
  const Verdict verdict = judge(summary, rms, run.config.inversion.target_rms(), run.config.forward);
  if (verdict.code == core::ExitCode::solver)
    throw core::SolverError("mt_invert", "{}; the last good model (iteration {}) is in {}", verdict.text,
                            summary.history.back().iteration, run.folder.result());
  core::log::write(verdict.code == core::ExitCode::ok ? core::log::Level::info : core::log::Level::warning,
                   verdict.text);
  return static_cast<int>(verdict.code);
}

}  // namespace

inversion::objective::DataMisfit misfit_of(const mt::ObservedData& data, double huber_threshold,
                                           const ShiftPrior& prior) {
  std::vector<std::uint8_t> kept, phase;
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    kept.push_back(data.mask[i] == mt::MaskReason::kept ? 1 : 0);
    phase.push_back(mt::is_phase(data.survey.keys[i].quantity) ? 1 : 0);
  }
  const Eigen::Index n = data.value.size();
  Eigen::VectorXd value = Eigen::VectorXd::Zero(n + prior.n_shifts),
                  sigma = Eigen::VectorXd::Constant(value.size(), prior.sigma_decades);
  value.head(n) = data.value;
  sigma.head(n) = data.sigma;
  kept.resize(static_cast<std::size_t>(value.size()), 1);
  phase.resize(kept.size(), 0);
  return {std::move(value), std::move(sigma), std::move(kept), std::move(phase), huber_threshold};
}

void write_report_of(const std::filesystem::path& folder, const io::run::InversionResult& result) {
  core::log::info("report:     {}", io::report::write_report(folder, result).string());
}

void write_run_files(const config::Config& config, const RunFolder& folder,
                     const io::run::InversionResult& result) {
  const core::ScopedTimer timer("run/write results");
  io::run::write_result(folder.result(), result);
  io::csv::write_section_csv(folder.section_csv(), result.section());
  if (!result.static_shifts.empty()) write_static_shifts(folder.static_shifts(), result);
  if (config.output.vtk) io::run::make_folder(folder.vtk());
  if (config.output.vtk) io::vtk::write_result_vtk(folder.vtk(), result);
  if (config.output.report) write_report_of(folder.path(), result);
  core::log::info("results:    {}", folder.result());
  if (config.output.vtk) core::log::info("ParaView:   {}", folder.vtk());
}

int finish_run(FinishedRun run) {
  if (run.summary.predicted.size() == 0)
    throw core::SolverError(
        "mt_invert", "{}; there are no results to write. {}", run.summary.message,
        run.summary.history.empty()
            ? "Look at the start model and the grid (`--dry-run` shows unknowns and meshes)"
            : "The models so far are in " + run.folder.vtk());
  const Eigen::VectorXd log10_resistivity = run.last.physics.space().to_log10(run.summary.model);
  io::run::InversionResult result = describe_run(run, log10_resistivity);
  if (run.summary.reason == StopReason::failed) {
    result.predicted = spread(run.summary.predicted, result.data);
  } else {
    add_final_responses(run, result);
    add_certificate(run, result);
  }
  const inversion::objective::DataMisfit misfit = misfit_of(result.data, run.config.huber_threshold);
  const double rms = misfit.rms(result.predicted);
  result.rms = misfit_of(result.data, 0.0).rms(result.predicted);
  const Eigen::VectorXd on_iteration_meshes = spread(run.summary.predicted, result.data);
  const double difference = rms_between(misfit, on_iteration_meshes, result.predicted);
  core::log::info(
      "rms {:.4f} on the iterations' meshes, {:.4f} at the final accuracy; the responses differ by {:.3f} of "
      "the data's errors",
      misfit.rms(on_iteration_meshes), rms, difference);
  if (run.config.huber_threshold > 0.0)
    core::log::info(
        "these rms count residuals beyond {:g} errors by Huber's norm; squared as all others they give "
        "{:.4f}, the figure in the files",
        run.config.huber_threshold, result.rms);
  if (difference > largest_difference)
    core::log::warning(
        "the responses of the iterations' meshes differ too much for these errors (at most by 0.2 is the "
        "aim); {}",
        way_to_agree(run.config.forward));
  result.provenance.finished_utc = io::run::utc_now();
  commands::on_rank_zero(run.last.physics.comm(), [&] { write_run_files(run.config, run.folder, result); });
  return conclude(run, run.summary.reason == StopReason::failed ? rms : rms_to_target(run, result));
}

}  // namespace lodestone::mt_invert::method
