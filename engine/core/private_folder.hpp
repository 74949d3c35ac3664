// SPDX-License-Identifier: Apache-2.0
// Small on purpose: code and measurements that a user keeps are trusted by the same rules.
// Folders and files of one user that nobody else may have changed.
#pragma once

#include <filesystem>
#include <string>

namespace lodestone::core {

/// Returns the folder for all that this program keeps between runs: "lodestone" in XDG_CACHE_HOME, else in
/// ".cache" of HOME; "" where neither names one.
[[nodiscard]] std::filesystem::path cache_folder();

/// Makes a folder, and the one above, where they are missing; nobody else may enter them. errors: FileError
/// for a path that is not absolute; where somebody else owns one of both, or may write one of them and put
/// another file or folder in its place; where the folder cannot be used.
void make_private_folder(const std::filesystem::path& folder);

enum class FolderWas : std::uint8_t { closed, open };
/// Makes a private folder, too, but takes the right to write into it from others where they have it. Returns
/// `open` then: what lies in it may be theirs. errors: as above.
[[nodiscard]] FolderWas close_folder(const std::filesystem::path& folder);

/// Returns why a file may be another's; "" for a regular file that this user owns and nobody else may write.
[[nodiscard]] std::string objection_to(const std::filesystem::path& file);

}  // namespace lodestone::core
