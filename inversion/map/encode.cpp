// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/map/subdomain_map.hpp"

#include <Eigen/Cholesky>

#include <cmath>

namespace lodestone::inversion {
namespace {

constexpr double first_damping = 1e-2, damping_factor = 4.0, largest_damping = 1e8;
constexpr double enough = 1e-10;  // relative fall of the cost that counts as none

/// ‖(cells − decoded)/σ‖² + ‖v‖² of each column.
Eigen::ArrayXd costs(const Eigen::MatrixXd& misfit, const Eigen::MatrixXd& codes, double sigma) {
  return (misfit.colwise().squaredNorm() / (sigma * sigma) + codes.colwise().squaredNorm()).transpose().array();
}

/// The Levenberg–Marquardt step of one subdomain.
Eigen::VectorXd step(const core::ConstMatrixRef& jacobian, const Eigen::VectorXd& misfit, const Eigen::VectorXd& code, double sigma,
                     double damping) {
  const double weight = 1.0 / (sigma * sigma);
  Eigen::MatrixXd normal = weight * jacobian.transpose() * jacobian;
  normal.diagonal().array() += 1.0 + damping * (1.0 + normal.diagonal().array());
  return normal.llt().solve(weight * jacobian.transpose() * misfit - code);
}

}  // namespace

/// All subdomains take their steps side by side, each with its own damping, so that the decoder sees one batch.
Eigen::MatrixXd encode_by_least_squares(const Decoder& decoder, const core::ConstMatrixRef& cells, const EncodeOptions& options) {
  if (cells.rows() != decoder.n_cells())
    throw core::ShapeError("inversion::encode", "expected the {} cells of {} in each column, got {}", decoder.n_cells(), decoder.name(),
                           cells.rows());
  if (!(options.sigma_decades > 0.0) || options.max_iterations < 0)
    throw core::InvalidArgument("inversion::encode", "expected sigma_decades > 0 and max_iterations ≥ 0, got {} and {}",
                                options.sigma_decades, options.max_iterations);
  const double sigma = options.sigma_decades;
  Eigen::MatrixXd codes = decoder.encode(cells);
  const Eigen::Index n = decoder.n_codes();
  Eigen::MatrixXd misfit = cells - decoder.decode(codes);
  Eigen::ArrayXd cost = costs(misfit, codes, sigma);
  if (const Eigen::MatrixXd origin = Eigen::MatrixXd::Zero(n, 1), of_origin = decoder.decode(origin); options.max_iterations > 0) {
    for (Eigen::Index s = 0; s < cells.cols(); ++s) {  // an encoder may be off by more than no code at all
      const double here = (cells.col(s) - of_origin.col(0)).squaredNorm() / (sigma * sigma);
      if (here < cost[s] || !std::isfinite(cost[s]))
        codes.col(s).setZero(), misfit.col(s) = cells.col(s) - of_origin.col(0), cost[s] = here;
    }
  }
  Eigen::ArrayXd damping = Eigen::ArrayXd::Constant(cells.cols(), first_damping);
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    const Eigen::MatrixXd jacobians = decoder.jacobians(codes);
    Eigen::MatrixXd trial = codes;
    for (Eigen::Index s = 0; s < cells.cols(); ++s)
      trial.col(s) += step(jacobians.middleCols(s * n, n), misfit.col(s), codes.col(s), sigma, damping[s]);
    const Eigen::MatrixXd trial_misfit = cells - decoder.decode(trial);
    const Eigen::ArrayXd trial_cost = costs(trial_misfit, trial, sigma);
    bool any_fell = false;
    for (Eigen::Index s = 0; s < cells.cols(); ++s) {
      const bool fell = trial_cost[s] < cost[s];
      any_fell = any_fell || trial_cost[s] < (1.0 - enough) * cost[s] || (!fell && damping[s] < largest_damping);
      damping[s] = fell ? damping[s] / damping_factor : damping[s] * damping_factor;
      if (!fell) continue;
      codes.col(s) = trial.col(s);
      misfit.col(s) = trial_misfit.col(s);
      cost[s] = trial_cost[s];
    }
    if (!any_fell) break;
  }
  return codes;
}

}  // namespace lodestone::inversion
