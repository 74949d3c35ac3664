// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "engine/train/model.hpp"
#include "models/vae/trained_vae.hpp"
#include "models/vae/vae_loss.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace lodestone::models::vae {

enum class RateSchedule : std::uint8_t {
  constant,
  cosine,  ///< rises over the first epoch, falls to a hundredth at the end
};
constexpr auto words(RateSchedule) {
  using enum RateSchedule;
  return core::Words<RateSchedule>{{constant, "constant"}, {cosine, "cosine"}};
}

/// Duration, draws and rates of a training; the defaults are the published recipe.
struct VaeRecipe {
  std::int64_t n_draws = 60000;
  double validation_share = 0.2;
  std::int64_t epochs = 200, batch_size = 64;
  double learning_rate = 8e-4;  ///< rate of Adam
  RateSchedule schedule = RateSchedule::constant;
  std::int64_t patience =
      0;                   ///< epochs without a better validation loss, after which training stops; 0: never
  std::uint64_t seed = 1;  ///< seed of first weights, order and noise
  int shards = 1;          ///< parts of a batch, which fix the bits; as many ranks can train together

  /// Checks all values. errors: InvalidArgument that names the wrong one.
  void check() const;
};

struct VaeSetup {
  VaeOptions network;
  VaeLossOptions loss;
  VaeRecipe recipe;
};

enum class Begin : std::uint8_t { anew, resume };

/// The checkpoint, folder and stop request of one run of a training.
struct VaeRun {
  std::filesystem::path checkpoint = {};  ///< safetensors, after every epoch and when stopped; empty: none
  std::filesystem::path history = {};     ///< CSV, a row per epoch; empty: none
  Begin begin = Begin::anew;              ///< resume: go on from the checkpoint
  std::string data = {};  ///< origin of the draws, lines "key = value"; it goes into the card, and a resume
                          ///< must have the same
  std::function<bool()> stop =
      {};  ///< called after every step: true ends the training so that it can be resumed
  engine::Callbacks watchers = {};  ///< progress bars and the like, without state
  engine::World world = {};         ///< the ranks that train together; none: this process alone
};

struct VaeTraining {
  std::optional<TrainedVae>
      vae;  ///< network of the epoch with the best validation loss; none: stopped on request
  engine::FitSummary summary;
};

/// Checks that a training can run or resume, before anything is drawn or written; `train_vae` calls it
/// first. errors: InvalidArgument (options, more ranks than shards); ConfigError when a resume is of another
/// network, loss, recipe or prior; FileError, FormatError for the checkpoint.
void check_run(const earths::Prior& prior, const VaeSetup& setup, const VaeRun& run);

/// Trains a network on draws of a prior. The same arguments give the same bits on the same type of processor,
/// whatever the number of threads and ranks, resumed or not. Each rank makes all draws; rank 0 writes.
/// errors: those of `check_run`; InvalidArgument (draws that are not finite); SolverError for a loss that is
/// not finite. cost: 2 ms a step for the published network and batch.
[[nodiscard]] VaeTraining train_vae(const earths::Prior& prior, const VaeSetup& setup,
                                    const VaeRun& run = {});

}  // namespace lodestone::models::vae
