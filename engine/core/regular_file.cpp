// SPDX-License-Identifier: Apache-2.0
#include "engine/core/regular_file.hpp"

#include "engine/core/error.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace lodestone::core {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "none";
}

}  // namespace

std::uint64_t require_regular_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw FileError("io#no_file", "{}: expected a file, but there is none; check the path", path);
    throw FileError("io#not_opened", "{}: cannot be opened ({}); check the path and its permissions", path,
                    std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode))
    throw FileError("io#is_a_folder", "{}: expected a file, got a folder; name a file inside it", path);
  if (!S_ISREG(status.st_mode))
    throw FileError("io#no_regular_file",
                    "{}: expected a regular file, got {}; copy the data into a file and name that", path,
                    kind_of(status.st_mode));
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace lodestone::core
