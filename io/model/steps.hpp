// SPDX-License-Identifier: Apache-2.0
// Small on purpose: internal to io/model, for formats that have cells alone.
#pragma once

#include "physics/mesh/earth.hpp"

namespace lodestone::io::model {

/// Returns a volume under a level surface, in which cells of air (1e12 ohm m) and of water stand for the
/// relief and the sea. Columns stay. Between the highest and the lowest point layers are as thick as the
/// first one, or a 60th of the relief. Below, they keep their thickness. Each cell has what is at its centre.
/// Requires a resistivity of a volume.
[[nodiscard]] physics::mesh::Model in_steps(const physics::mesh::Model& model);

}  // namespace lodestone::io::model
