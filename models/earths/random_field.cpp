// SPDX-License-Identifier: Apache-2.0
#include "models/earths/random_field.hpp"

#include "engine/core/error.hpp"

#include <Eigen/Cholesky>

#include <cmath>
#include <utility>

namespace lodestone::models::earths {
namespace {

constexpr double nugget =
    1e-10;  // of the variance: keeps smooth covariances positive definite in floating point

Eigen::VectorXd centres(const std::vector<double>& edges) {
  return Eigen::VectorXd::NullaryExpr(std::ssize(edges) - 1, [&](Eigen::Index i) {
    return 0.5 * (edges[static_cast<std::size_t>(i)] + edges[static_cast<std::size_t>(i) + 1]);
  });
}

/// Returns the lower factor of the correlation between places given in correlation lengths.
Eigen::MatrixXd factor(const Eigen::VectorXd& at, Correlation correlation) {
  const Eigen::Index n = at.size();
  Eigen::MatrixXd matrix(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const double r = std::abs(at[i] - at[j]);
      matrix(i, j) = correlation == Correlation::exponential ? std::exp(-r) : std::exp(-0.5 * r * r);
    }
  }
  matrix.diagonal().array() += nugget;
  return matrix.llt().matrixL();
}

Eigen::MatrixXd kronecker(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd product(a.rows() * b.rows(), a.cols() * b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j)
      product.block(i * b.rows(), j * b.cols(), b.rows(), b.cols()) = a(i, j) * b;
  }
  return product;
}

}  // namespace

RandomField::RandomField(RandomFieldOptions options) : options_(std::move(options)) {
  check_log10(options_.mean, "mean");
  check(options_.standard_deviation, "standard_deviation", 0.0);
  check_positive(options_.horizontal_length_m, "horizontal_length_m");
  check_positive(options_.vertical_length_m, "vertical_length_m");
  if (!(options_.vertical_growth >= 0.0) || !std::isfinite(options_.vertical_growth)) {
    throw core::InvalidArgument("models::RandomField#wrong_growth",
                                "expected vertical_growth of 0 or more, got {}", options_.vertical_growth);
  }
}

Eigen::MatrixXd RandomField::draw(const core::Philox& random, const TensorGrid& grid) const {
  Draws draws(random);
  const double mean = draws.uniform(options_.mean), sd = draws.uniform(options_.standard_deviation);
  const double vertical = draws.log_uniform(options_.vertical_length_m), growth = options_.vertical_growth;
  const Eigen::ArrayXd depth = centres(grid.z_edges_m()).array();
  // Depth in correlation lengths: ∫ dz/(l + g z).
  Eigen::VectorXd down = depth / vertical;
  if (growth > 0.0) down = (depth * (growth / vertical)).log1p() / growth;
  const Eigen::VectorXd along = centres(grid.y_edges_m()) / draws.log_uniform(options_.horizontal_length_m);
  const Eigen::MatrixXd white = draws.normal(grid.n_z(), grid.n_columns());
  Eigen::MatrixXd of_columns = factor(along, options_.correlation);
  if (grid.has(physics::mesh::Axis::x)) {
    const Eigen::VectorXd across =
        centres(grid.edges_m(physics::mesh::Axis::x)) / draws.log_uniform(options_.horizontal_length_m);
    of_columns = kronecker(of_columns, factor(across, options_.correlation));
  }
  const Eigen::MatrixXd field = sd * factor(down, options_.correlation) * white * of_columns.transpose();
  if (options_.background) return field + options_.background->draw(branch(random, 0), grid);
  return (field.array() + mean).matrix();
}

void RandomField::check_grid(const TensorGrid& grid) const {
  if (options_.background) options_.background->check_grid(grid);
}

}  // namespace lodestone::models::earths
