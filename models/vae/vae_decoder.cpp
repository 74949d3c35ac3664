// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_decoder.hpp"

#include "inversion/prior/network_decoder.hpp"

namespace lodestone::models::vae {

inversion::prior::DecoderPtr vae_decoder(const TrainedVae& vae, std::string name) {
  const Vae net = vae.net_in(engine::DType::f64);
  return inversion::prior::network_decoder(
      {.name = std::move(name), .n_codes = net.options().n_codes, .n_cells = net.options().n_cells()},
      [net](const engine::Tensor& codes) { return net.decode(codes); },
      [net](const engine::Tensor& cells) { return net.encode(cells).mean; });
}

}  // namespace lodestone::models::vae
