// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/d2/mesh_design.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace lodestone::physics::mt::d2 {

/// Largest deviation over all stations, periods and modes.
struct ResponseError {
  double rho_a_percent = 0.0, phase_deg = 0.0;
};

struct CertificateRow {
  std::string check;  ///< "half-space 100 ohm m", "layered earth", "refinement", "padding doubled"
  ResponseError worst;
  std::string where;  ///< station, period, mode of the worst value
  bool passed = false;
};

/// Errors of the forward meshes of a run, by the run's own assembly and solver.
struct Certificate {
  std::vector<CertificateRow> rows;
  ResponseError tolerance;
  bool passed = false;
  [[nodiscard]] std::string table() const;
};

/// Computes half-space and layered-earth errors on the given meshes, and the change of the section's
/// responses under one refinement and under doubled side and air padding. collective over `comm`. cost: about
/// eight forward runs.
[[nodiscard]] Certificate certify(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                                  const MeshDesignOptions& options, const ResponseError& tolerance);

/// Returns what a level of accuracy promises.
[[nodiscard]] ResponseError tolerance_of(Accuracy accuracy);

}  // namespace lodestone::physics::mt::d2
