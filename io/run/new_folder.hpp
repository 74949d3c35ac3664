// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/log.hpp"

#include <filesystem>

namespace lodestone::io::run {

/// A folder that a run is about to make: unless `keep` is called, as when the run is refused, it is removed
/// again with the folders made above it and the log in it. One that was there stays, and so does one that
/// holds anything else.
class NewFolder {
 public:
  /// `format`: of the log that goes on without the file.
  NewFolder(std::filesystem::path path, core::log::Format format);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  void keep() { is_kept_ = true; }

 private:
  std::filesystem::path path_;
  std::filesystem::path first_;  ///< the uppermost that was not there; empty: all were
  core::log::Format format_;
  bool is_kept_ = false;
};

}  // namespace lodestone::io::run
