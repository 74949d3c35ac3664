// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/alternating.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "inversion/prior/roughness.hpp"
#include "tests/unit/inversion/fixtures.hpp"

/// A small section with subdomains, shared by the tests of alternating steps.
namespace lodestone::tests {

/// A conductor whose depth and level are set by two codes; its encoder knows nothing.
class ConductorDecoder final : public inversion::prior::Decoder {
 public:
  static constexpr Eigen::Index n = 6;
  [[nodiscard]] std::string name() const override { return "conductor"; }
  [[nodiscard]] Eigen::Index n_codes() const override { return 2; }
  [[nodiscard]] Eigen::Index n_cells() const override { return n; }
  [[nodiscard]] Eigen::MatrixXd decode(const core::ConstMatrixRef& v) const override {
    return Eigen::MatrixXd::NullaryExpr(
        n, v.cols(), [&](Eigen::Index i, Eigen::Index s) { return 2.0 + 0.3 * v(0, s) - bump(i, v(1, s)); });
  }
  [[nodiscard]] Eigen::MatrixXd jacobians(const core::ConstMatrixRef& v) const override {
    Eigen::MatrixXd all(n, 2 * v.cols());
    for (Eigen::Index s = 0; s < v.cols(); ++s) {
      for (Eigen::Index i = 0; i < n; ++i) {
        all(i, 2 * s) = 0.3;
        all(i, 2 * s + 1) = -bump(i, v(1, s)) * 2.0 * offset(i, v(1, s)) / width;
      }
    }
    return all;
  }
  [[nodiscard]] Eigen::MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    return Eigen::MatrixXd::Zero(2, cells.cols());
  }

 private:
  static constexpr double width = 1.3;
  static double offset(Eigen::Index i, double depth) {
    return (static_cast<double>(i) - 2.5 - depth) / width;
  }
  static double bump(Eigen::Index i, double depth) { return 1.5 * std::exp(-std::pow(offset(i, depth), 2)); }
};

/// 6 columns × 8 rows; the 4 columns in the middle are subdomains below the second row. 30 data, each a mean
/// over near cells that bends.
struct SectionProblem {
  static constexpr Eigen::Index n_columns = 6, n_rows = 8, n = n_columns * n_rows, n_data = 30;

  explicit SectionProblem(inversion::prior::DecoderPtr of_columns = std::make_shared<ConductorDecoder>())
      : decoder(std::move(of_columns)) {
    inversion::prior::Region region{"middle", decoder, {}};
    for (Eigen::Index column = 1; column < 5; ++column) {
      std::vector<Eigen::Index> cells;
      for (Eigen::Index row = 2; row < n_rows; ++row) cells.push_back(row * n_columns + column);
      region.subdomains.push_back(cells);
    }
    map = std::make_shared<const inversion::prior::SubdomainMap>(
        n, std::vector<inversion::prior::Region>{region});
    Eigen::VectorXd codes = 0.8 * random_matrix(map->size_in(), 1, 5).col(0);
    codes.tail(n - 24).setConstant(2.0);
    truth = map->value(codes);
    observed = forward->value(truth) + sigma * random_matrix(n_data, 1, 6).col(0);
  }

  static Eigen::MatrixXd kernels() {
    const Eigen::MatrixXd shift = random_matrix(n_data, 2, 3);
    return Eigen::MatrixXd::NullaryExpr(n_data, n, [&](Eigen::Index i, Eigen::Index cell) {
      const double y = 2.5 + 1.8 * shift(i, 0), z = 3.5 + 2.5 * shift(i, 1);
      const auto column = static_cast<double>(cell % n_columns), row = static_cast<double>(cell / n_columns);
      return std::exp(-0.3 * (std::pow(column - y, 2) + std::pow(row - z, 2)));
    });
  }
  static double bent(double v) { return v + 0.3 * std::sin(v); }
  static double slope(double v) { return 1.0 + 0.3 * std::cos(v); }

  [[nodiscard]] Eigen::SparseMatrix<double> roughness() const {
    std::vector<double> y, z;
    for (int i = 0; i <= n_columns; ++i) y.push_back(i);
    for (int i = 0; i <= n_rows; ++i) z.push_back(i);
    return inversion::prior::roughness_operator(physics::mesh::TensorGrid::section(y, z), {});
  }
  [[nodiscard]] Eigen::VectorXd reference() const { return Eigen::VectorXd::Constant(n, 2.0); }
  [[nodiscard]] inversion::prior::CodedRoughness coded(double inside_weight = 0.0) const {
    return {map, roughness(), reference(), {.between_weight = 1.0 / 6.0, .inside_weight = inside_weight}};
  }
  [[nodiscard]] inversion::optimize::Objective objective(const core::MapPtr& other = nullptr) const {
    return {other ? other : forward, plain_misfit(observed, sigma),
            std::make_shared<inversion::objective::Regularization>(roughness(), reference())};
  }

  inversion::prior::DecoderPtr decoder;
  std::shared_ptr<const inversion::prior::SubdomainMap> map;
  core::MapPtr forward = core::compose(core::affine(kernels(), Eigen::VectorXd::Zero(n_data)),
                                       core::pointwise("bend", n, bent, slope));
  double sigma = 0.05;
  Eigen::VectorXd truth, observed;
};

}  // namespace lodestone::tests
