// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/optimizer.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mesh/surface.hpp"
#include "physics/mesh/tensor_grid.hpp"
#include "physics/mt/observations.hpp"
#include "physics/mt/sounding.hpp"

#include <optional>
#include <vector>

namespace lodestone::inversion::mt {

/// The 1-D inversions of single stations.
struct SoundingOptions {
  physics::mt::SoundingMode mode = physics::mt::SoundingMode::average;
  optimize::StopRulesOf<20> stop{};
};

/// The layered earth under one station: the smoothest whose sounding fits.
struct SoundingModel {
  int station = 0;                    ///< index into the survey's stations
  Eigen::VectorXd log10_resistivity;  ///< (n_z) of the grid's rows, counted from the surface
  double rms = 0.0;                   ///< rms of the sounding
  int iterations = 0;
  bool at_target = false;
};

/// Returns true where a station has data of the mode that the options name.
[[nodiscard]] bool has_soundings(const SoundingOptions& options, const physics::mt::Observations& data);

/// Inverts each station's sounding with the rows of the grid as layers (Occam, roughness per decade of
/// depth); stations without data are left out and reported. errors: InvalidArgument when no station has data.
/// Every rank computes all of them.
[[nodiscard]] std::vector<SoundingModel> invert_soundings(const SoundingOptions& options,
                                                          const physics::mt::Observations& data,
                                                          const physics::mesh::TensorGrid& grid);

/// Returns the models as a section or a volume, log10 resistivity at the same depth below the surface.
///
/// A section is interpolated along the profile, constant beyond the outermost stations. In a volume each
/// station counts by the inverse square of its distance. shape: (n_cells). errors: InvalidArgument unless the
/// grid has the axes y and z. source: Shepard 1968, ACM National Conference, 517.
[[nodiscard]] Eigen::VectorXd stitched(const std::vector<SoundingModel>& models,
                                       const std::vector<physics::mt::Station>& stations,
                                       const physics::mesh::TensorGrid& grid,
                                       const physics::mesh::Surface& surface);

/// Returns a section as rough as those that fit data of both modes usually are, for estimates of cost: the
/// soundings of both modes side by side, without a line in the log; nothing where none can be inverted. How
/// far columns lean to a mode was fitted: the estimated memory of six runs of the examples is met within a
/// factor of 1.4. shape: (n_cells).
[[nodiscard]] std::optional<Eigen::VectorXd> likely_section(SoundingOptions options,
                                                            const physics::mt::Observations& data,
                                                            const physics::mesh::Earth& earth);

/// Returns responses of the layered earths, each at its station; the tipper of a layered earth is 0, and NaN
/// stands where a station has no model. shape: (survey.keys.size()).
[[nodiscard]] Eigen::VectorXd responses_of(const std::vector<SoundingModel>& models,
                                           const physics::mt::Survey& survey,
                                           const physics::mesh::TensorGrid& grid);

}  // namespace lodestone::inversion::mt
