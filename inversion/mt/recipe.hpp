// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/mt/distortion.hpp"
#include "inversion/mt/forward.hpp"
#include "inversion/mt/soundings.hpp"
#include "physics/mesh/shapes.hpp"
#include "physics/mesh/tear.hpp"
#include "physics/mt/grid_design.hpp"
#include "physics/mt/ground.hpp"

#include <mpi.h>

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lodestone::inversion::mt {

/// The layered earths under the stations, side by side.
struct FromSoundings {};
/// A model to start from or to stay near: a half-space in ohm m, a model of another run, or the soundings.
using ModelSource = std::variant<double, physics::mesh::Model, FromSoundings>;

/// Cells that are no unknowns: those whose centres lie in a shape and between two depths.
struct FixedRegion {
  physics::mesh::Shape shape;
  std::optional<double> resistivity_ohm_m{};  ///< absent: that of the reference model
  std::string place{};                        ///< in a configuration, for messages
  physics::mesh::Interval z_m{};              ///< limits of an outline in plan
};

/// A tear with its place in a configuration, for messages.
struct TearLine {
  physics::mesh::Tear tear;
  std::string place{};
};

/// Areas of the cells: of a grid of this shape, in its order.
struct CellAreas {
  std::array<int, 3> shape{};  ///< (n_z, n_y, n_x)
  physics::mesh::Areas areas{};
  std::vector<int>
      held{};           ///< areas whose cells are no unknowns and keep the resistivity of the reference model
  std::string place{};  ///< in a configuration, for messages
};

/// The choices of `problem`.
struct ProblemOptions {
  int dimension = 2;  ///< axes of the earth (see dimension.hpp); `stitch_soundings` inverts soundings
  physics::mt::GridOptions grid{};
  std::optional<physics::mesh::TensorGrid> cells{};  ///< takes the place of a designed grid
  physics::mt::GroundOptions ground{};
  std::optional<physics::mesh::Sea> sea{};
  std::string sea_place{};  ///< in a configuration, for messages
  ModelSource start = 100.0;
  std::optional<ModelSource> reference{};  ///< absent: the start model
  SoundingOptions soundings{};
  std::vector<TearLine> tears{};
  std::vector<FixedRegion> fixed{};
  std::optional<CellAreas> areas{};
  DistortionOptions distortion{};
  ForwardOptions forward{};
};

/// Makes the inverse problem of a survey: ground, grid, start and reference model, held cells, forward maps
/// on meshes designed for each model, distortion, and the tables of the outcome. Logs its choices.
///
/// Data of elements that the simulation of this dimension does not predict are masked as `not_predicted`.
/// errors: InvalidArgument on a dimension without simulation, and when no usable datum is left; ConfigError
/// when a sea holds no water, or a tear or a fixed region misses the grid. Likewise when areas have another
/// shape than the grid, or no cell is free; those of `ground_under`, `design_grid`, `distortion_of` and the
/// soundings.
[[nodiscard]] Problem problem(MPI_Comm comm, const physics::mt::Observations& observed,
                              const ProblemOptions& options = {});

/// Inverts each station for a layered earth and puts the layers side by side as a section. The outcome also
/// holds the responses of the layered earths and a table of the soundings. Every rank computes all of it.
/// errors: those of `invert_soundings`. `about`: texts of the outcome.
[[nodiscard]] Outcome stitch_soundings(MPI_Comm comm, const physics::mt::Observations& observed,
                                       const ProblemOptions& options, About about = {});

}  // namespace lodestone::inversion::mt
