// SPDX-License-Identifier: Apache-2.0
// Small on purpose: reading and writing are apart.
#pragma once

#include "physics/mt/holdings.hpp"

namespace lodestone::io::edi {

/// Returns a station as a SEG EDI file of impedances and tippers, in mV/km/nT and e^{+iωt}. Values are those
/// that were read, in their shortest form. errors: InvalidArgument for a station without a name or without
/// rows.
[[nodiscard]] physics::mt::Written text_of(const physics::mt::StationData& station);

}  // namespace lodestone::io::edi
