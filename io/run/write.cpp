// SPDX-License-Identifier: Apache-2.0
#include "io/run/write.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/timer.hpp"
#include "io/csv/table.hpp"
#include "io/model/points.hpp"
#include "io/report/report.hpp"
#include "io/run/folder.hpp"
#include "io/run/result.hpp"
#include "io/vtk/run.hpp"

namespace lodestone::io::run {
namespace {

bool is_section(const inversion::Outcome& outcome) {
  using physics::mesh::Axis;
  return outcome.model.earth.grid.has(Axis::y) && !outcome.model.earth.grid.has(Axis::x) &&
         outcome.model.property.name == physics::mesh::Property{}.name;
}

void write_data(const RunFolder& folder, const inversion::Outcome& outcome, const WriteOptions& options) {
  core::make_folder(folder.path());
  write_result(folder.result(), outcome);
  if (is_section(outcome)) model::write_section_csv(folder.section_csv(), outcome.model);
  for (const inversion::NamedTable& each : outcome.tables) {
    if (each.own_file) csv::write_table((folder.path() / (each.name + ".csv")).string(), each.table);
  }
  if (options.vtk) core::make_folder(folder.vtk());
}

void write_report(const RunFolder& folder, const inversion::Outcome& outcome, const WriteOptions& options) {
  if (options.report)
    core::log::info("report:     {}", report::write_report(folder.path(), outcome).string());
  core::log::info("results:    {}", folder.result());
  if (options.vtk) core::log::info("ParaView:   {}", folder.vtk());
}

void write_files(MPI_Comm comm, const RunFolder& folder, const inversion::Outcome& outcome,
                 const WriteOptions& options) {
  const core::ScopedTimer timer("run/write results");
  core::on_rank_zero(comm, [&] { write_data(folder, outcome, options); });
  if (options.vtk) vtk::write_result_vtk(comm, folder.vtk(), outcome);
  core::on_rank_zero(comm, [&] { write_report(folder, outcome, options); });
}

/// Writes the files that change with the certificate once more; each replaces the one before at once.
void write_again(const RunFolder& folder, const inversion::Outcome& outcome, const WriteOptions& options) {
  const core::ScopedTimer timer("run/write results");
  write_result(folder.result(), outcome);
  if (options.report) static_cast<void>(report::write_report(folder.path(), outcome));
  core::log::info("the accuracy of the meshes was added to the results");
}

void write_first(MPI_Comm comm, const RunFolder& folder, const inversion::Outcome& outcome,
                 const WriteOptions& options) {
  if (!outcome.was_stopped()) write_files(comm, folder, outcome, options);
  if (outcome.ending.code == core::ExitCode::solver)
    throw core::SolverError("io::run#inversion_failed", "{}; the last good model (iteration {}) is in {}",
                            outcome.ending.text,
                            outcome.history.empty() ? 0 : outcome.history.back().iteration, folder.result());
}

void add_warnings(inversion::Outcome& outcome, const WriteOptions& options) {
  if (options.warnings != nullptr) outcome.about.warnings = options.warnings->all();
}

/// Logs the last line of a run and returns its exit code.
int end(const inversion::Ending& ending) {
  if (!ending.text.empty())
    core::log::write(ending.code == core::ExitCode::ok ? core::log::Level::info : core::log::Level::warning,
                     ending.text, ending.place);
  return static_cast<int>(ending.code);
}

}  // namespace

int write(MPI_Comm comm, const std::filesystem::path& folder, inversion::Outcome outcome,
          const WriteOptions& options) {
  add_warnings(outcome, options);
  write_first(comm, RunFolder(folder), outcome, options);
  return end(outcome.ending);
}

int write(MPI_Comm comm, const std::filesystem::path& folder, const inversion::Inversion& run,
          inversion::Outcome outcome, const WriteOptions& options) {
  const RunFolder place(folder);
  add_warnings(outcome, options);
  write_first(comm, place, outcome, options);
  if (run.certify(outcome)) {
    add_warnings(outcome, options);
    core::on_rank_zero(comm, [&] { write_again(place, outcome, options); });
  }
  return end(outcome.ending);
}

}  // namespace lodestone::io::run
