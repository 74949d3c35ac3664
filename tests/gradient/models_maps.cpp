// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/activation.hpp"
#include "engine/nn/linear.hpp"
#include "engine/ops/ops.hpp"
#include "inversion/objective/parameter_maps.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "inversion/prior/network_decoder.hpp"
#include "inversion/prior/regions.hpp"
#include "models/vae/vae_decoder.hpp"
#include "tests/gradient/map_case.hpp"
#include "tests/support/small_volume.hpp"

#include <numeric>

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
  std::vector<double> depth_m, y_m, x_m;
  for (Index i = 0; i <= options.cells_z; ++i) depth_m.push_back(static_cast<double>(i));
  for (Index i = 0; i <= options.cells_y; ++i) y_m.push_back(static_cast<double>(i));
  for (Index i = 0; options.cells_x > 1 && i <= options.cells_x; ++i) x_m.push_back(static_cast<double>(i));
  auto grid = models::earths::patch_grid(std::move(depth_m), std::move(y_m), std::move(x_m));
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

/// Returns a family of columns of the small volume, around 50 ohm m.
inversion::prior::DecoderPtr columns_of_volume() {
  engine::InitialValues initial(2, engine::DType::f64);
  const engine::Sequential net{engine::Linear(2, 6, initial), engine::tanh, engine::Linear(6, 3, initial)};
  return with_card(inversion::prior::network_decoder(
                       {"columns", 2, 3}, [net](const engine::Tensor& codes) { return net(codes) + 1.7; }),
                   {.patch = models::earths::patch_grid({0, 300, 1000, 3000}, {0, 1000})});
}

/// Returns the responses of a volume by the codes of six of its columns and by the cells of the others.
core::MapPtr volume_by_codes() {
  const physics::mesh::Model volume = small_volume();
  std::vector<Index> free_cells(static_cast<std::size_t>(volume.values.size()));
  std::iota(free_cells.begin(), free_cells.end(), Index{0});
  const inversion::prior::Regions regions(
      {.regions = {{.decoder = columns_of_volume(), .y_m = {-1500.0, 700.0}}}}, volume.earth, free_cells);
  return core::compose(
      small_volume_simulation(MPI_COMM_WORLD, {.tolerance = 1e-11, .divergence_tolerance = 1e-11}),
      core::compose(inversion::objective::exp10_map(volume.values.size()), regions.map()));
}

VectorXd codes_and_cells_of_volume() {
  VectorXd x(6 * 2 + 9);
  x << some_numbers(12, -1.0, 1.0), some_numbers(9, 1.2, 2.3);
  return x;
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
  const models::vae::VaeOptions volume{.kind = models::vae::VaeKind::volume,
                                       .cells_z = 4,
                                       .cells_y = 3,
                                       .cells_x = 3,
                                       .n_codes = 4,
                                       .channels = {4}};
  return {{"models/VAE of columns", [column] { return network(column); },
           [] { return some_numbers(10, -1.0, 1.0); }},
          {"models/VAE of patches", [patch] { return network(patch); },
           [] { return some_numbers(10, -1.0, 1.0); }},
          {"models/VAE of volumes", [volume] { return network(volume); },
           [] { return some_numbers(10, -1.0, 1.0); }},
          {"inversion/network", perceptron, [] { return some_numbers(4, -1.0, 1.0); }},
          {"inversion/Gaussian decoder", gaussian, [] { return some_numbers(8, -1.0, 1.0); }},
          {"mt::d3::Simulation of codes and cells",
           volume_by_codes,
           codes_and_cells_of_volume,
           {.max_adjoint_gap = 1e-8}}};
}

}  // namespace lodestone::tests
