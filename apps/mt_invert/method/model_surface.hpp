// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"

#include <string>

namespace lodestone::mt_invert::method {

/// Describes how surface and sea of a model differ from the run's within the width of the run's grid, and
/// what becomes of the model's cells; "" where they agree within 1 m and 1 % of the water's resistivity.
[[nodiscard]] std::string difference_of_surfaces(const physics::mesh::Model& model,
                                                 const physics::mesh::Earth& ground);

}  // namespace lodestone::mt_invert::method
