// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/mesh_report.hpp"

#include "apps/mt_invert/commands/rank_zero.hpp"
#include "engine/core/log.hpp"

namespace lodestone::mt_invert::method {

physics::mt::d2::ResponseError tolerance_of(physics::mt::d2::Accuracy accuracy) {
  switch (accuracy) {
    case physics::mt::d2::Accuracy::iteration:
      return {2.0, 0.57};  // a fifth of floors of 10 % and 2.86 degrees
    case physics::mt::d2::Accuracy::standard:
      return {0.5, 0.2};
    case physics::mt::d2::Accuracy::fine:
      return {0.1, 0.05};
  }
  return {};
}

void print_mesh_report(MPI_Comm comm, const physics::mesh::Section2D& section,
                       const physics::mt::Survey2D& survey, const physics::mt::d2::MeshSet2D& meshes,
                       physics::mt::d2::Accuracy accuracy) {
  commands::on_rank_zero(comm, [&] { commands::print_out(meshes.summary() + "\n"); });
  const auto certificate = physics::mt::d2::certify(
      comm, section, survey, physics::mt::d2::design_options(accuracy), tolerance_of(accuracy));
  commands::on_rank_zero(comm, [&] { commands::print_out(certificate.table() + "\n"); });
  if (!certificate.passed)
    core::log::warning(
        "the certificate fails: the responses of these meshes may miss the tolerance where it says so");
}

}  // namespace lodestone::mt_invert::method
