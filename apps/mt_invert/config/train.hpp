// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "models/vae/train_vae.hpp"

#include <string>
#include <vector>

namespace lodestone::mt_invert::config {

/// The format of a trained network.
enum class VaeFormat : std::uint8_t { hdf5, safetensors };
constexpr auto words(VaeFormat) {
  using enum VaeFormat;
  return core::Words<VaeFormat>{{hdf5, "hdf5"}, {safetensors, "safetensors"}};
}

/// Table [output] of a training.
struct TrainOutput {
  VaeFormat format = VaeFormat::hdf5;
  bool report = true, checkpoint = true;
};

/// A whole checked configuration of `mt_invert train`.
struct TrainConfig {
  std::string title;
  models::earths::Prior prior;
  models::vae::VaeSetup setup;
  TrainOutput output;
  std::string data;  ///< source of the draws: keys of [grid] and [prior] as given, and a comment for
                     ///< each section's content
  std::string toml;  ///< a configuration of the same training: these tables, and every other key with the
                     ///< value in force
};

/// Reads the file and the `key=value` assignments. errors: FileError, ConfigError with file:line (syntax,
/// unknown or contradictory keys, wrong types, ranges that are impossible); those of the sections a prior is
/// cut from.
[[nodiscard]] TrainConfig read_train_config(const std::string& path,
                                            const std::vector<std::string>& assignments = {});

}  // namespace lodestone::mt_invert::config
