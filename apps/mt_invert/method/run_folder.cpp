// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/run_folder.hpp"

#include "apps/mt_invert/commands/rank_zero.hpp"
#include "engine/core/error.hpp"

namespace lodestone::mt_invert::method {

namespace fs = std::filesystem;

namespace {

/// True when the folder holds at most what a run leaves that failed before its first model.
bool is_fresh(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename();
    if (name != "log.jsonl" && name != "config.toml" && name != "vtk") return false;
    if (name == "vtk" && !fs::is_empty(entry.path())) return false;
  }
  return true;
}

}  // namespace

void RunFolder::prepare_new(MPI_Comm comm) const {
  commands::on_rank_zero(comm, [&] {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error || !fs::is_directory(path_)) {
      throw core::FileError(
          "mt_invert",
          "{}: expected to be able to make this folder, got: {}; check the path and its permissions",
          path_.string(), error ? error.message() : "a file of that name stands there");
    }
    if (fs::exists(checkpoint()) || fs::exists(result())) {
      throw core::ConfigError("mt_invert",
                              "{}: a run is in this folder already; add --resume to go on with it, or give "
                              "another folder with -o",
                              path_.string());
    }
    if (!is_fresh(path_)) {
      throw core::ConfigError("mt_invert",
                              "{}: expected an empty folder for the results, got one with other files in it; "
                              "give another with -o",
                              path_.string());
    }
  });
}

void RunFolder::require_checkpoint(MPI_Comm comm) const {
  commands::on_rank_zero(comm, [&] {
    if (!fs::exists(checkpoint())) {
      throw core::FileError(
          "mt_invert", "{}: expected a checkpoint to resume from, got none; start the run without --resume",
          checkpoint());
    }
  });
}

}  // namespace lodestone::mt_invert::method
