// SPDX-License-Identifier: Apache-2.0
#include "models/vae/train_vae.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/ops/random.hpp"
#include "engine/train/callbacks.hpp"
#include "engine/train/guards.hpp"
#include "models/vae/vae_card.hpp"
#include "models/vae/vae_draws.hpp"
#include "models/vae/vae_keeper.hpp"
#include "models/vae/vae_statistics.hpp"
#include "models/vae/vae_step_parts.hpp"

#include <cmath>
#include <limits>

namespace lodestone::models::vae {
namespace {

using namespace engine;

constexpr std::int64_t validation_batch = 512;

Loader validation_loader(const VaeDraws& draws, const VaeSetup& setup) {
  return Loader(draws.validation, {.batch_size = std::min(validation_batch, draws.validation.size()),
                                   .order = Order::stored,
                                   .seed = setup.recipe.seed + 1,
                                   .transform = with_noise(setup.network.n_codes)});
}

void check_options(const earths::Prior& prior, const VaeSetup& setup, const VaeRun& run) {
  setup.network.check();
  setup.recipe.check();
  const physics::mesh::TensorGrid& grid = prior.grid();
  const VaeOptions& network = setup.network;
  if (grid.n_z() != network.cells_z || grid.n_y() != network.cells_y || grid.n_x() != network.cells_x)
    throw core::InvalidArgument(
        "models::train_vae#wrong_cells",
        "expected a network for the {} × {} × {} cells (z, y, x) of the prior, got one for {} × {} × {}",
        grid.n_z(), grid.n_y(), grid.n_x(), network.cells_z, network.cells_y, network.cells_x);
  if ((network.kind == VaeKind::volume) != grid.has(physics::mesh::Axis::x))
    throw core::InvalidArgument(
        "models::train_vae#wrong_kind",
        "expected the network \"volume\" for a prior with cells along x alone, got \"{}\"",
        core::word(network.kind));
  if (run.begin == Begin::resume && run.checkpoint.empty())
    throw core::InvalidArgument("models::train_vae#no_checkpoint",
                                "expected a checkpoint to resume from, found none; name its file");
  const int n_ranks = run.world ? run.world->size() : 1;
  if (n_ranks > setup.recipe.shards)
    throw core::InvalidArgument("models::train_vae#too_many_ranks",
                                "expected at most as many ranks as shards, {}, got {}; start fewer ranks, "
                                "or give more shards",
                                setup.recipe.shards, n_ranks);
}

/// Returns how a batch is shared out; nothing where it has one part, which is a training of one process.
std::optional<Parallel> parallel_of(const VaeSetup& setup, const VaeRun& run) {
  if (setup.recipe.shards == 1) return {};
  return data_parallel(run.world ? run.world : lone_rank(), setup.recipe.shards);
}

Callbacks callbacks_of(const VaeSetup& setup, const VaeRun& run, const std::shared_ptr<VaeKeeper>& keeper) {
  Callbacks result = callbacks(NanGuard());
  // There in any case, so that a resume may take another patience.
  const std::int64_t patience =
      setup.recipe.patience > 0 ? setup.recipe.patience : std::numeric_limits<std::int64_t>::max();
  result.push_back(std::make_shared<EarlyStopping>(EarlyStoppingOptions{.patience = patience}));
  if (!run.history.empty()) result.push_back(std::make_shared<Csv>(run.history));
  result.push_back(keeper);  // saves what the others remember
  result.insert(result.end(), run.watchers.begin(), run.watchers.end());
  return result;
}

}  // namespace

void VaeRecipe::check() const {
  if (n_draws < 4)
    throw core::InvalidArgument("models::VaeRecipe#too_few_draws", "expected at least 4 draws, got {}",
                                n_draws);
  if (!(validation_share > 0.0 && validation_share < 1.0))
    throw core::InvalidArgument("models::VaeRecipe#wrong_share",
                                "expected a share for validation between 0 and 1, got {}", validation_share);
  if (epochs < 1 || patience < 0)
    throw core::InvalidArgument("models::VaeRecipe#wrong_epochs",
                                "expected at least one epoch and a patience of 0 or more, got {} and {}",
                                epochs, patience);
  const auto n_training = static_cast<std::int64_t>(static_cast<double>(n_draws) * (1.0 - validation_share));
  if (batch_size < 2 || batch_size > n_training)
    throw core::InvalidArgument(
        "models::VaeRecipe#wrong_batch_size",
        "expected batches of 2 to {} draws, as many as there are for training, got {}", n_training,
        batch_size);
  if (shards < 1 || shards > batch_size)
    throw core::InvalidArgument("models::VaeRecipe#wrong_shards",
                                "expected 1 to {} shards of a batch, as many as it has draws, got {}",
                                batch_size, shards);
  if (!(learning_rate > 0.0 && std::isfinite(learning_rate)))
    throw core::InvalidArgument("models::VaeRecipe#wrong_learning_rate",
                                "expected a positive learning rate, got {}", learning_rate);
}

void check_run(const earths::Prior& prior, const VaeSetup& setup, const VaeRun& run) {
  check_options(prior, setup, run);
  if (run.begin == Begin::resume) check_same_setup(run.checkpoint, setup_text(prior, setup, run.data));
}

VaeTraining train_vae(const earths::Prior& prior, const VaeSetup& setup, const VaeRun& run) {
  check_run(prior, setup, run);
  const VaeDraws draws = make_draws(prior, setup.recipe.n_draws, setup.recipe.validation_share);
  const Vae net = new_net(setup, draws);
  const Loader training = training_loader(draws, setup);
  const Model model(net, loss_of(net, prior, setup, draws), adam_of(net, setup, training.n_batches()),
                    {.parallel = parallel_of(setup, run)});
  const auto keeper = std::make_shared<VaeKeeper>(
      setup.network, VaeKeeper::Options{.setup = setup_text(prior, setup, run.data),
                                        .checkpoint = run.checkpoint,
                                        .stop = run.stop,
                                        .epochs = setup.recipe.epochs});
  core::log::info("VAE: {} parameters, {} draws for training, {} for validation, {} steps per epoch",
                  net.n_parameters(), draws.training.size(), draws.validation.size(), training.n_batches());

  VaeTraining result;
  result.summary =
      model.fit(training, validation_loader(draws, setup),
                {.epochs = setup.recipe.epochs,
                 .callbacks = callbacks_of(setup, run, keeper),
                 .resume_from = run.begin == Begin::resume ? run.checkpoint : std::filesystem::path()});
  if (keeper->was_stopped()) return result;
  const VaeStatistics statistics = statistics_of(keeper->best(), draws);
  const VaeScores scores{keeper->best_epoch(), keeper->best_loss(), result.summary.n_epochs,
                         result.summary.n_steps, result.summary.why_stopped};
  result.vae.emplace(keeper->best(), prior.grid(), statistics,
                     card_of(prior, setup, run.data, statistics, scores));
  return result;
}

}  // namespace lodestone::models::vae
