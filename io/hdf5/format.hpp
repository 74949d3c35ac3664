// SPDX-License-Identifier: Apache-2.0
// Small on purpose: shared by the formats, which do not share more.
#pragma once

#include "engine/core/array_io.hpp"

#include <string>
#include <vector>

namespace lodestone::io::hdf5 {

/// Writes the attributes of the root that state the format of a file and its version.
void write_header(core::ArraySink& sink, const std::string& format, int version);

/// Checks that a file has one of these formats in one of these versions, and returns its version. errors:
/// FormatError.
int require_format(const core::ArraySource& source, const std::string& path,
                   const std::vector<std::string>& formats, const std::vector<int>& versions);

}  // namespace lodestone::io::hdf5
