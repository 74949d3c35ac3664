// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/tensor_grid.hpp"

#include <optional>
#include <string>

namespace lodestone::mt_invert::method {

/// What a run puts under its stations, beside what a model file holds.
struct Ground {
  const physics::mesh::TensorGrid& grid;
  const physics::mesh::SurfaceLine& surface;
  const std::optional<physics::mesh::Sea>& sea;
};

/// How surface and sea of a model differ from the run's within the width of its grid, and what becomes of the
/// model's cells; "" where they agree within 1 m and 1 % of the water's resistivity.
[[nodiscard]] std::string difference_of_surfaces(const physics::mesh::Section2D& model, const Ground& ground);

}  // namespace lodestone::mt_invert::method
