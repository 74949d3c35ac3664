// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/vae/train_vae.hpp"

#include <cmath>

namespace lodestone::tests {

/// Smooth columns: a level, a slope with depth and a bump.
class SmoothColumns final : public models::earths::Generator {
 public:
  [[nodiscard]] std::string kind() const override { return "smooth columns"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random,
                                     const physics::mesh::TensorGrid& grid) const override {
    Eigen::MatrixXd section(grid.n_z(), grid.n_y());
    const double level = 1.5 + random.uniform(0), slope = random.uniform(1), height = random.normal(2),
                 middle = random.uniform(3);
    for (Eigen::Index iz = 0; iz < grid.n_z(); ++iz) {
      const double z = static_cast<double>(iz) / static_cast<double>(grid.n_z());
      for (Eigen::Index iy = 0; iy < grid.n_y(); ++iy)
        section(iz, iy) = level + slope * z + height * std::exp(-50.0 * (z - middle) * (z - middle)) +
                          0.1 * static_cast<double>(iy) * slope;
    }
    return section;
  }
};

inline physics::mesh::TensorGrid layers(Eigen::Index n_z, Eigen::Index n_y = 1) {
  std::vector<double> depth_m, y_m;
  for (Eigen::Index i = 0; i <= n_z; ++i)
    depth_m.push_back(1000.0 * (std::pow(1.1, static_cast<double>(i)) - 1.0));
  for (Eigen::Index i = 0; i <= n_y; ++i) y_m.push_back(500.0 * static_cast<double>(i));
  return models::earths::patch_grid(std::move(depth_m), std::move(y_m));
}

inline models::earths::Prior smooth_prior(Eigen::Index n_z = 12, Eigen::Index n_y = 1) {
  return {layers(n_z, n_y), {{1.0, std::make_shared<SmoothColumns>()}}, 5};
}

/// Returns a network and a recipe that take a tenth of a second.
inline models::vae::VaeSetup small_setup(std::int64_t epochs = 3) {
  models::vae::VaeSetup setup;
  setup.network = {.cells_z = 12, .n_codes = 3, .channels = {4, 6}};
  setup.recipe = {.n_draws = 200, .epochs = epochs, .batch_size = 20, .learning_rate = 5e-3, .seed = 3};
  return setup;
}

inline models::vae::TrainedVae small_vae() {
  return *models::vae::train_vae(smooth_prior(), small_setup(1)).vae;
}

inline std::vector<float> weights_of(const models::vae::Vae& net) {
  std::vector<float> all;
  for (const auto& [name, tensor] : net.state()) {
    const auto numbers = tensor.to_vector<float>();
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return all;
}

}  // namespace lodestone::tests
