// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one format.
#pragma once

#include "physics/mt/responses.hpp"

#include <filesystem>
#include <vector>

namespace lodestone::io::survey {

/// Writes responses of a forward run as arrays (periods, sites): groups `te` and `tm` with impedance,
/// apparent resistivity and phase (not folded), and the tipper in `te`; NaN where a response is not given.
/// errors: FileError; InvalidArgument when there is none.
void write_responses_hdf5(const std::filesystem::path& path,
                          const std::vector<physics::mt::Response>& responses);

}  // namespace lodestone::io::survey
