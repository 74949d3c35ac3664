// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_draws.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <limits>

namespace lodestone::models::vae {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using engine::Dim;

constexpr std::int64_t at_once = 4096;

/// Sums around a value near the mean, so that nothing cancels.
class Moments {
 public:
  void add(const MatrixXd& draws) {
    if (n_ == 0) {
      around_ = draws.rowwise().mean();
      sum_ = VectorXd::Zero(draws.rows());
      products_ = MatrixXd::Zero(draws.rows(), draws.rows());
    }
    const MatrixXd deviations = draws.colwise() - around_;
    sum_ += deviations.rowwise().sum();
    products_.noalias() += deviations * deviations.transpose();
    n_ += draws.cols();
    largest_ = std::max(largest_, draws.cwiseAbs().maxCoeff());
    smallest_ = std::min(smallest_, draws.cwiseAbs().minCoeff());
  }
  [[nodiscard]] VectorXd mean() const { return around_ + sum_ / static_cast<double>(n_); }
  [[nodiscard]] MatrixXd covariance() const {
    const auto n = static_cast<double>(n_);
    return (products_ - sum_ * sum_.transpose() / n) / (n - 1.0);
  }
  [[nodiscard]] double range() const { return largest_ - smallest_; }

 private:
  Index n_ = 0;
  VectorXd around_, sum_;
  MatrixXd products_;
  double largest_ = 0.0, smallest_ = std::numeric_limits<double>::infinity();
};

void check_finite(const MatrixXd& draws, std::int64_t first) {
  for (Index k = 0; k < draws.cols(); ++k) {
    if (!draws.col(k).allFinite())
      throw core::InvalidArgument("models::make_draws#draws_not_finite",
                                  "expected finite log10 resistivities, got others in draw {}; look at it "
                                  "with --preview, or at the sections it is cut from",
                                  first + k);
  }
}

}  // namespace

VaeDraws make_draws(const earths::Prior& prior, std::int64_t n, double validation_share) {
  const auto n_validation =
      static_cast<std::int64_t>(std::llround(static_cast<double>(n) * validation_share));
  const std::int64_t n_training = n - n_validation;
  if (n_training < 2 || n_validation < 2)
    throw core::InvalidArgument(
        "models::make_draws#too_few_draws",
        "expected at least two draws for training and two for validation, got {} and {}", n_training,
        n_validation);
  const Index n_cells = prior.grid().n_cells();
  std::vector<float> values(static_cast<std::size_t>(n * n_cells));
  Moments moments;
  for (std::int64_t first = 0; first < n; first += at_once) {
    const MatrixXd draws = prior.draws(first, std::min(at_once, n - first));
    check_finite(draws, first);
    Eigen::Map<Eigen::MatrixXf>(values.data() + first * n_cells, n_cells, draws.cols()) = draws.cast<float>();
    if (first < n_training) moments.add(draws.leftCols(std::min<Index>(draws.cols(), n_training - first)));
  }
  const engine::Dataset all({{"cells", engine::Tensor::from(values, {static_cast<Dim>(n), n_cells})}});
  VaeDraws result{all.range(0, n_training), all.range(n_training, n), moments.mean(), moments.covariance(),
                  moments.range()};
  if (!(result.covariance.diagonal().maxCoeff() > 0.0))
    throw core::InvalidArgument("models::make_draws#draws_do_not_vary",
                                "expected draws that vary, got {} equal ones; widen the ranges of the prior",
                                n);
  return result;
}

}  // namespace lodestone::models::vae
