// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/mt/forward.hpp"
#include "physics/mt/d2/certificate.hpp"

#include <string>
#include <vector>

namespace lodestone::inversion::mt {

/// One set of meshes whose errors are measured, with the bounds and the cost of that.
struct CertificatePart {
  std::string meshes;  ///< "iteration meshes", "final meshes"
  physics::mt::d2::MeshDesignOptions design;
  physics::mt::d2::ResponseError tolerance;
  physics::mt::d2::CertificateLimits limits;
  physics::mt::d2::CertificateCost cost;
};

/// Plans the certificate of the meshes that the options name: three runs at the final accuracy at most, and
/// the memory of the run, which is `free_bytes` or, where that is less, its factors.
[[nodiscard]] std::vector<CertificatePart> certificate_parts(const Simulations& simulations,
                                                             const Eigen::VectorXd& model,
                                                             const physics::mt::Survey& survey,
                                                             double free_bytes = 0.0);

/// Returns the bytes of the factors that a rank of a run holds at a time: those of a linearization on the
/// iterations' meshes, or of one system per thread at the final accuracy; at least the 0.1 GB of any process.
[[nodiscard]] double factor_bytes_of_run(const Simulations& simulations, const Eigen::VectorXd& model,
                                         const physics::mt::Survey& survey);

/// Measures the errors of the meshes that the options name, in one table. Logs the cost beforehand, progress
/// and result. collective.
[[nodiscard]] Certified certify(const Simulations& simulations, const Eigen::VectorXd& model,
                                const physics::mt::Survey& survey, const CertificateTerms& terms);

}  // namespace lodestone::inversion::mt
