// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "apps/mt_invert/commands/forward_output.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/model/read.hpp"
#include "io/survey/sites.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/simulation.hpp"

namespace lodestone::mt_invert::commands {
namespace {

/// Prints mesh sizes and the certificate of the meshes; warns when it fails. collective.
void print_mesh_report(MPI_Comm comm, const physics::mesh::Model& section, const physics::mt::Survey& survey,
                       const physics::mt::d2::MeshSet& meshes, physics::mt::d2::Accuracy accuracy) {
  core::on_rank_zero(comm, [&] { core::log::print_out(meshes.summary() + "\n"); });
  const auto certificate =
      physics::mt::d2::certify(comm, section, survey, physics::mt::d2::design_options(accuracy),
                               physics::mt::d2::tolerance_of(accuracy));
  core::on_rank_zero(comm, [&] { core::log::print_out(certificate.table() + "\n"); });
  if (!certificate.passed)
    core::log::warning(
        "the certificate fails: the responses of these meshes may miss the tolerance where it says so");
}

}  // namespace

int run_forward(MPI_Comm comm, const cli::ForwardArguments& arguments) {
  const bool prints_csv = arguments.output_path.empty() && !arguments.mesh_report;
  if (prints_csv)
    core::log::configure({.level = core::log::Level::warning});  // nothing but CSV on standard output
  if (!arguments.output_path.empty())
    core::on_rank_zero(comm, [&] { check_output_path(arguments.output_path); });

  // 1. The earth, and where and when its response is wanted
  const auto section = io::model::read_model(arguments.model_path);
  auto sites = io::survey::read_forward_sites(arguments.sites_path, arguments.periods_s, section,
                                              arguments.off_surface);
  if (arguments.definition) {
    for (auto& station : sites.survey.stations) station.definition = *arguments.definition;
  }

  // 2. Meshes that resolve both
  const auto meshes = physics::mt::d2::design_meshes(section, sites.survey,
                                                     physics::mt::d2::design_options(arguments.accuracy));
  if (arguments.mesh_report) print_mesh_report(comm, section, sites.survey, meshes, arguments.accuracy);

  // 3. Responses
  if (prints_csv || !arguments.output_path.empty()) {
    const physics::mt::d2::Simulation simulation(comm, section.earth, sites.survey, meshes);
    const Eigen::VectorXd predicted = simulation.value(resistivity_ohm_m(section));
    core::on_rank_zero(comm, [&] { write_forward_output(arguments, sites, predicted); });
  }
  return 0;
}

}  // namespace lodestone::mt_invert::commands
