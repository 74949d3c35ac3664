// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace lodestone::io::run {

/// Makes a folder with its parents. errors: FileError.
void make_folder(const std::filesystem::path& path);

}  // namespace lodestone::io::run
