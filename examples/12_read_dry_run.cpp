// SPDX-License-Identifier: Apache-2.0
// What this shows: a dry run tells memory, work and time of a training step before it runs. It finds the
// largest batch that fits into a gigabyte and the ops that take the time, and the block of a step then takes
// what was announced, to the byte.
//
// Equation: min mean (f(x; w) − y)², f convolutions of 3 × 3 with swish; Adam
//
// Sample run: 12_read_dry_run
#include "engine/compile/compile.hpp"
#include "engine/core/log.hpp"
#include "engine/inspect/dry_run.hpp"
#include "engine/memory/arena.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/convolution.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/variables.hpp"

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// A network that removes noise from images of one channel, and the step that trains it.
struct Training {
  InitialValues initial{7};
  ConvLayerOptions options{.window = {3, 3}, .padding = {1, 1}};
  Sequential net{Conv(1, 16, initial, options), swish, Conv(16, 16, initial, options), swish,
                 Conv(16, 1, initial, options)};
  Adam adam{net, {.learning_rate = 1e-3}};

  [[nodiscard]] Tensors step(const Tensors& batch) const {
    const auto loss = [&] { return mean_squared_error(net(batch[0]), batch[1]); };
    const auto [value, gradients] = value_and_grad(loss, net.parameters());
    adam.step(gradients);
    return {value};
  }
};

std::vector<Aval> batch_of(Dim n) {
  const Aval images{{n, 64, 64, 1}, DType::f32, default_device()};
  return {images, images};
}

}  // namespace

int main() {
  const Training training;
  const Function step = [&](const Tensors& batch) { return training.step(batch); };

  constexpr std::size_t gigabyte = 1'000'000'000;
  Dim fits = 0;
  for (Dim n = 1; dry_run(step, batch_of(n), {.times = Times::none}).peak.total() <= gigabyte; n *= 2)
    fits = n;
  core::log::info("the largest power of 2 that fits into 1 GB is a batch of {}", fits);

  const DryRun announced = dry_run(step, batch_of(8));
  core::log::info("a batch of 8:\n{}", announced.text());

  const Compiled compiled = compile(step);
  Tensors batch;
  for (const Aval& each : batch_of(8))
    batch.push_back(Tensor::from(std::vector<float>(8 * 64 * 64, 0.5F), each.shape));
  static_cast<void>(compiled(batch));
  const std::size_t block = Arena::taken_by(compiled.stats().block_bytes);
  core::log::info("the block of a step takes {} bytes, announced were {}", block, announced.peak.block);
  return fits > 0 && block == announced.peak.block ? 0 : 1;
}
