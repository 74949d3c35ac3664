// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/certificate.hpp"

#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/team.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "inversion/mt/tables.hpp"
#include "physics/mt/d2/cost.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace d2 = physics::mt::d2;
using physics::mt::Survey;

constexpr double most_runs = 3.0;           // of the final forward run, for all parts together
constexpr double of_process = 0.1e9;        // bytes that any process holds with its libraries and files
constexpr double most_of_iterations = 1.0;  // of these for the iterations' meshes, where both are measured

/// Returns the least of the ranks' figures, to a MiB, so that all plan alike.
double least_on_all_ranks(MPI_Comm comm, double bytes) {
  constexpr double mib = 1048576.0;
  return -mib * core::Team(comm).max(-static_cast<int>(bytes / mib));
}

/// States what a part will need; `run_s`: of a run at the final accuracy, whose work is `run_work`.
void log_cost(const CertificatePart& part, const Survey& survey, double run_work, double run_s) {
  const double runs = part.cost.work / run_work;
  core::log::info("certificate of the {}: {} of {} periods, about {:.2g} final forward runs{} and {:.2g} GB",
                  part.meshes, part.cost.frequencies.size(), survey.frequencies_hz.size(), runs,
                  run_s > 0.0 ? fmt::format(" ({:.2g} s)", runs * run_s) : "", part.cost.bytes / 1e9);
}

void add(d2::Certificate& all, const CertificatePart& part, const d2::Certificate& one) {
  for (d2::CertificateRow row : one.rows) {
    row.check = part.meshes + ": " + row.check;
    all.rows.push_back(std::move(row));
  }
  if (!one.note.empty()) {
    if (!all.note.empty()) all.note += ' ';
    all.note += "The " + part.meshes + ": " + one.note;
  }
  all.stopped = all.stopped || one.stopped;
}

}  // namespace

double factor_bytes_of_run(const Simulations& simulations, const Eigen::VectorXd& model,
                           const Survey& survey) {
  const d2::MeshSet steps =
      d2::design_meshes(simulations.section(model), survey, simulations.design_of_iterations());
  double all = 0.0;
  for (const d2::BandMesh& band : steps.bands)
    all += d2::factor_bytes(band.mesh, band.order, steps.solver) * d2::n_modes(survey) *
           static_cast<double>(band.frequencies.size());
  const double at_last =
      core::threads() * d2::largest_factor_bytes(simulations.meshes_of_results(model, survey));
  return std::max({all / core::size_of(simulations.comm()), at_last, of_process});
}

std::vector<CertificatePart> certificate_parts(const Simulations& simulations, const Eigen::VectorXd& model,
                                               const Survey& survey, double free_bytes) {
  using enum CertificateOf;
  const ForwardOptions& options = simulations.options();
  std::vector<CertificatePart> parts;
  if (options.certificate == none) return parts;
  const double run_work = d2::work_of(simulations.meshes_of_results(model, survey), survey);
  const double bytes = std::max(free_bytes, factor_bytes_of_run(simulations, model, survey));
  double work = most_runs * run_work;
  const auto plan = [&](const char* meshes, const d2::MeshDesignOptions& design, d2::Accuracy accuracy,
                        double most) {
    CertificatePart part{meshes, design, d2::tolerance_of(accuracy), {.work = most, .bytes = bytes}, {}};
    part.cost = d2::cost_of_certificate(d2::design_meshes(simulations.section(model), survey, design), survey,
                                        part.limits);
    work -= part.cost.work;
    parts.push_back(std::move(part));
  };
  if (options.certificate == iteration || options.certificate == both)
    plan("iteration meshes", simulations.design_of_iterations(), options.iteration,
         options.certificate == both ? most_of_iterations * run_work : work);
  if (options.certificate == final_meshes || options.certificate == both)
    plan("final meshes", simulations.design_of_results(), options.final_accuracy, work);
  return parts;
}

Certified certify(const Simulations& simulations, const Eigen::VectorXd& model, const Survey& survey,
                  const CertificateTerms& terms) {
  const core::ScopedTimer timer("run/certificate");
  const double run_work = d2::work_of(simulations.meshes_of_results(model, survey), survey);
  const std::vector<CertificatePart> parts =
      certificate_parts(simulations, model, survey, least_on_all_ranks(simulations.comm(), terms.free_bytes));
  if (parts.empty()) return {};
  for (const CertificatePart& part : parts) log_cost(part, survey, run_work, terms.results_s);
  d2::Certificate all;
  for (const CertificatePart& part : parts) {
    d2::CertificateLimits limits = part.limits;
    limits.stop = terms.stop;
    add(all, part,
        d2::certify(simulations.comm(), simulations.section(model), survey, part.design, part.tolerance,
                    limits));
    if (all.stopped) return {.table = {}, .note = {}, .stopped = true};
  }
  if (all.rows.empty()) return {.table = {}, .note = std::move(all.note)};
  all.passed = std::ranges::all_of(all.rows, &d2::CertificateRow::passed);
  core::log::info("{}", all.table());
  if (!all.passed)
    core::log::warning(core::log::Id("inversion::mt#certificate_failed"),
                       "the certificate of the forward meshes fails; see the rows above");
  NamedTable table = certificate_table(all);
  return {.table = std::move(table), .note = std::move(all.note)};
}

}  // namespace lodestone::inversion::mt
