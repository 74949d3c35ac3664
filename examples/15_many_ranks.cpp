// SPDX-License-Identifier: Apache-2.0
// What this shows: a training step that is written for one machine runs on several ranks, here threads. Which
// tensors are cut is said by name, or searched; weights and loss have the same bits on 1, 2 and 4 ranks.
//
// Equation: min mean (f(x; w) − y)², f dense layers with tanh, y = sin 3x; Adam
//
// Sample run: 15_many_ranks
#include "engine/core/log.hpp"
#include "engine/dist/parallelize.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/variables.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// Returns places between -1 and 1.
Tensor points(Dim n, int number) {
  std::vector<float> x;
  for (Dim i = 0; i < n; ++i)
    x.push_back(static_cast<float>(std::sin(0.37 * static_cast<double>(i * (number + 1)))));
  return Tensor::from(x, {n, 1});
}

/// Trains on the ranks of a mesh, with layouts by name or searched; returns the last loss.
float trained(const World& world, int n_ranks, ParallelOptions options) {
  InitialValues initial(7);
  const Sequential net{Linear(1, 64, initial), engine::tanh, Linear(64, 1, initial)};
  const Adam adam(net, {.learning_rate = 3e-3});
  const auto train = [&](const Tensors& batch) -> Tensors {
    const auto loss = [&] { return mean_squared_error(net(batch[0]), batch[1]); };
    const auto [value, gradients] = value_and_grad(loss, net.parameters());
    adam.step(gradients);
    return {value};
  };

  std::vector<NamedVariable> cells = net.variables();
  for (const auto& [name, cell] : adam.variables()) cells.push_back({"optimizer." + name, cell});

  // Four shards fix the bits, however many ranks they lie on.
  const DeviceMesh mesh({{"data", n_ranks, 4}});
  options.inputs = {"batch.x", "batch.y"};
  options.cells = cells;
  const Parallelized step = parallelize(train, world, mesh, options);
  float loss = 0.0F;
  for (int i = 0; i < 100; ++i) {
    const Tensor x = points(32, i);
    loss = step({x, sin(3.0 * x)})[0].item<float>();
  }
  if (n_ranks == 2 && world->rank() == 0) {
    core::log::info("the step on two ranks:\n{}", step.explain());
    for (const auto& [name, layout] : step.pins()) core::log::info("\"{}\" is {}", name, layout);
  }
  return loss;
}

/// Returns the losses on 1, 2 and 4 ranks, which are the same.
std::vector<float> losses_with(const ParallelOptions& options) {
  std::vector<float> losses;
  for (const int n : {1, 2, 4}) {
    run_ranks(n, [&](const World& world) {
      const float loss = trained(world, n, options);
      if (world->rank() == 0) losses.push_back(loss);
    });
  }
  core::log::info("loss {:.3e} on one rank, {:.3e} on two, {:.3e} on four", losses[0], losses[1], losses[2]);
  return losses;
}

}  // namespace

int main() {
  // Each rank keeps a part of the moments.
  const std::vector<float> pinned =
      losses_with({.pins = {{"batch.*", "[data]"}, {"optimizer.*moment*", zero_over("data")}}});
  // Or the layouts for which ranks receive and repeat least are found.
  const std::vector<float> searched = losses_with({.search = Search::automatic});
  const bool are_equal =
      std::ranges::count(pinned, pinned[0]) == 3 && std::ranges::count(searched, searched[0]) == 3;
  return are_equal && pinned[0] < 0.2F && searched[0] < 0.2F ? 0 : 1;
}
