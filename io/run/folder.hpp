// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/file_lock.hpp"
#include "engine/core/log.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace lodestone::io::run {

/// The folder a run writes into, and the names in it. Call its functions on one rank.
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
  [[nodiscard]] std::string soundings() const { return (path_ / "soundings.csv").string(); }
  [[nodiscard]] std::string log() const { return (path_ / "log.jsonl").string(); }
  [[nodiscard]] std::string vtk() const { return (path_ / "vtk").string(); }
  [[nodiscard]] std::string view() const { return (path_ / "view.py").string(); }
  [[nodiscard]] std::filesystem::path modem() const { return path_ / "modem"; }

  /// Makes the folder for a new run. errors: FileError; ConfigError when something is in it already.
  void prepare_new() const;
  /// Checks that there is a checkpoint to go on from. errors: FileError.
  void require_checkpoint() const;
  /// Checks that a finished run is in the folder. errors: FileError.
  void require_result() const;

 private:
  std::filesystem::path path_;
};

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
  /// Checks that there is a checkpoint to go on from. errors: FileError.
  void require_checkpoint() const;

 private:
  std::filesystem::path path_;
};

/// A folder that a run is about to make. Unless `keep` is called, it is removed again, with the folders made
/// above it and the log in it; a refused run does not call it. One that was there stays, and so does one that
/// holds anything else.
class NewFolder {
 public:
  /// `format`: of the log that goes on without the file.
  NewFolder(std::filesystem::path path, core::log::Format format);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  /// Makes this process the only one that writes into the folder as long as the object lives. Checks that the
  /// folder is fit for it. `log`: the file that is locked. errors: ConfigError when another process holds the
  /// lock, and the folder is its own then, and stays; those of `check`.
  void open(const std::string& log, const std::function<void()>& check);
  void keep() { is_kept_ = true; }

 private:
  /// Takes the lock, if `now`; errors: ConfigError when another process holds it.
  void lock(const std::string& log, bool now);

  std::filesystem::path path_;
  std::filesystem::path first_;  ///< the uppermost that was not there; empty: all were
  core::log::Format format_;
  bool is_kept_ = false;
  std::optional<core::FileLock> lock_{};
};

/// Locks the folder of a run that has ended, to write into it again; nothing where no log is left to lock.
/// errors: ConfigError `running` when the run goes on in another process.
[[nodiscard]] std::optional<core::FileLock> lock_finished(const RunFolder& folder);

}  // namespace lodestone::io::run
