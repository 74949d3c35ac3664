// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what makes a file damaged does not depend on how its blocks are interpreted.
#pragma once

#include "io/edi/file.hpp"

namespace lodestone::io::edi {

/// Returns the remark of this kind that asks whether the file is damaged.
[[nodiscard]] physics::mt::Remark damaged(const std::string& text);

/// Remarks, as damage, on what a file announces and does not hold. Looks for >END, for counts of values and
/// frequencies, and for blocks without their partner: the other part of a complex number, the phase of an
/// apparent resistivity, an error that other elements have. Internal to io/edi.
void remark_on_damage(EdiFile& file);

}  // namespace lodestone::io::edi
