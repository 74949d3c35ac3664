// SPDX-License-Identifier: Apache-2.0
// Small on purpose: every reader checks what it is about to open, whatever it needs besides.
#pragma once

#include <cstdint>
#include <string>

namespace lodestone::core {

/// Returns the size of a file in bytes, after making sure that it is a regular file or a symbolic link to
/// one. Opening a named pipe would wait for a writer without end, and a device may hold any number of bytes.
/// errors: FileError that names the path and what stands there.
std::uint64_t require_regular_file(const std::string& path);

}  // namespace lodestone::core
