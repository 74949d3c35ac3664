// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/fem/quad_mesh.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mt/mesh_rules.hpp"
#include "physics/mt/survey.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt::d2 {

/// The factorization of the linear systems of a 2-D simulation.
enum class SystemSolver {
  lines,  ///< block elimination along the lines of the mesh, on all threads
  petsc,  ///< PETSc's LU in nested-dissection order, one system after the other; needs a PetscScope
};
constexpr auto words(SystemSolver) {
  using enum SystemSolver;
  return core::Words<SystemSolver>{{lines, "lines"}, {petsc, "petsc"}};
}

/// Rules from which forward meshes are made. δ = √(2ρ/ωμ₀) is the local skin depth at the band's highest
/// frequency. The penetration depth is where ∫dz/δ = 1 under a station at the band's lowest. r is the
/// distance of a contact (or interface, or kink of the surface) from the nearest station.
struct MeshDesignOptions {
  int order = 2;                      ///< order of the elements: 1 bilinear, 2 biquadratic
  double cells_per_skin_depth = 6.0;  ///< c = 1/this: cells of c·δ under stations and c·√(δ·max(δ, r)) at
                                      ///< conductors; the error falls with c²
  double contact_fraction = 0.05;  ///< cells of this times r at a contact of two decades and at the station
                                   ///< near it; larger at weaker contacts
  double least_contrast = 0.1;     ///< decades; weaker contacts and interfaces get no lines of their own, but
                                   ///< those of a smooth section add up to one; cell averages take the rest
  double line_spacing =
      0.1;  ///< contacts and interfaces get a line unless one lies closer than this share of a cell
  double growth = 1.4;         ///< ratio of neighbouring cell sizes away from stations and contacts
  double far_growth = 1.6;     ///< growth beyond three penetration depths, where cells affect stations little
  double side_padding = 30.0;  ///< penetration depths beyond the outermost station or contact
  double air_height = 30.0;    ///< penetration depths of air above the surface (TE)
  double bottom_depth = 5.0;   ///< skin depths (∫dz/δ) to the bottom; the half-space below is an exact
                               ///< condition for plane fields
  double band_ratio = 1.6;     ///< frequencies within this ratio share a mesh
  int max_nodes = 60'000;  ///< limit of one mesh (of its lattice of nodes for order 2); rules that need more
                           ///< are relaxed together (the certificate contains the cost)
  double coarsen = 1.0;    ///< multiplies every cell size; the certificate and its tests use it
  SystemSolver solver = SystemSolver::lines;  ///< solver of the systems on these meshes; changes no response
};

using mt::Accuracy;
/// Returns the rules of an accuracy: `standard` (0.5 %, 0.2°), `fine` (next), `iteration` (2 %, 0.57°).
[[nodiscard]] MeshDesignOptions design_options(Accuracy accuracy);

/// One mesh and the frequencies solved on it.
struct BandMesh {
  std::vector<int> frequencies;  ///< indices into the survey's list
  fem::QuadMesh mesh;
  bool perfect_conductor_below = false;
  int order = 1;                       ///< order of the elements: 1 bilinear, 2 biquadratic
  double sea_resistivity_ohm_m = 0.0;  ///< resistivity of the mesh's rows of sea, if any
  double coarsened = 1.0;  ///< cell sizes over those of the rules: more than 1 where `max_nodes` ruled, less
                           ///< where a station needed smaller ones
};

/// The meshes of a survey: an input of Simulation.
struct MeshSet {
  std::vector<BandMesh> bands;
  SystemSolver solver = SystemSolver::lines;
  [[nodiscard]] std::string summary()
      const;  ///< a line per band: periods, cells, unknowns TE and TM, extents
};

/// Designs the mesh of frequencies that share one, highest first, given by their indices. `sizes`: cells over
/// those of the rules by station of the survey, all 1 by default; a place has that of the nearest station,
/// and rows have the least of all. errors: as `design_meshes`.
[[nodiscard]] BandMesh design_band(const mesh::Model& model, const Survey& survey,
                                   std::vector<int> frequencies, const MeshDesignOptions& options,
                                   const std::vector<double>& sizes = {});

/// Designs the meshes from stations, periods, resistivities and topography. Deterministic, local (no MPI).
/// errors: InvalidArgument unless the model is a resistivity of a section; when even sizes 100 times those
/// required need more than `max_nodes`.
[[nodiscard]] MeshSet design_meshes(const mesh::Model& model, const Survey& survey,
                                    const MeshDesignOptions& options = {});

}  // namespace lodestone::physics::mt::d2
