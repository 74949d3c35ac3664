// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small on purpose: the pictures of a training stand apart from the command that trains.

#include "apps/mt_invert/config/train.hpp"
#include "io/run/folder.hpp"

namespace lodestone::mt_invert::commands {

/// Writes report and pictures of a trained network. errors: FileError, FormatError of the history.
void write_train_report(const io::run::TrainFolder& folder, const config::TrainConfig& config,
                        const models::vae::TrainedVae& vae);

/// Writes pictures of random draws: of the whole prior, and of each of its generators where there are
/// several. errors: FileError.
void write_preview(const io::run::TrainFolder& folder, const config::TrainConfig& config);

}  // namespace lodestone::mt_invert::commands
