// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/certificate.hpp"
#include "physics/mt/d2/mesh_design.hpp"

#include <mpi.h>

namespace lodestone::physics::mt::d2 {

using mt::Certificate;
using mt::CertificateCost;
using mt::CertificateLimits;
using mt::CertificateRow;
using mt::ResponseError;

/// Estimates a certificate without a solve. `meshes`: those that it is about. Work is that of `work_of`, both
/// modes together; bytes are those of factors.
[[nodiscard]] CertificateCost cost_of_certificate(const MeshSet& meshes, const Survey& survey,
                                                  const CertificateLimits& limits);

/// Computes half-space and layered-earth errors on the given meshes. Also computes the change of the
/// section's responses under one refinement and under doubled side and air padding. Periods are measured a
/// few at a time, with a line of the log each time where it can be stopped. collective over `comm`. cost:
/// about eight forward runs without limits.
[[nodiscard]] Certificate certify_meshes(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                                         const MeshSet& meshes, const ResponseError& tolerance,
                                         const CertificateLimits& limits = {});
/// Designs the meshes as well.
[[nodiscard]] Certificate certify(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                                  const MeshDesignOptions& options, const ResponseError& tolerance,
                                  const CertificateLimits& limits = {});

/// Returns what a level of accuracy promises.
[[nodiscard]] ResponseError tolerance_of(Accuracy accuracy);

}  // namespace lodestone::physics::mt::d2
