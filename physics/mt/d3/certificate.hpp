// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/certificate.hpp"
#include "physics/mt/d3/mesh_design.hpp"

#include <mpi.h>

namespace lodestone::physics::mt::d3 {

using mt::Certificate;
using mt::CertificateCost;
using mt::CertificateLimits;
using mt::CertificateRow;
using mt::ResponseError;

/// Estimates a certificate without a solve. `meshes`: those that it is about. Work is that of `work_of`;
/// bytes are those of systems with their fields.
[[nodiscard]] CertificateCost cost_of_certificate(const MeshSet& meshes, const Survey& survey,
                                                  const CertificateLimits& limits);

/// Computes half-space and layered-earth errors on the meshes of a design, of Zxy and Zyx; under a relief
/// those of its lines below a level ground. Also estimates
/// those of the volume from the companion meshes, which have every second line. A third of the difference
/// counts, and all of it where a contact lies within two of their cells. On companions, sides, air and bottom
/// are moved to twice their distance. Periods are measured one per rank at a time, with a line of the log
/// where it can be stopped. collective over `comm`. cost: about two forward runs without limits. errors:
/// those of `design_meshes` and of simulations.
[[nodiscard]] Certificate certify(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                                  const MeshDesignOptions& options, const ResponseError& tolerance,
                                  const CertificateLimits& limits = {});

/// Returns what a level of accuracy promises.
[[nodiscard]] ResponseError tolerance_of(Accuracy accuracy);

}  // namespace lodestone::physics::mt::d3
