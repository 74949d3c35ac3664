// SPDX-License-Identifier: Apache-2.0
#include "io/atomic_file.hpp"

#include "engine/core/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace lodestone::io {

namespace {

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.parent_path() / fmt::format(".{}.{}.part", path.filename().string(), ::getpid());
}

[[noreturn]] void fail(const std::filesystem::path& path, const char* doing, int code) {
  throw core::FileError("io", "{}: expected to be able to write, but {} failed ({}); check free space and permissions of the folder", path.string(),
                        doing, std::strerror(code));
}

/// Forces a file or folder to disk; false with errno on failure. Some file systems cannot sync folders: that is no failure.
bool sync_to_disk(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return false;
  }
  const int status = ::fsync(descriptor);
  const int code = errno;
  ::close(descriptor);
  errno = code;
  return status == 0 || code == EINVAL || code == EROFS;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    throw core::FileError("io", "{}: expected a file name to write to, got a folder; give a file inside it", path_.string());
  }
  const int descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    fail(path_, "creating a file there", errno);
  }
  ::close(descriptor);
}

AtomicFile::~AtomicFile() {
  if (!committed_) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
  }
}

void AtomicFile::commit() {
  if (!sync_to_disk(temporary_)) {
    fail(path_, "writing to disk", errno);
  }
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) {
    fail(path_, "renaming the finished file", error.value());
  }
  committed_ = true;
  sync_to_disk(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."));
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path)) {
    throw core::FileError("io", "{}: expected to be able to make this folder, got: {}; check the path and its permissions", path.string(),
                          error ? error.message() : "a file of that name stands there");
  }
}

}  // namespace lodestone::io
