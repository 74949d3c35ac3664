// SPDX-License-Identifier: Apache-2.0
#include "engine/core/private_folder.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace lodestone::core {
namespace {

namespace fs = std::filesystem;
using FileStatus = struct stat;

constexpr mode_t for_owner = 0700, by_others = 022;
constexpr uid_t root = 0;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw FileError("core::private_folder#unusable_folder", "{}: {}", folder.string(), why);
}
[[noreturn]] void refuse_open(const fs::path& folder, const fs::path& open) {
  refuse(folder,
         fmt::format("others may write {0}, and put another file or folder in its place; chmod go-w {0}",
                     open.string()));
}

/// Makes a folder and the one above, which nobody else may write. Returns the mode of the folder.
mode_t made(const fs::path& folder) {
  if (!folder.is_absolute())
    refuse(folder, "expected an absolute path of a folder, as XDG_CACHE_HOME or HOME give one");
  const fs::path parent = folder.parent_path();
  make_folder(parent.parent_path());
  FileStatus status{};
  for (const fs::path& each : {parent, folder}) {
    if (::mkdir(each.c_str(), for_owner) != 0 && errno != EEXIST) refuse(folder, std::strerror(errno));
    if (::stat(each.c_str(), &status) != 0) refuse(folder, std::strerror(errno));
    if (!S_ISDIR(status.st_mode)) refuse(folder, fmt::format("{} is no folder", each.string()));
    const bool is_own = status.st_uid == ::geteuid() || (each == parent && status.st_uid == root);
    if (!is_own) refuse(folder, fmt::format("somebody else owns {}", each.string()));
    if (each == parent && (status.st_mode & by_others) != 0) refuse_open(folder, each);
  }
  return status.st_mode;
}

void check_usable(const fs::path& folder) {
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) refuse(folder, std::strerror(errno));
}

}  // namespace

fs::path cache_folder() {
  const std::string caches = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (caches.starts_with('/')) return fs::path(caches) / "lodestone";
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "lodestone";
}

void make_private_folder(const fs::path& folder) {
  if ((made(folder) & by_others) != 0) refuse_open(folder, folder);
  check_usable(folder);
}

FolderWas close_folder(const fs::path& folder) {
  const bool was_open = (made(folder) & by_others) != 0;
  if (was_open && ::chmod(folder.c_str(), for_owner) != 0) refuse(folder, std::strerror(errno));
  check_usable(folder);
  return was_open ? FolderWas::open : FolderWas::closed;
}

std::string objection_to(const fs::path& file) {
  FileStatus status{};
  if (::lstat(file.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  if (status.st_uid != ::geteuid()) return "somebody else owns it";
  if ((status.st_mode & by_others) != 0) return "others may write it";
  return "";
}

}  // namespace lodestone::core
