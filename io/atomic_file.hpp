// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace lodestone::io {

/// A file that appears whole or not at all: written under a temporary name in the same folder, then renamed.
///
/// For libraries that write by name; texts go through io/text/text_file.hpp. The destructor removes the temporary file when `commit` was not reached.
class AtomicFile {
 public:
  /// Creates the empty temporary file. errors: FileError when the folder is missing or not writable.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The name to write to.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  /// Forces the bytes to disk and renames. errors: FileError (disk full, folder gone).
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  bool committed_ = false;
};

/// Makes a folder with its parents. errors: FileError.
void make_folder(const std::filesystem::path& path);

}  // namespace lodestone::io
