// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who trains needs not look into steps.
#pragma once

#include "engine/inspect/dry_run.hpp"
#include "engine/record/function.hpp"
#include "models/vae/train_vae.hpp"

#include <string>
#include <vector>

namespace lodestone::models::vae {

/// A step of a training as one function, for looking at it: loss, gradients and new weights of one batch.
struct VaeStep {
  Vae net;
  engine::Function f;     ///< function of `batch`; gives the loss and its three terms, and assigns `cells`
  engine::Tensors batch;  ///< draws [n, n_cells], log10 of ohm m; normal numbers [n, n_codes]
  std::vector<engine::NamedVariable> cells;  ///< those of network and optimizer, under their paths
};

/// Returns the first step of a training, on a batch of its draws. errors: those of `check_run` and of the
/// draws.
[[nodiscard]] VaeStep first_step(const earths::Prior& prior, const VaeSetup& setup);

/// Gives a step weights, statistics and moments of the checkpoint of a training. errors: FileError,
/// FormatError for another file, or that of another network.
void load_checkpoint(const VaeStep& step, const std::filesystem::path& checkpoint);

/// Returns what a training will need, for people: memory of a step and of the draws, work, and time. The
/// time is that of the steps alone: drawing and validation, a few per cent, are not in it. `options`: how
/// those of a step are found. errors: those of `first_step` and `engine::dry_run`.
[[nodiscard]] std::string announced_training(const earths::Prior& prior, const VaeSetup& setup,
                                             const engine::DryRunOptions& options = {});

}  // namespace lodestone::models::vae
