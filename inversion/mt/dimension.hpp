// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/mt/recipe.hpp"

#include <vector>

namespace lodestone::inversion::mt {

// The four places in which the recipe depends on the number of axes. Each is a switch over
// `options.dimension`; a dimension is added by a case in each. All else is shared.
//
// errors of all four: InvalidArgument `inversion::mt::problem#no_simulation` on a dimension without a case.

/// Returns the elements that the simulation predicts; data of others are masked.
[[nodiscard]] physics::mt::Elements predicted_elements(const ProblemOptions& options);

/// The ground under a survey, and the place of its coordinates on the map.
struct Place {
  physics::mt::Ground ground{};
  physics::mesh::Frame frame{};
};
/// Chooses the frame: sections lie along a profile, volumes under a map. errors: those of `ground_under`. For
/// volumes InvalidArgument when stations lie along a profile, or data have other axes than the map.
[[nodiscard]] Place place_of(const physics::mt::Observations& observed, const ProblemOptions& options);
/// Puts a survey on its profile, whatever the dimension.
[[nodiscard]] Place place_on_profile(const physics::mt::Observations& observed,
                                     const ProblemOptions& options);

/// Designs the cells, or takes those of the options, and logs them. errors: InvalidArgument when these have
/// another number of axes; those of `design_grid`.
[[nodiscard]] physics::mesh::TensorGrid grid_of(const physics::mt::Observations& data,
                                                const ProblemOptions& options);
/// Designs the cells of a section, whatever the dimension.
[[nodiscard]] physics::mesh::TensorGrid section_grid(const physics::mt::Observations& data,
                                                     const ProblemOptions& options);

/// Makes the forward maps on meshes that follow the model, with their cost and the tables of their meshes and
/// certificates. `distortion`: its numbers are among the unknowns.
[[nodiscard]] Forward forward_of(MPI_Comm comm, const physics::mesh::Earth& earth,
                                 const physics::mt::Observations& data,
                                 const physics::mt::DistortionUnknowns& distortion,
                                 const ProblemOptions& options);

}  // namespace lodestone::inversion::mt
