// SPDX-License-Identifier: Apache-2.0
#include "io/run/output_folder.hpp"

#include "engine/core/error.hpp"

#include <system_error>

namespace lodestone::io::run {

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  std::error_code ignored;
  if (error || !std::filesystem::is_directory(path, ignored)) {
    throw core::FileError(
        "io", "{}: expected to be able to make this folder, got: {}; check the path and its permissions",
        path.string(), error ? error.message() : "a file of that name stands there");
  }
}

}  // namespace lodestone::io::run
