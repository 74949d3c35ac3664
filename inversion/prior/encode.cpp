// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/subdomain_map.hpp"

#include <Eigen/Cholesky>

#include <cmath>

namespace lodestone::inversion::prior {
namespace {

constexpr double first_damping = 1e-2, damping_factor = 4.0, largest_damping = 1e8;
constexpr double enough = 1e-10;  // relative fall of the cost that counts as none

/// Returns the Levenberg–Marquardt step of one subdomain.
Eigen::VectorXd step(const core::ConstMatrixRef& jacobian, const Eigen::VectorXd& misfit,
                     const Eigen::VectorXd& code, double sigma, double damping) {
  const double weight = 1.0 / (sigma * sigma);
  Eigen::MatrixXd normal = weight * jacobian.transpose() * jacobian;
  normal.diagonal().array() += 1.0 + damping * (1.0 + normal.diagonal().array());
  return normal.llt().solve(weight * jacobian.transpose() * misfit - code);
}

/// Codes of subdomains side by side, so that the decoder sees one batch; each has a cost and a damping of its
/// own.
class Fits {
 public:
  Fits(const Decoder& decoder, const core::ConstMatrixRef& cells, double sigma)
      : decoder_(decoder),
        cells_(cells),
        sigma_(sigma),
        codes_(decoder.encode(cells)),
        misfit_(cells - decoder.decode(codes_)),
        cost_(costs(misfit_, codes_)),
        damping_(Eigen::ArrayXd::Constant(cells.cols(), first_damping)) {}

  [[nodiscard]] const Eigen::MatrixXd& codes() const { return codes_; }

  /// Takes each code that fits better, or whose present one has no finite cost; true when a cost fell.
  bool take(const Eigen::MatrixXd& trial) {
    const Eigen::MatrixXd misfit = cells_ - decoder_.decode(trial);
    const Eigen::ArrayXd cost = costs(misfit, trial);
    bool any_fell = false;
    for (Eigen::Index s = 0; s < codes_.cols(); ++s) {
      const bool is_better = cost[s] < cost_[s] || !std::isfinite(cost_[s]);
      damping_[s] = is_better ? damping_[s] / damping_factor : damping_[s] * damping_factor;
      any_fell =
          any_fell || cost[s] < (1.0 - enough) * cost_[s] || (!is_better && damping_[s] < largest_damping);
      if (!is_better) continue;
      codes_.col(s) = trial.col(s);
      misfit_.col(s) = misfit.col(s);
      cost_[s] = cost[s];
    }
    return any_fell;
  }

  /// Returns the codes after the next step of each.
  [[nodiscard]] Eigen::MatrixXd stepped() const {
    const Eigen::Index n = decoder_.n_codes();
    const Eigen::MatrixXd jacobians = decoder_.jacobians(codes_);
    Eigen::MatrixXd trial = codes_;
    for (Eigen::Index s = 0; s < codes_.cols(); ++s)
      trial.col(s) +=
          step(jacobians.middleCols(s * n, n), misfit_.col(s), codes_.col(s), sigma_, damping_[s]);
    return trial;
  }

 private:
  /// Returns ‖(cells − decoded)/σ‖² + ‖v‖² of each.
  [[nodiscard]] Eigen::ArrayXd costs(const Eigen::MatrixXd& misfit, const Eigen::MatrixXd& codes) const {
    return (misfit.colwise().squaredNorm() / (sigma_ * sigma_) + codes.colwise().squaredNorm())
        .transpose()
        .array();
  }

  const Decoder& decoder_;
  Eigen::MatrixXd cells_;
  double sigma_;
  Eigen::MatrixXd codes_, misfit_;
  Eigen::ArrayXd cost_, damping_;
};

}  // namespace

Eigen::MatrixXd encode_by_least_squares(const Decoder& decoder, const core::ConstMatrixRef& cells,
                                        const EncodeOptions& options) {
  if (cells.rows() != decoder.n_cells())
    throw core::ShapeError("inversion::encode#wrong_size",
                           "expected the {} cells of {} in each column, got {}", decoder.n_cells(),
                           decoder.name(), cells.rows());
  if (!(options.sigma_decades > 0.0) || options.max_iterations < 0)
    throw core::InvalidArgument("inversion::encode#wrong_options",
                                "expected sigma_decades > 0 and max_iterations ≥ 0, got {} and {}",
                                options.sigma_decades, options.max_iterations);
  Fits fits(decoder, cells, options.sigma_decades);
  if (options.max_iterations == 0) return fits.codes();
  fits.take(Eigen::MatrixXd::Zero(decoder.n_codes(),
                                  cells.cols()));  // an encoder may be off by more than no code at all
  for (int iteration = 0; iteration < options.max_iterations && fits.take(fits.stepped()); ++iteration)
    continue;
  return fits.codes();
}

}  // namespace lodestone::inversion::prior
