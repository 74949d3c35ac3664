// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/gaussian_decoder.hpp"

#include "engine/core/error.hpp"

#include <Eigen/Eigenvalues>

namespace lodestone::inversion::prior {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double smallest = 1e-10;  // of the largest eigenvalue

class GaussianDecoder final : public Decoder {
 public:
  GaussianDecoder(VectorXd mean, MatrixXd directions, const VectorXd& deviations)
      : mean_(std::move(mean)),
        basis_(directions * deviations.asDiagonal()),
        inverse_(deviations.cwiseInverse().asDiagonal() * directions.transpose()) {}

  [[nodiscard]] std::string name() const override { return "Gaussian prior"; }
  [[nodiscard]] Index n_codes() const override { return basis_.cols(); }
  [[nodiscard]] Index n_cells() const override { return basis_.rows(); }
  [[nodiscard]] MatrixXd decode(const core::ConstMatrixRef& codes) const override {
    check("codes", codes, n_codes());
    return (basis_ * codes).colwise() + mean_;
  }
  [[nodiscard]] MatrixXd jacobians(const core::ConstMatrixRef& codes) const override {
    check("codes", codes, n_codes());
    return basis_.replicate(1, codes.cols());
  }
  [[nodiscard]] MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    check("cells", cells, n_cells());
    return inverse_ * (cells.colwise() - mean_);
  }

 private:
  static void check(const char* what, const core::ConstMatrixRef& given, Index rows) {
    if (given.rows() != rows)
      throw core::ShapeError("inversion::gaussian_decoder#wrong_rows", "expected {} {} per subdomain, got {}",
                             rows, what, given.rows());
  }
  VectorXd mean_;
  MatrixXd basis_, inverse_;  ///< L, and its left inverse
};

/// Checks mean and covariance. errors: as `gaussian_decoder`.
void check(const core::ConstVectorRef& mean, const core::ConstMatrixRef& covariance) {
  if (mean.size() < 1 || covariance.rows() != mean.size() || covariance.cols() != mean.size())
    throw core::ShapeError("inversion::gaussian_decoder#wrong_size",
                           "expected a covariance of {0} × {0} for a mean of {0} cells, got {1} × {2}",
                           mean.size(), covariance.rows(), covariance.cols());
  if (!mean.allFinite() || !covariance.allFinite())
    throw core::InvalidArgument(
        "inversion::gaussian_decoder#not_finite",
        "mean and covariance must be finite; remove draws with NaN from the training");
  const double size = covariance.cwiseAbs().maxCoeff();
  if (!(size > 0.0))
    throw core::InvalidArgument("inversion::gaussian_decoder#no_variation",
                                "the covariance is zero; take draws that vary");
  if ((covariance - covariance.transpose()).cwiseAbs().maxCoeff() > 1e-9 * size)
    throw core::InvalidArgument("inversion::gaussian_decoder#not_symmetric",
                                "the covariance must be symmetric");
}

}  // namespace

DecoderPtr gaussian_decoder(const core::ConstVectorRef& mean, const core::ConstMatrixRef& covariance) {
  check(mean, covariance);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(covariance);
  const VectorXd& values = eigen.eigenvalues();  // rising
  const double largest = values[values.size() - 1];
  if (values[0] < -1e-9 * largest)
    throw core::InvalidArgument(
        "inversion::gaussian_decoder#negative_eigenvalue",
        "expected no negative eigenvalue of the covariance, got {:.3g} beside a largest of {:.3g}", values[0],
        largest);
  const Index n = (values.array() > smallest * largest).count();
  const MatrixXd directions = eigen.eigenvectors().rightCols(n).rowwise().reverse();
  const VectorXd deviations = values.tail(n).reverse().cwiseSqrt();
  return std::make_shared<GaussianDecoder>(mean, directions, deviations);
}

}  // namespace lodestone::inversion::prior
