// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/mt/recipe.hpp"
#include "physics/mesh/cells.hpp"

#include <string>
#include <vector>

namespace lodestone::inversion::mt {

/// The models to start from and to stay near; log10 of ohm m, (n_cells).
struct StartModels {
  Eigen::VectorXd start, reference;
};

/// Makes the models on the cells of an earth. Warns of a model that stands on another surface.
[[nodiscard]] StartModels start_models(const ProblemOptions& options, const physics::mt::Observations& data,
                                       const physics::mesh::Earth& earth);

/// Holds the cells of regions at their resistivity (else that of the reference model) in both models. Cells
/// of held areas keep the reference model. Returns the others in order. errors: ConfigError when all cells
/// are held, a region holds none, or areas have another shape than the grid.
[[nodiscard]] std::vector<Eigen::Index> hold_cells(const std::vector<FixedRegion>& regions,
                                                   const std::optional<CellAreas>& areas,
                                                   const physics::mesh::Cells& cells, StartModels& models);

/// Logs how many faces each tear crosses and warns of parts outside the grid. errors: ConfigError when a tear
/// separates no two cells.
void check_tears(const std::vector<TearLine>& tears, const physics::mesh::Earth& earth);

/// Describes how surface and sea of a model differ from those of an earth within the sides of its grid. It
/// also states what becomes of the model's cells; "" where they agree within 1 m and 1 % of the resistivity
/// of the water.
[[nodiscard]] std::string difference_of_surfaces(const physics::mesh::Model& model,
                                                 const physics::mesh::Earth& earth);

}  // namespace lodestone::inversion::mt
