// SPDX-License-Identifier: Apache-2.0
#include "io/run/train_folder.hpp"

#include "engine/core/error.hpp"
#include "io/run/output_folder.hpp"

#include <algorithm>
#include <array>

namespace lodestone::io::run {

namespace fs = std::filesystem;

void TrainFolder::prepare_new() const {
  io::run::make_folder(path_);
  const bool is_run = fs::exists(checkpoint()) || fs::exists(hdf5()) || fs::exists(safetensors());
  if (is_run)
    throw core::ConfigError("mt_invert",
                            "{}: a training is in this folder already; add --resume to go on with it, or "
                            "give another folder with -o",
                            path_.string());
  constexpr std::array left_by_others{"log.jsonl", "config.toml", "preview",
                                      "history.csv"};  // of a preview, or a training that failed early
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (std::ranges::find(left_by_others, entry.path().filename().string()) == left_by_others.end())
      throw core::ConfigError("mt_invert",
                              "{}: expected an empty folder for the training, got one with other files in it "
                              "({}); give another with -o",
                              path_.string(), entry.path().filename().string());
  }
}

void TrainFolder::require_checkpoint() const {
  if (!fs::exists(checkpoint()))
    throw core::FileError(
        "mt_invert",
        "{}: expected a checkpoint to resume from, got none; start the training without --resume",
        checkpoint());
}

}  // namespace lodestone::io::run
