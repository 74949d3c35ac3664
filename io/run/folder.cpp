// SPDX-License-Identifier: Apache-2.0
#include "io/run/folder.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <utility>

namespace lodestone::io::run {

namespace fs = std::filesystem;

namespace {

constexpr const char* log_name = "log.jsonl";

bool holds_only_the_log(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return !error && std::all_of(begin(entries), end(entries),
                               [](const auto& entry) { return entry.path().filename() == log_name; });
}

/// Returns the name of an entry that is none of those that a failed run leaves; "" when there is none.
std::string foreign_entry(const fs::path& folder, std::span<const char* const> left_by_others) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_empty_folder = fs::is_directory(entry.path()) && fs::is_empty(entry.path());
    const bool is_known =
        core::is_temporary_name(name) || std::ranges::find(left_by_others, name) != left_by_others.end();
    const bool is_of_a_run = is_empty_folder || fs::exists(folder / "iterations.csv");
    if (!is_known || (name == "vtk" && !is_of_a_run)) return name;
  }
  return {};
}

[[noreturn]] void throw_running(const fs::path& folder) {
  throw core::ConfigError(
      "io::run#running",
      "{}: another process is writing into this folder at the moment; wait for its end, or "
      "give another folder with -o",
      folder.string());
}

/// Checks that a checkpoint is there and is a file. `of`: the word for what made it.
void require_file(const std::string& checkpoint, const char* of) {
  const fs::file_status status = fs::status(checkpoint);
  if (!fs::exists(status))
    throw core::FileError("io::run#no_checkpoint",
                          "{}: expected a checkpoint to resume from, but the file does not exist; start the "
                          "{} without --resume",
                          checkpoint, of);
  if (!fs::is_regular_file(status))
    throw core::FileError("io::run#checkpoint_is_no_file",
                          "{}: expected a checkpoint to resume from, but this is no regular file; put the "
                          "checkpoint back, or start the {} in another folder",
                          checkpoint, of);
}

}  // namespace

void RunFolder::prepare_new() const {
  core::make_folder(path_);
  if (fs::exists(checkpoint()) || fs::exists(result()))
    throw core::ConfigError("io::run#run_exists",
                            "{}: a run is in this folder already; add --resume to go on with it, or give "
                            "another folder with -o",
                            path_.string());
  // by a run that failed early, or was killed before its first checkpoint
  constexpr std::array left_by_others{log_name, "config.toml", "vtk", "modem", "iterations.csv"};
  if (const std::string name = foreign_entry(path_, left_by_others); !name.empty())
    throw core::ConfigError("io::run#folder_in_use",
                            "{}: expected an empty folder for the results, got one with other files in it "
                            "({}); give another with -o",
                            path_.string(), name);
}

void RunFolder::require_checkpoint() const { require_file(checkpoint(), "run"); }

void RunFolder::require_result() const {
  if (!fs::exists(result()) && fs::exists(checkpoint()))
    throw core::FileError("io::run#unfinished_run",
                          "{}: expected the result of a finished run, but this one was stopped and has a "
                          "checkpoint alone; finish it with: mt_invert invert CONFIG.toml -o {} --resume",
                          result(), path_.string());
  if (!fs::exists(result()))
    throw core::FileError("io::run#no_result",
                          "{}: expected the result of a finished run, but there is none; give the folder of "
                          "a run (-o of invert), or for files of stations a folder for the report: -o DIR",
                          result());
}

void TrainFolder::prepare_new() const {
  core::make_folder(path_);
  if (fs::exists(checkpoint()) || fs::exists(hdf5()) || fs::exists(safetensors()))
    throw core::ConfigError("io::run#training_exists",
                            "{}: a training is in this folder already; add --resume to go on with it, or "
                            "give another folder with -o",
                            path_.string());
  constexpr std::array left_by_others{log_name, "config.toml", "preview",
                                      "history.csv"};  // of a preview, or a training that failed early
  if (const std::string name = foreign_entry(path_, left_by_others); !name.empty())
    throw core::ConfigError("io::run#folder_in_use",
                            "{}: expected an empty folder for the training, got one with other files in it "
                            "({}); give another with -o",
                            path_.string(), name);
}

void TrainFolder::require_checkpoint() const { require_file(checkpoint(), "training"); }

NewFolder::NewFolder(fs::path path, core::log::Format format)
    : path_(path.has_filename() ? std::move(path) : path.parent_path()), format_(format) {
  std::error_code error;
  for (fs::path at = path_; !at.empty() && !fs::exists(at, error); at = at.parent_path()) first_ = at;
}

NewFolder::~NewFolder() {
  if (is_kept_ || first_.empty() || !holds_only_the_log(path_)) return;
  core::log::configure({.format = format_});
  std::error_code error;  // what cannot be removed stays
  fs::remove(path_ / log_name, error);
  for (fs::path at = path_; fs::remove(at, error) && at != first_;) at = at.parent_path();
}

void NewFolder::open(const std::string& log, const std::function<void()>& check) {
  lock(log, fs::exists(log));
  try {
    check();
  } catch (
      const core::ConfigError&) {  // what stands there now may be another process's, which began meanwhile
    lock(log, fs::exists(log));
    throw;
  }
  lock(log, true);
  check();
  core::remove_all_leftovers(path_);
}

void NewFolder::lock(const std::string& log, bool now) {
  if (!now || lock_) return;
  lock_ = core::FileLock::take(log);
  if (lock_) return;
  is_kept_ = true;
  throw_running(path_);
}

std::optional<core::FileLock> lock_finished(const RunFolder& folder) {
  if (!fs::exists(folder.log())) return {};
  auto lock = core::FileLock::take(folder.log());
  if (!lock) throw_running(folder.path());
  return lock;
}

}  // namespace lodestone::io::run
