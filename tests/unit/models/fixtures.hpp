// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/prior.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace lodestone::tests {

/// The deepest 32 of 64 layers of the field case.
inline physics::mesh::TensorGrid field_grid() {
  std::vector<double> depth{0.0};
  for (int i = 0; i < 64; ++i) depth.push_back(depth.back() + 2.0 * std::pow(1.146, i));
  return models::earths::patch_grid({depth.begin() + 32, depth.end()}, {0.0, 8327.0});
}

/// Returns 30 columns of 100 m, 25 rows of 40 m.
inline physics::mesh::TensorGrid patch() {
  std::vector<double> depth_m, y_m;
  for (int i = 0; i <= 25; ++i) depth_m.push_back(40.0 * i);
  for (int i = 0; i <= 30; ++i) y_m.push_back(100.0 * i);
  return models::earths::patch_grid(std::move(depth_m), std::move(y_m));
}

/// One number everywhere.
class Uniform final : public models::earths::Generator {
 public:
  explicit Uniform(double value) : value_(value) {}
  [[nodiscard]] std::string kind() const override { return "uniform"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox&,
                                     const physics::mesh::TensorGrid& grid) const override {
    return Eigen::MatrixXd::Constant(grid.n_z(), grid.n_columns(), value_);
  }
  void check_grid(const physics::mesh::TensorGrid&) const override {}

 private:
  double value_;
};
inline models::earths::GeneratorPtr uniform(double value) { return std::make_shared<Uniform>(value); }

/// Draws of one family, by number.
template <class Family, class Options>
models::earths::Prior prior_of(Options options, physics::mesh::TensorGrid grid) {
  return models::earths::Prior(std::move(grid), {{1.0, std::make_shared<Family>(std::move(options))}}, 11);
}

}  // namespace lodestone::tests
