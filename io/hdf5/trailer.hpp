// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the checksum is the same for every file, and needs no HDF5.
#pragma once

#include <span>
#include <string>

namespace lodestone::io::hdf5 {

/// Returns the line that follows the last byte of HDF5 in our files: it states the CRC-32C of all bytes
/// before it. HDF5 ignores what follows its own bytes, and removes it when another program changes the file.
[[nodiscard]] std::string trailer_of(std::span<const char> bytes);

/// Compares a file with its trailer; a file without one, which was written or changed by another program,
/// passes. errors: FileError when the file cannot be read, FormatError when the checksums differ.
void require_unchanged(const std::string& path);

/// Checks that a file has the trailer, as state has that only our programs write. errors: FormatError.
void require_trailer(const std::string& path);

}  // namespace lodestone::io::hdf5
