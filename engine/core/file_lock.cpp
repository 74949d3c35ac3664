// SPDX-License-Identifier: Apache-2.0
#include "engine/core/file_lock.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lodestone::core {
namespace {

constexpr mode_t readable_by_all = 0644;

/// Returns false when the file was removed, or replaced, between opening and locking it.
bool is_still_at(const std::string& path, int descriptor) {
  using FileStatus = struct stat;
  FileStatus there{}, here{};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(descriptor, &here) == 0 &&
         there.st_ino == here.st_ino && there.st_dev == here.st_dev;
}

}  // namespace

std::optional<FileLock> FileLock::take(const std::string& path) {
  while (true) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, readable_by_all);
    if (descriptor < 0)
      throw FileError("core::FileLock#not_opened", "{}: cannot open the file to lock it: {}", path,
                      std::strerror(errno));
    FileLock lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      if (is_still_at(path, descriptor)) return lock;
      continue;
    }
    if (errno == EWOULDBLOCK) return {};
    if (errno == EINTR) continue;
    log::warning("{}: the file system has no locks ({}); see to it that one process at a time writes there",
                 path, std::strerror(errno));
    return lock;
  }
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace lodestone::core
