// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/roughness_norm.hpp"

#include "engine/core/error.hpp"
#include "inversion/prior/roughness.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::prior {
namespace {

constexpr double least_weight = 1e-6;  // keeps RᵀR factorizable where a boundary is far sharper than ε

/// Returns norm'(v)/(2v).
double weight_of(double v, const RoughnessNormOptions& options) {
  const double share = options.epsilon / std::hypot(v, options.epsilon);
  switch (options.norm) {
    case RoughnessNorm::l2:
      return 1.0;
    case RoughnessNorm::l1:
      return std::max(share, least_weight);
    case RoughnessNorm::minimum_gradient_support:
      return std::max(std::pow(share, 4), least_weight);
  }
  return 1.0;
}

}  // namespace

double usual_epsilon(RoughnessNorm norm) {
  return norm == RoughnessNorm::minimum_gradient_support ? 0.5 : 0.1;
}

Eigen::SparseMatrix<double> scaled_gradient(const physics::mesh::Cells& cells,
                                            const RoughnessOptions& options) {
  if (options.order != 1)
    throw core::InvalidArgument("inversion::scaled_gradient#wrong_order",
                                "norms of the gradient need roughness of order 1, got {}", options.order);
  std::vector<Eigen::Triplet<double>> entries;
  int row = 0;
  for (const physics::mesh::Face& face : cells.faces) {
    const auto place = [&](Eigen::Index cell) {
      return cells.centre[static_cast<std::size_t>(cell)][face.normal];
    };
    const double distance_m = place(face.b) - place(face.a);
    const double factor = (face.depth_m - cells.extent.z_m.from + options.depth_weight_z0_m) / distance_m;
    entries.emplace_back(row, static_cast<int>(face.a), -factor);
    entries.emplace_back(row, static_cast<int>(face.b), factor);
    ++row;
  }
  Eigen::SparseMatrix<double> gradient(row + cells.n_cells(), cells.n_cells());
  gradient.setFromTriplets(entries.begin(), entries.end());
  return gradient;
}

Eigen::SparseMatrix<double> scaled_gradient(const physics::mesh::TensorGrid& grid,
                                            const RoughnessOptions& options) {
  return scaled_gradient(physics::mesh::cells(grid), options);
}

Eigen::SparseMatrix<double> reweighted(Eigen::SparseMatrix<double> roughness,
                                       const core::ConstVectorRef& gradient,
                                       const RoughnessNormOptions& options) {
  if (gradient.size() != roughness.rows())
    throw core::ShapeError("inversion::reweighted#wrong_size",
                           "expected {} gradients, one per row of the operator, got {}", roughness.rows(),
                           gradient.size());
  if (!(std::isfinite(options.epsilon) && options.epsilon > 0.0))
    throw core::InvalidArgument("inversion::reweighted#wrong_epsilon", "expected a positive epsilon, got {}",
                                options.epsilon);
  const Eigen::VectorXd root = gradient.unaryExpr([&](double v) { return std::sqrt(weight_of(v, options)); });
  return root.asDiagonal() * std::move(roughness);
}

}  // namespace lodestone::inversion::prior
