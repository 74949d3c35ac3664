// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// Largest deviation over all stations, periods and components.
struct ResponseError {
  double rho_a_percent = 0.0, phase_deg = 0.0;
};

struct CertificateRow {
  std::string check;  ///< "half-space 100 ohm m", "layered earth", "refinement", "padding doubled"
  ResponseError worst;
  std::string where;  ///< component, station, period of the worst value
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
  double work = std::numeric_limits<double>::infinity();   ///< as by `work_of` of the dimension
  double bytes = std::numeric_limits<double>::infinity();  ///< memory that a rank needs at a time
  std::function<bool()> stop{};  ///< runs between periods; true ends the certificate. collective
};

/// The estimated need of a certificate within its limits.
struct CertificateCost {
  std::vector<int> frequencies{};     ///< indices of the frequencies that are measured
  double work = 0.0, all_work = 0.0;  ///< work of these and of all frequencies
  double bytes = 0.0;                 ///< memory that a rank needs at a time
  int n_too_large = 0;                ///< frequencies that need more memory than the limit
  double largest_bytes = 0.0;         ///< memory that the largest system of all frequencies needs
};

}  // namespace lodestone::physics::mt
