// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/ops.hpp"
#include "models/vae/vae_loss.hpp"
#include "tests/parity/trained_by.hpp"

namespace lodestone::tests {
namespace {

using namespace engine;

constexpr Dim n_profiles = 16, n_layers = 32, n_codes = 16;

/// Returns inputs of the VAE of profiles: log10 of resistivities, and noise.
Tensors profiles(DType dtype) {
  return {(3.0 + 0.5 * normals({n_profiles, n_layers}, 1, dtype)).eval(),
          normals({n_profiles, n_codes}, 2, dtype)};
}

/// The published network of 1-D profiles with its loss.
Training mt_vae(DType dtype) {
  InitialValues initial(7, dtype);
  const models::vae::Vae net({}, initial);
  const models::vae::VaeLoss loss({}, std::vector<double>(n_layers, 1.0), 2.0, dtype);
  return trained_by(
      net, Adam(net, {.learning_rate = 8e-4}),
      [loss](const models::vae::Vae& vae, const Tensors& in) { return loss(vae, in[0], in[1]).loss; },
      profiles(dtype));
}

/// Derivatives of what its decoder makes of codes.
Training decoder_jacobian(DType dtype) {
  InitialValues initial(7, dtype);
  const models::vae::Vae net({}, initial);
  const Function f = [net](const Tensors& in) -> Tensors {
    const InMode evaluation(net, Mode::evaluation);
    return {jacobian([&](const Tensor& codes) { return net.decode(codes); }, in[0])};
  };
  return {f, {normals({1, n_codes}, 3, dtype)}, net.cells()};
}

}  // namespace

std::vector<TrainingCase> model_trainings() {
  return {{"VAE of profiles", mt_vae}, {"Jacobian of its decoder", decoder_jacobian}};
}

}  // namespace lodestone::tests
