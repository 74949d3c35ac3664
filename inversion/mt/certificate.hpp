// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/mt/forward.hpp"
#include "physics/mt/certificate.hpp"

#include <string>
#include <vector>

namespace lodestone::inversion::mt {

/// One set of meshes whose errors are measured, with the bounds and the cost of that.
template <class Dimension>
struct CertificatePart {
  std::string meshes;  ///< "iteration meshes", "final meshes"
  typename Dimension::MeshDesign design;
  typename Dimension::MeshSet set;  ///< the meshes of this design, or refined ones
  physics::mt::ResponseError tolerance;
  physics::mt::CertificateLimits limits;
  physics::mt::CertificateCost cost;
};

/// Plans the certificate of the meshes that the options name: three runs at the final accuracy at most, and
/// the memory of the run, which is `free_bytes` or, where that is less, its systems.
template <class Dimension>
[[nodiscard]] std::vector<CertificatePart<Dimension>> certificate_parts(
    const Simulations<Dimension>& simulations, const Eigen::VectorXd& model,
    const physics::mt::Survey& survey, double free_bytes = 0.0);

/// Returns the bytes that a forward run needs on a rank: those of one system per thread.
[[nodiscard]] double run_bytes(const physics::mt::d2::MeshSet& meshes);
[[nodiscard]] double run_bytes(const physics::mt::d3::MeshSet& meshes);

/// Returns the bytes of the systems that a rank of a run holds at a time: those of a linearization on the
/// iterations' meshes, or of one system per thread at the final accuracy; at least the 0.1 GB of any process.
template <class Dimension>
[[nodiscard]] double system_bytes_of_run(const Simulations<Dimension>& simulations,
                                         const Eigen::VectorXd& model, const physics::mt::Survey& survey);

/// Measures the errors of the meshes that the options name, in one table. Logs the cost beforehand, progress
/// and result. collective.
template <class Dimension>
[[nodiscard]] Certified certify(const Simulations<Dimension>& simulations, const Eigen::VectorXd& model,
                                const physics::mt::Survey& survey, const CertificateTerms& terms);

}  // namespace lodestone::inversion::mt
