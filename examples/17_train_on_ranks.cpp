// SPDX-License-Identifier: Apache-2.0
// What this shows: one line shares a training out among the processes that mpirun starts. Its figures and its
// file have the same bits on 1 to 8 of them.
//
// Equation: min mean (f(x; w) − y)², f dense layers with tanh and a batch norm, y = sin 3x; Adam
//
// Sample runs: 17_train_on_ranks
//              mpirun -n 2 --bind-to none 17_train_on_ranks
#include "engine/core/log.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/dist/mpi/world.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "engine/train/guards.hpp"
#include "engine/train/model.hpp"

using namespace lodestone;
using namespace lodestone::engine;

namespace {

void train(const World& world) {
  InitialValues random(7);
  const Tensor x = random.draw({600, 1}, uniform_between(-3.0, 3.0));
  const auto [training, validation] =
      Dataset(NamedTensors{{"input", x}, {"target", sin(3.0 * x)}}).split(0.25, 1);
  const Sequential net{Linear(1, 32, random), engine::tanh, BatchNorm(32, random), Linear(32, 1, random)};
  const Loss loss = [](const Tensor& predicted, const Tensor& target) {
    return mean_squared_error(predicted, target);
  };

  // Each rank makes the same model. Eight shards of a batch fix the bits, however many ranks they lie on.
  const Model model(net, loss, Adam(net, {.learning_rate = 1e-2}), {.parallel = data_parallel(world, 8)});
  const FitSummary summary = model.fit(Loader(training, {.batch_size = 32}),
                                       Loader(validation, {.batch_size = 150, .order = Order::stored}),
                                       {.epochs = 30, .callbacks = callbacks(NanGuard())});
  core::log::info("{} ranks, {} steps: validation loss {:.9g}, the same on 1 to 8 ranks; {} bytes sent",
                  world->size(), summary.n_steps, summary.figures.back().at("validation_loss"),
                  world->counts().bytes);
}

}  // namespace

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [](MPI_Comm comm) {
    with_mpi_world(comm, train);
    return 0;
  });
}
