// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_step_parts.hpp"

#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"

#include <algorithm>

namespace lodestone::models::vae {

using namespace engine;

namespace {

Schedule schedule_of(const VaeRecipe& recipe, std::int64_t steps_per_epoch) {
  if (recipe.schedule == RateSchedule::constant) return recipe.learning_rate;
  const std::int64_t falling = std::max<std::int64_t>(steps_per_epoch * (recipe.epochs - 1), 1);
  return warm_up(steps_per_epoch, cosine_decay({.rate = recipe.learning_rate,
                                                .n_steps = falling,
                                                .lowest = 0.01 * recipe.learning_rate}));
}

}  // namespace

BatchTransform with_noise(Dim n_codes) {
  return [n_codes](NamedTensors batch, const Tensor& keys) {
    batch.emplace("noise", random_normal(keys, {n_codes}));
    return batch;
  };
}

Loader training_loader(const VaeDraws& draws, const VaeSetup& setup) {
  return Loader(draws.training, {.batch_size = setup.recipe.batch_size,
                                 .last = LastBatch::drop,
                                 .seed = setup.recipe.seed,
                                 .transform = with_noise(setup.network.n_codes),
                                 .read_ahead = 2});
}

BatchLoss loss_of(const Vae& net, const earths::Prior& prior, const VaeSetup& setup, const VaeDraws& draws) {
  const VaeLoss loss(setup.loss, cell_weights(setup.loss.layer_weights, prior.grid()), draws.range,
                     DType::f32);
  return {.values = [net, loss](const NamedTensors& batch) -> Tensors {
            const VaeTerms terms = loss(net, batch.at("cells"), batch.at("noise"));
            return {terms.loss, terms.reconstruction, terms.dissimilarity, terms.divergence};
          },
          .figures = {"reconstruction", "dissimilarity", "divergence"}};
}

Vae new_net(const VaeSetup& setup, const VaeDraws& draws) {
  InitialValues initial(setup.recipe.seed);
  Vae net(setup.network, initial);
  if (setup.network.centre)
    net.set_centre(Tensor::from(std::span(draws.mean.data(), static_cast<std::size_t>(draws.mean.size())),
                                {draws.mean.size()}));
  return net;
}

Adam adam_of(const Vae& net, const VaeSetup& setup, std::int64_t steps_per_epoch) {
  return Adam(net, {.learning_rate = schedule_of(setup.recipe, steps_per_epoch)});
}

}  // namespace lodestone::models::vae
