// SPDX-License-Identifier: Apache-2.0
#include "io/run/new_folder.hpp"

#include <algorithm>
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

}  // namespace

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

}  // namespace lodestone::io::run
