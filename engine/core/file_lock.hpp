// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a lock needs nothing else of the core.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace lodestone::core {

/// A lock on a file that one process at a time holds. It ends with the object or with the process, however
/// that ends, and leaves nothing behind but the file.
class FileLock {
 public:
  /// Takes the lock of a file, which is made when it is missing; nothing when another process, or another
  /// lock of this one, holds it. A file system without locks is told in a warning and counts as free. errors:
  /// FileError when the file cannot be opened for writing.
  [[nodiscard]] static std::optional<FileLock> take(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace lodestone::core
