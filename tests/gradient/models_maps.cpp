// SPDX-License-Identifier: Apache-2.0
#include "inversion/map/gaussian_decoder.hpp"
#include "models/vae/vae_decoder.hpp"
#include "tests/gradient/map_case.hpp"

namespace lodestone::tests {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// All codes of several subdomains to all their cells.
class DecoderMap final : public core::DifferentiableMap {
 public:
  DecoderMap(inversion::DecoderPtr decoder, Index n) : decoder_(std::move(decoder)), n_(n) {}
  [[nodiscard]] Index size_in() const override { return decoder_->n_codes() * n_; }
  [[nodiscard]] Index size_out() const override { return decoder_->n_cells() * n_; }
  [[nodiscard]] std::string name() const override { return decoder_->name(); }

 private:
  class At final : public core::Linearization {
   public:
    At(VectorXd value, MatrixXd jacobian) : Linearization(jacobian.cols(), std::move(value)), jacobian_(std::move(jacobian)) {}

   private:
    [[nodiscard]] MatrixXd do_jvp(const core::ConstMatrixRef& v) const override { return jacobian_ * v; }
    [[nodiscard]] MatrixXd do_vjp(const core::ConstMatrixRef& w) const override { return jacobian_.transpose() * w; }
    MatrixXd jacobian_;
  };
  [[nodiscard]] std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override {
    const Index n_codes = decoder_->n_codes(), n_cells = decoder_->n_cells();
    const MatrixXd codes = x.reshaped(n_codes, n_), blocks = decoder_->jacobians(codes);
    MatrixXd jacobian = MatrixXd::Zero(size_out(), size_in());
    for (Index k = 0; k < n_; ++k) jacobian.block(k * n_cells, k * n_codes, n_cells, n_codes) = blocks.middleCols(k * n_codes, n_codes);
    return std::make_unique<At>(decoder_->decode(codes).reshaped(), std::move(jacobian));
  }
  inversion::DecoderPtr decoder_;
  Index n_;
};

/// A network as it is before training.
core::MapPtr network(const models::VaeOptions& options) {
  engine::InitialValues initial(4);
  models::PatchGrid grid;
  for (Index i = 0; i <= options.cells_z; ++i) grid.depth_m.push_back(static_cast<double>(i));
  for (Index i = 0; i <= options.cells_y; ++i) grid.y_m.push_back(static_cast<double>(i));
  const Index n_cells = options.n_cells(), n_codes = options.n_codes;
  models::VaeStatistics statistics;
  statistics.mean = statistics.cell_rms = VectorXd::Zero(n_cells);
  statistics.covariance = MatrixXd::Identity(n_cells, n_cells);
  statistics.code_mean = statistics.code_deviation = statistics.code_variance = statistics.code_divergence = VectorXd::Zero(n_codes);
  const models::TrainedVae vae(models::Vae(options, initial), grid, statistics, "");
  return std::make_shared<DecoderMap>(models::vae_decoder(vae), 2);
}

core::MapPtr gaussian() {
  const MatrixXd factor = some_numbers(15, -1.0, 1.0).reshaped(5, 3);
  return std::make_shared<DecoderMap>(inversion::gaussian_decoder(some_numbers(5, 1.0, 3.0), factor * factor.transpose()), 2);
}

}  // namespace

std::vector<MapCase> models_maps() {
  const models::VaeOptions column{.cells_z = 13, .n_codes = 4, .channels = {4, 8}};
  const models::VaeOptions patch{.kind = models::VaeKind::patch, .cells_z = 6, .cells_y = 5, .n_codes = 4, .channels = {4, 8}};
  return {{"models/VAE of columns", [column] { return network(column); }, [] { return some_numbers(8, -1.0, 1.0); }},
          {"models/VAE of patches", [patch] { return network(patch); }, [] { return some_numbers(8, -1.0, 1.0); }},
          {"inversion/Gaussian decoder", gaussian, [] { return some_numbers(6, -1.0, 1.0); }}};
}

}  // namespace lodestone::tests
