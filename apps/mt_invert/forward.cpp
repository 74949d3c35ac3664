// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands.hpp"
#include "apps/mt_invert/forward_output.hpp"
#include "apps/mt_invert/forward_sites.hpp"
#include "apps/mt_invert/mesh_report.hpp"
#include "apps/mt_invert/rank_zero.hpp"
#include "engine/core/log.hpp"
#include "io/model/model_file.hpp"
#include "physics/mt/simulation_2d.hpp"

namespace lodestone::mt_invert {

int run_forward(MPI_Comm comm, const ForwardArguments& arguments) {
  const bool prints_csv = arguments.output_path.empty() && !arguments.mesh_report;
  if (prints_csv)
    core::log::configure({.level = core::log::Level::warning});  // nothing but CSV on standard output
  if (!arguments.output_path.empty()) on_rank_zero(comm, [&] { check_output_path(arguments.output_path); });

  // 1. The earth, and where and when its response is wanted
  const auto section = io::read_model(arguments.model_path);
  auto sites = read_forward_sites(arguments.sites_path, arguments.periods_s, section, arguments.off_surface);
  if (arguments.definition) {
    for (auto& station : sites.survey.stations) station.definition = *arguments.definition;
  }

  // 2. Meshes that resolve both
  const auto meshes =
      physics::mt::design_meshes(section, sites.survey, physics::mt::design_options(arguments.accuracy));
  if (arguments.mesh_report) print_mesh_report(comm, section, sites.survey, meshes, arguments.accuracy);

  // 3. Responses
  if (prints_csv || !arguments.output_path.empty()) {
    const physics::mt::Simulation2D simulation(comm, section.grid, section.surface, sites.survey, meshes);
    const Eigen::VectorXd predicted = simulation.value(section.resistivity_ohm_m);
    on_rank_zero(comm, [&] { write_forward_output(arguments, sites, predicted); });
  }
  return 0;
}

}  // namespace lodestone::mt_invert
