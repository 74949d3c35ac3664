// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lodestone::core {

/// A file written under a temporary name in the same folder; `commit` puts it in its place, so that readers
/// see the old file or the new one. Without `commit` (an exception on the way) the temporary file is removed
/// and an older file stays.
class AtomicFile {
 public:
  /// Opens the temporary file. A link is followed. errors: FileError when the folder is missing or cannot be
  /// written, or something that is no regular file has this name.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Returns the path to write to, by any library; it keeps the ending of the final name.
  [[nodiscard]] const std::string& temporary_path() const { return temporary_; }
  /// Forces the bytes to disk and renames. errors: FileError.
  void commit();

 private:
  std::string path_, temporary_;
};

/// Writes the whole file through an `AtomicFile`. errors: FileError (also when the disk is full).
void write_file(const std::string& path, std::string_view bytes);
/// Writes bytes in several pieces, one after the other, in the same way.
void write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces);

/// Finds out whether `write_file(path, …)` can succeed, so that an error comes before the work and not after
/// it: the folder must take a file of so many bytes. errors: FileError.
void check_room(const std::string& path, std::size_t bytes);

/// Makes a folder with its parents. errors: FileError.
void make_folder(const std::filesystem::path& path);

/// Removes the temporary files that processes which were killed while writing `path` have left beside it. For
/// files that are written again and again.
void remove_leftovers(const std::string& path);
/// Returns whether an `AtomicFile` may have given a file of this name (without folders) its temporary name.
[[nodiscard]] bool is_temporary_name(const std::string& name);
/// Removes all temporary files in a folder that processes which are gone have left.
void remove_all_leftovers(const std::filesystem::path& folder);

}  // namespace lodestone::core
