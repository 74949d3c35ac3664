// SPDX-License-Identifier: Apache-2.0
// Small on purpose: programs that keep a checkpoint need neither sinks nor sources.
#pragma once

#include "engine/core/store.hpp"

#include <filesystem>

namespace lodestone::io::hdf5 {

/// Returns a store that keeps its arrays in an HDF5 file, which exists as a whole or not at all. Saving makes
/// the folder if needed and removes what killed processes left beside the file.
///
/// errors: `save` FileError when the folder cannot be written, `load` FileError when the file is missing,
/// FormatError when it is not HDF5.
[[nodiscard]] core::StorePtr store(std::filesystem::path path);

}  // namespace lodestone::io::hdf5
