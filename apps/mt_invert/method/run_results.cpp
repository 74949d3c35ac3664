// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/run_results.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/timer.hpp"
#include "io/csv/csv.hpp"
#include "io/report/report.hpp"
#include "io/run/folder.hpp"
#include "io/vtk/run.hpp"

#include <cmath>

namespace lodestone::mt_invert::method {
namespace {

namespace mt = physics::mt;

const char* name_of(mt::Mode mode) { return mode == mt::Mode::te ? "TE" : "TM"; }

void log_static_shifts(mt::Mode mode, const io::run::InversionResult& result) {
  double sum = 0.0, squares = 0.0, n = 0.0;
  for (const auto& shift : result.static_shifts) {
    if (shift.mode != mode) continue;
    sum += shift.decades;
    squares += shift.decades * shift.decades;
    n += 1.0;
  }
  if (n > 0.0)
    core::log::info(
        "static shifts, {}: mean {:+.3f}, root mean square {:.3f} decades over {:.0f} stations (prior {:g})",
        name_of(mode), sum / n, std::sqrt(squares / n), n, result.static_shift_sigma_decades);
}

/// Puts the shifts into the result and logs their mean and spread per mode.
void add_static_shifts(const FinishedRun& run, io::run::InversionResult& result) {
  if (!run.config.static_shift || run.setup.shifts.empty()) return;
  for (std::size_t i = 0; i < run.setup.shifts.size(); ++i) {
    const auto& key = run.setup.shifts[i];
    result.static_shifts.push_back(
        {key.mode, key.station, run.outcome.further[static_cast<Eigen::Index>(i)]});
  }
  result.static_shift_sigma_decades = run.config.static_shift->sigma_decades;
  for (const mt::Mode mode : run.config.static_shift->modes) log_static_shifts(mode, result);
}

/// Writes `site,mode,shift_decades,rho_a_factor`, one row per shift. errors: FileError.
void write_static_shifts(const std::string& path, const io::run::InversionResult& result) {
  std::string text = "site,mode,shift_decades,rho_a_factor\n";
  for (const auto& shift : result.static_shifts) {
    text += fmt::format("{},{},{},{}\n",
                        result.data.survey.stations[static_cast<std::size_t>(shift.station)].name,
                        name_of(shift.mode), shift.decades, std::pow(10.0, shift.decades));
  }
  core::write_file(path, text);
}

io::run::InversionResult describe_run(const FinishedRun& run) {
  const inversion::Outcome& outcome = run.outcome;
  io::run::InversionResult result;
  result.title = run.config.title;
  result.configuration_toml = run.config.toml;
  result.provenance = run.provenance;
  result.data = run.observations.data;
  result.floors = run.config.data.floors;
  result.predicted = outcome.predicted;
  result.earth = run.setup.problem.earth;
  result.start_log10_resistivity = outcome.start;
  result.log10_resistivity = outcome.model;
  result.profile = run.observations.geometry;
  result.history = outcome.history;
  result.stop_reason = std::string(core::word(outcome.reason));
  result.stop_message = outcome.message;
  result.rms = outcome.rms;
  result.target_rms = outcome.target_rms;
  add_static_shifts(run, result);
  result.uncertainty = outcome.uncertainty;
  result.learned_prior = outcome.prior;
  return result;
}

void add_certificate(const FinishedRun& run, io::run::InversionResult& result) {
  if (run.config.forward.certificate == config::CertificateOf::none) return;
  const core::ScopedTimer timer("run/certificate");
  result.certificate = run.setup.simulations->certify(result.log10_resistivity, result.data.kept().survey);
  core::log::info("{}", result.certificate.table());
  if (!result.certificate.passed)
    core::log::warning("the certificate of the forward meshes fails; see the rows above");
}

}  // namespace

void write_report_of(const std::filesystem::path& folder, const io::run::InversionResult& result) {
  core::log::info("report:     {}", io::report::write_report(folder, result).string());
}

void write_run_files(const config::Config& config, const io::run::RunFolder& folder,
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
  io::run::InversionResult result = describe_run(run);
  if (run.outcome.reason != inversion::optimize::StopReason::failed) {
    result.meshes = run.setup.simulations->meshes_of_results(result.log10_resistivity, result.data.survey);
    add_certificate(run, result);
  }
  result.provenance.finished_utc = io::run::utc_now();
  core::on_rank_zero(run.setup.simulations->comm(), [&] { write_run_files(run.config, run.folder, result); });
  const inversion::Ending& ending = run.outcome.ending;
  if (ending.code == core::ExitCode::solver)
    throw core::SolverError("mt_invert", "{}; the last good model (iteration {}) is in {}", ending.text,
                            run.outcome.history.back().iteration, run.folder.result());
  core::log::write(ending.code == core::ExitCode::ok ? core::log::Level::info : core::log::Level::warning,
                   ending.text);
  return static_cast<int>(ending.code);
}

}  // namespace lodestone::mt_invert::method
