// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <filesystem>
#include <string>

namespace lodestone::mt_invert::method {

/// The folder a run writes into, and the names in it.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string config() const { return (path_ / "config.toml").string(); }
  [[nodiscard]] std::string checkpoint() const { return (path_ / "checkpoint.h5").string(); }
  [[nodiscard]] std::string ensemble() const { return (path_ / "ensemble.h5").string(); }
  [[nodiscard]] std::string iterations() const { return (path_ / "iterations.csv").string(); }
  [[nodiscard]] std::string result() const { return (path_ / "result.h5").string(); }
  [[nodiscard]] std::string section_csv() const { return (path_ / "section.csv").string(); }
  [[nodiscard]] std::string static_shifts() const { return (path_ / "static_shift.csv").string(); }
  [[nodiscard]] std::string soundings() const { return (path_ / "soundings.csv").string(); }
  [[nodiscard]] std::string log() const { return (path_ / "log.jsonl").string(); }
  [[nodiscard]] std::string vtk() const { return (path_ / "vtk").string(); }

  /// Makes the folder for a new run. errors: FileError; ConfigError when something is in it already.
  void prepare_new(MPI_Comm comm) const;
  /// errors: FileError when there is no checkpoint to go on from.
  void require_checkpoint(MPI_Comm comm) const;

 private:
  std::filesystem::path path_;
};

}  // namespace lodestone::mt_invert::method
