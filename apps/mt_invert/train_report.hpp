// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config_train.hpp"
#include "apps/mt_invert/train_folder.hpp"

namespace lodestone::mt_invert {

/// Report and pictures of a trained network. errors: FileError, FormatError of the history.
void write_train_report(const TrainFolder& folder, const TrainConfig& config, const models::TrainedVae& vae);

/// Pictures of random draws: of the whole prior, and of each of its generators where there are several.
/// errors: FileError.
void write_preview(const TrainFolder& folder, const TrainConfig& config);

}  // namespace lodestone::mt_invert
