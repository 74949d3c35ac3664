// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/mesh_design.hpp"

#include <mpi.h>

namespace lodestone::mt_invert::method {

/// What a level of accuracy promises.
[[nodiscard]] physics::mt::d2::ResponseError tolerance_of(physics::mt::d2::Accuracy accuracy);

/// Prints mesh sizes and the certificate of the meshes; a warning when it fails. collective.
void print_mesh_report(MPI_Comm comm, const physics::mesh::Section2D& section,
                       const physics::mt::Survey2D& survey, const physics::mt::d2::MeshSet2D& meshes,
                       physics::mt::d2::Accuracy accuracy);

}  // namespace lodestone::mt_invert::method
