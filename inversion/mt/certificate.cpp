// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/certificate.hpp"

#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/team.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "inversion/mt/tables.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/cost.hpp"
#include "physics/mt/d3/certificate.hpp"
#include "physics/mt/d3/cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace d2 = physics::mt::d2;
namespace d3 = physics::mt::d3;
using physics::mt::Certificate;
using physics::mt::CertificateLimits;
using physics::mt::CertificateRow;
using physics::mt::Survey;

constexpr double most_runs = 3.0;           // of the final forward run, for all parts together
constexpr double of_process = 0.1e9;        // bytes that any process holds with its libraries and files
constexpr double of_certificate = 2e9;      // bytes that a certificate may take of a machine in any case
constexpr double most_of_iterations = 1.0;  // of these for the iterations' meshes, where both are measured

/// Returns the least of the ranks' figures, to a MiB, so that all plan alike.
double least_on_all_ranks(MPI_Comm comm, double bytes) {
  constexpr double mib = 1048576.0;
  return -mib * core::Team(comm).max(-static_cast<int>(bytes / mib));
}

/// Returns the bytes of a linearization of a section on one of several ranks.
double linearization_bytes(const d2::MeshSet& meshes, const Survey& survey, int n_ranks) {
  double all = 0.0;
  for (const d2::BandMesh& band : meshes.bands)
    all += d2::factor_bytes(band.mesh, band.order, meshes.solver) * d2::n_modes(survey) *
           static_cast<double>(band.frequencies.size());
  return d2::bytes_of_linearization(all / n_ranks, d2::largest_factor_bytes(meshes));
}

/// Returns the bytes of a linearization of a volume, which keeps all fields, on one of several ranks.
double linearization_bytes(const d3::MeshSet& meshes, const Survey&, int n_ranks) {
  constexpr double n_polarizations = 2.0;
  double all = 0.0;
  for (const d3::BandMesh& band : meshes.bands)
    all += n_polarizations * d3::kept_bytes(band.grid) * static_cast<double>(band.frequencies.size());
  return all / n_ranks + run_bytes(meshes);
}

physics::mt::ResponseError tolerance_of(Sections, physics::mt::Accuracy accuracy) {
  return d2::tolerance_of(accuracy);
}
physics::mt::ResponseError tolerance_of(Volumes, physics::mt::Accuracy accuracy) {
  return d3::tolerance_of(accuracy);
}

/// Measures a part. Of volumes the design says what beside meshes their estimate depends on.
Certificate measured(const Simulations<Sections>& simulations, const Eigen::VectorXd& model,
                     const Survey& survey, const CertificatePart<Sections>& part,
                     const CertificateLimits& limits) {
  return d2::certify_meshes(simulations.comm(), simulations.earth_model(model), survey, part.set,
                            part.tolerance, limits);
}
Certificate measured(const Simulations<Volumes>& simulations, const Eigen::VectorXd& model,
                     const Survey& survey, const CertificatePart<Volumes>& part,
                     const CertificateLimits& limits) {
  return d3::certify(simulations.comm(), simulations.earth_model(model), survey, part.design, part.tolerance,
                     limits);
}

/// States what a part will need; `run_s`: of a run at the final accuracy, whose work is `run_work`.
template <class Part>
void log_cost(const Part& part, const Survey& survey, double run_work, double run_s) {
  const double runs = part.cost.work / run_work;
  core::log::info("certificate of the {}: {} of {} periods, about {:.2g} final forward runs{} and {:.2g} GB",
                  part.meshes, part.cost.frequencies.size(), survey.frequencies_hz.size(), runs,
                  run_s > 0.0 ? fmt::format(" ({:.2g} s)", runs * run_s) : "", part.cost.bytes / 1e9);
}

void add(Certificate& all, const std::string& meshes, const Certificate& one) {
  for (CertificateRow row : one.rows) {
    row.check = meshes + ": " + row.check;
    all.rows.push_back(std::move(row));
  }
  if (!one.note.empty()) {
    if (!all.note.empty()) all.note += ' ';
    all.note += "The " + meshes + ": " + one.note;
  }
  all.stopped = all.stopped || one.stopped;
}

/// Returns the rows that failed, with what was found there.
std::vector<std::string> failed_rows(const Certificate& certificate) {
  std::vector<std::string> failed;
  for (const CertificateRow& row : certificate.rows) {
    if (!row.passed)
      failed.push_back(
          fmt::format("{}, {:.2g} % and {:.2g} degrees at {} (tolerance {:g} % and {:g} degrees)", row.check,
                      row.worst.rho_a_percent, row.worst.phase_deg, row.where, row.tolerance.rho_a_percent,
                      row.tolerance.phase_deg));
  }
  return failed;
}

}  // namespace

double run_bytes(const d2::MeshSet& meshes) { return core::threads() * d2::largest_factor_bytes(meshes); }

double run_bytes(const d3::MeshSet& meshes) { return core::threads() * d3::largest_solve_bytes(meshes); }

template <class Dimension>
double system_bytes_of_run(const Simulations<Dimension>& simulations, const Eigen::VectorXd& model,
                           const Survey& survey) {
  const double steps = linearization_bytes(simulations.meshes_of_iterations(model, survey), survey,
                                           core::size_of(simulations.comm()));
  return std::max({steps, run_bytes(simulations.meshes_of_results(model, survey)), of_process});
}

template <class Dimension>
std::vector<CertificatePart<Dimension>> certificate_parts(const Simulations<Dimension>& simulations,
                                                          const Eigen::VectorXd& model, const Survey& survey,
                                                          double free_bytes) {
  using enum CertificateOf;
  const ForwardOptions& options = simulations.options();
  std::vector<CertificatePart<Dimension>> parts;
  if (options.certificate == none) return parts;
  const double run_work = work_of(simulations.meshes_of_results(model, survey), survey);
  const double bytes = std::max({free_bytes, system_bytes_of_run(simulations, model, survey),
                                 of_certificate / core::size_of(simulations.comm())});
  double work = most_runs * run_work;
  const auto plan = [&](const char* meshes, const typename Dimension::MeshDesign& design,
                        typename Dimension::MeshSet set, physics::mt::Accuracy accuracy, double most) {
    CertificatePart<Dimension> part{
        meshes, design, std::move(set), tolerance_of(Dimension{}, accuracy), {.work = most, .bytes = bytes},
        {}};
    part.cost = cost_of_certificate(part.set, survey, part.limits);
    work -= part.cost.work;
    parts.push_back(std::move(part));
  };
  if (options.certificate == iteration || options.certificate == both)
    plan("iteration meshes", simulations.design_of_iterations(),
         simulations.meshes_of_iterations(model, survey), options.iteration,
         options.certificate == both ? most_of_iterations * run_work : work);
  if (options.certificate == final_meshes || options.certificate == both)
    plan("final meshes", simulations.design_of_results(), simulations.meshes_of_results(model, survey),
         options.final_accuracy, work);
  return parts;
}

template <class Dimension>
Certified certify(const Simulations<Dimension>& simulations, const Eigen::VectorXd& model,
                  const Survey& survey, const CertificateTerms& terms) {
  const core::ScopedTimer timer("run/certificate");
  const double run_work = work_of(simulations.meshes_of_results(model, survey), survey);
  const std::vector<CertificatePart<Dimension>> parts =
      certificate_parts(simulations, model, survey, least_on_all_ranks(simulations.comm(), terms.free_bytes));
  if (parts.empty()) return {};
  for (const auto& part : parts) log_cost(part, survey, run_work, terms.results_s);
  Certificate all, of_check;
  simulations.add_check(model, of_check);
  if (!of_check.rows.empty()) add(all, "final meshes", of_check);
  for (const auto& part : parts) {
    CertificateLimits limits = part.limits;
    limits.stop = terms.stop;
    add(all, part.meshes, measured(simulations, model, survey, part, limits));
    if (all.stopped) return {.table = {}, .note = {}, .stopped = true};
  }
  if (all.rows.empty()) return {.table = {}, .note = std::move(all.note)};
  all.passed = std::ranges::all_of(all.rows, &CertificateRow::passed);
  core::log::info("{}", all.table());
  if (!all.passed)
    core::log::warning(core::log::Id("inversion::mt#certificate_failed"),
                       "the certificate of the forward meshes fails in {} of {} rows: {}",
                       failed_rows(all).size(), all.rows.size(), fmt::join(failed_rows(all), "; "));
  NamedTable table = certificate_table(all);
  return {.table = std::move(table), .note = std::move(all.note)};
}

template std::vector<CertificatePart<Sections>> certificate_parts(const Simulations<Sections>&,
                                                                  const Eigen::VectorXd&, const Survey&,
                                                                  double);
template std::vector<CertificatePart<Volumes>> certificate_parts(const Simulations<Volumes>&,
                                                                 const Eigen::VectorXd&, const Survey&,
                                                                 double);
template double system_bytes_of_run(const Simulations<Sections>&, const Eigen::VectorXd&, const Survey&);
template double system_bytes_of_run(const Simulations<Volumes>&, const Eigen::VectorXd&, const Survey&);
template Certified certify(const Simulations<Sections>&, const Eigen::VectorXd&, const Survey&,
                           const CertificateTerms&);
template Certified certify(const Simulations<Volumes>&, const Eigen::VectorXd&, const Survey&,
                           const CertificateTerms&);

}  // namespace lodestone::inversion::mt
