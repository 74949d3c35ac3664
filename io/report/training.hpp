// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/network_picture.hpp"
#include "models/vae/train_vae.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// The texts of a training beside its network.
struct TrainingTexts {
  std::string title, configuration_toml;
  std::string history;  ///< path of the table that the training wrote
};

/// Reads the table that a training writes, a row per epoch. errors: FileError; FormatError (a column is
/// missing).
[[nodiscard]] std::vector<TrainingEpoch> read_training_history(const std::string& path);

/// Writes report and pictures of a trained network into a folder; the prior gives the validation draws.
/// errors: FileError; FormatError of the history.
void write_training_report(const std::filesystem::path& folder, const TrainingTexts& texts,
                           const models::earths::Prior& prior, const models::vae::VaeRecipe& recipe,
                           const models::vae::TrainedVae& vae);

/// Writes pictures of random draws into a folder, which it makes: of the whole prior, and of each of its
/// generators where there are several. errors: FileError.
void write_prior_preview(const std::filesystem::path& folder, const std::string& title,
                         const models::earths::Prior& prior);

}  // namespace lodestone::io::report
