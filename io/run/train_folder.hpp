// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace lodestone::io::run {

/// The folder a training writes into, and the names in it. Call its functions on one rank.
class TrainFolder {
 public:
  explicit TrainFolder(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string config() const { return (path_ / "config.toml").string(); }
  [[nodiscard]] std::string log() const { return (path_ / "log.jsonl").string(); }
  [[nodiscard]] std::string checkpoint() const { return (path_ / "checkpoint.safetensors").string(); }
  [[nodiscard]] std::string history() const { return (path_ / "history.csv").string(); }
  [[nodiscard]] std::string hdf5() const { return (path_ / "vae.h5").string(); }
  [[nodiscard]] std::string safetensors() const { return (path_ / "vae.safetensors").string(); }
  [[nodiscard]] std::string card() const { return (path_ / "card.json").string(); }
  [[nodiscard]] std::string report() const { return (path_ / "report.html").string(); }
  [[nodiscard]] std::filesystem::path preview() const { return path_ / "preview"; }

  /// Makes the folder for a new training. errors: FileError; ConfigError when something but a preview is in
  /// it already.
  void prepare_new() const;
  /// errors: FileError when there is no checkpoint to go on from.
  void require_checkpoint() const;

 private:
  std::filesystem::path path_;
};

}  // namespace lodestone::io::run
