// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/d2/mesh_design.hpp"

#include <mpi.h>

#include <functional>
#include <limits>
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
  ResponseError tolerance{};  ///< by which the row is judged
};

/// Errors of the forward meshes of a run, by the run's own assembly and solver.
struct Certificate {
  std::vector<CertificateRow> rows;
  bool passed = false;   ///< all rows, of which there is at least one
  std::string note{};    ///< the periods that were left out, and why; "" when none was
  bool stopped = false;  ///< from outside, before the last period
  [[nodiscard]] std::string table() const;
};

/// The bounds of a certificate: periods that would exceed them are left out, evenly over the survey.
struct CertificateLimits {
  double work = std::numeric_limits<double>::infinity();   ///< as by `work_of`, both modes together
  double bytes = std::numeric_limits<double>::infinity();  ///< factors that a rank holds at a time
  std::function<bool()> stop{};  ///< runs between periods; true ends the certificate. collective
};

/// The estimated need of a certificate within its limits.
struct CertificateCost {
  std::vector<int> frequencies{};     ///< indices of the frequencies that are measured
  double work = 0.0, all_work = 0.0;  ///< work of these and of all frequencies
  double bytes = 0.0;                 ///< factors that a rank holds at a time
  int n_too_large = 0;                ///< frequencies whose factors exceed the limit
  double largest_bytes = 0.0;         ///< largest factorization of all frequencies
};

/// Estimates a certificate without a solve. `meshes`: those that it is about.
[[nodiscard]] CertificateCost cost_of_certificate(const MeshSet& meshes, const Survey& survey,
                                                  const CertificateLimits& limits);

/// Computes half-space and layered-earth errors on the given meshes. Also computes the change of the
/// section's responses under one refinement and under doubled side and air padding. Periods are measured a
/// few at a time, with a line of the log each time where it can be stopped. collective over `comm`. cost:
/// about eight forward runs without limits.
[[nodiscard]] Certificate certify(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                                  const MeshDesignOptions& options, const ResponseError& tolerance,
                                  const CertificateLimits& limits = {});

/// Returns what a level of accuracy promises.
[[nodiscard]] ResponseError tolerance_of(Accuracy accuracy);

}  // namespace lodestone::physics::mt::d2
