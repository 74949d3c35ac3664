// SPDX-License-Identifier: Apache-2.0
// Small on purpose: private, goes with version 1.
#pragma once

#include "inversion/outcome.hpp"

namespace lodestone::io::run {

/// Reads a result of version 1, which knew magnetotelluric data of sections only. The meshes of the bands
/// become the rows of a table. errors: FormatError.
[[nodiscard]] inversion::Outcome read_version_1(const core::ArraySource& source);

}  // namespace lodestone::io::run
