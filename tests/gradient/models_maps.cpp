// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/activation.hpp"
#include "engine/nn/linear.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "inversion/prior/network_decoder.hpp"
#include "inversion/prior/subdomain_map.hpp"
#include "models/vae/vae_decoder.hpp"
#include "tests/gradient/map_case.hpp"

namespace lodestone::tests {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Returns two subdomains that share a cell, and two cells outside.
core::MapPtr subdomains(const inversion::prior::DecoderPtr& decoder) {
  const Index n = decoder->n_cells();
  std::vector<std::vector<Index>> cells(2);
  for (Index i = 0; i < n; ++i) {
    cells[0].push_back(1 + i);
    cells[1].push_back(2 * n - 1 - i);
  }
  return std::make_shared<inversion::prior::SubdomainMap>(
      2 * n + 1, std::vector<inversion::prior::Region>{{"region", decoder, std::move(cells)}});
}

/// Returns a network as it is before training.
core::MapPtr network(const models::vae::VaeOptions& options) {
  engine::InitialValues initial(4);
  std::vector<double> depth_m, y_m;
  for (Index i = 0; i <= options.cells_z; ++i) depth_m.push_back(static_cast<double>(i));
  for (Index i = 0; i <= options.cells_y; ++i) y_m.push_back(static_cast<double>(i));
  auto grid = models::earths::patch_grid(std::move(depth_m), std::move(y_m));
  const Index n_cells = options.n_cells(), n_codes = options.n_codes;
  models::vae::VaeStatistics statistics;
  statistics.mean = statistics.cell_rms = VectorXd::Zero(n_cells);
  statistics.covariance = MatrixXd::Identity(n_cells, n_cells);
  statistics.code_mean = statistics.code_deviation = statistics.code_variance = statistics.code_divergence =
      VectorXd::Zero(n_codes);
  const models::vae::TrainedVae vae(models::vae::Vae(options, initial), grid, statistics, "");
  return subdomains(models::vae::vae_decoder(vae));
}

core::MapPtr gaussian() {
  const MatrixXd factor = some_numbers(15, -1.0, 1.0).reshaped(5, 3);
  return subdomains(
      inversion::prior::gaussian_decoder(some_numbers(5, 1.0, 3.0), factor * factor.transpose()));
}

core::MapPtr perceptron() {
  engine::InitialValues initial(2, engine::DType::f64);
  return inversion::prior::network_map(
      engine::Sequential{engine::Linear(4, 6, initial), engine::tanh, engine::Linear(6, 3, initial)}, 4);
}

}  // namespace

std::vector<MapCase> models_maps() {
  const models::vae::VaeOptions column{.cells_z = 13, .n_codes = 4, .channels = {4, 8}};
  const models::vae::VaeOptions patch{
      .kind = models::vae::VaeKind::patch, .cells_z = 6, .cells_y = 5, .n_codes = 4, .channels = {4, 8}};
  return {{"models/VAE of columns", [column] { return network(column); },
           [] { return some_numbers(10, -1.0, 1.0); }},
          {"models/VAE of patches", [patch] { return network(patch); },
           [] { return some_numbers(10, -1.0, 1.0); }},
          {"inversion/network", perceptron, [] { return some_numbers(4, -1.0, 1.0); }},
          {"inversion/Gaussian decoder", gaussian, [] { return some_numbers(8, -1.0, 1.0); }}};
}

}  // namespace lodestone::tests
