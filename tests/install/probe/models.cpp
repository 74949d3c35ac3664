// SPDX-License-Identifier: Apache-2.0
// Component models: an untrained network decodes codes to cells.
#include "engine/ops/ops.hpp"
#include "models/vae/vae.hpp"

using namespace lodestone;

int main() {
  const models::vae::VaeOptions options{.cells_z = 8, .n_codes = 2, .channels = {4, 8}};
  engine::InitialValues initial(1);
  const models::vae::VaeDecoderNet decoder(options, initial);
  return decoder(engine::zeros({3, 2})).shape() == engine::Shape{3, 8} ? 0 : 1;
}
