// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/mesh_report.hpp"

#include "apps/mt_invert/rank_zero.hpp"
#include "engine/core/log.hpp"

namespace lodestone::mt_invert {

physics::mt::ResponseError tolerance_of(physics::mt::Accuracy accuracy) {
  switch (accuracy) {
    case physics::mt::Accuracy::iteration:
      return {2.0, 0.57};  // a fifth of floors of 10 % and 2.86 degrees
    case physics::mt::Accuracy::standard:
      return {0.5, 0.2};
    case physics::mt::Accuracy::fine:
      return {0.1, 0.05};
  }
  return {};
}

void print_mesh_report(MPI_Comm comm, const physics::mesh::Section2D& section,
                       const physics::mt::Survey2D& survey, const physics::mt::MeshSet2D& meshes,
                       physics::mt::Accuracy accuracy) {
  on_rank_zero(comm, [&] { print_out(meshes.summary() + "\n"); });
  const auto certificate = physics::mt::certify(comm, section, survey, physics::mt::design_options(accuracy),
                                                tolerance_of(accuracy));
  on_rank_zero(comm, [&] { print_out(certificate.table() + "\n"); });
  if (!certificate.passed)
    core::log::warning(
        "the certificate fails: the responses of these meshes may miss the tolerance where it says so");
}

}  // namespace lodestone::mt_invert
