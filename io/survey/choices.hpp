// SPDX-License-Identifier: Apache-2.0
// Small on purpose: which readers take which choice is one table.
#pragma once

#include "io/survey/read.hpp"

#include <string>
#include <vector>

namespace lodestone::io::survey {

/// Refuses a choice of the command line or a configuration that the reader of no file takes. Warns where some
/// files do not take the sign or the units that are given: they go by what they state. Files of unknown kinds
/// do not count. errors: ConfigError with the option and the first such file.
void require_taken(const std::vector<std::string>& files, const ReadOptions& options);

}  // namespace lodestone::io::survey
