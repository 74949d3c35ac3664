// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/quad_mesh.hpp"
#include "physics/mesh/tensor_grid.hpp"
#include "physics/mt/survey.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// Rules from which forward meshes are made. Lengths in units of the local skin depth δ = √(2ρ/ωμ₀) unless said otherwise.
struct MeshDesignOptions {
  double cells_per_skin_depth = 10.0;   ///< at sites and inside conductors near them; larger = finer
  double growth = 1.2;                  ///< ratio of neighbouring cell sizes away from sites, the surface and contacts
  double side_padding = 6.0;            ///< skin depths of the longest period beyond the outermost site or contact
  double bottom_depth = 5.0;            ///< skin depths of the longest period
  double air_height = 6.0;              ///< of the widest lateral scale (TE)
  double band_ratio = 1.6;              ///< frequencies within this ratio share a mesh
  double coarsen = 1.0;                 ///< multiplies every cell size; the certificate and its tests use 0.5 and 4
  int refinements = 0;                  ///< each halves all cells
};

/// Default (0.5 %, 0.2°), fine (next), and a coarse set for inversion iterations (2 %, 0.6°).
enum class Accuracy { iteration, standard, fine };
[[nodiscard]] MeshDesignOptions design_options(Accuracy accuracy);

/// One mesh and the frequencies solved on it.
struct BandMesh {
  std::vector<int> frequencies;  ///< indices into the survey's list
  mesh::QuadMesh2D mesh;
  bool perfect_conductor_below = false;
};

/// The meshes of a survey: an input of Simulation2D.
struct MeshSet2D {
  std::vector<BandMesh> bands;
  [[nodiscard]] std::string summary() const;  ///< a line per band: periods, cells, unknowns TE and TM, extents
};

/// Designs the meshes from stations, periods, resistivities and topography. Deterministic, local (no MPI).
/// errors: InvalidArgument when a mesh would exceed 4 million nodes (says which rule asks for it).
[[nodiscard]] MeshSet2D design_meshes(const mesh::Section2D& section, const Survey2D& survey, const MeshDesignOptions& options = {});

}  // namespace lodestone::physics::mt
