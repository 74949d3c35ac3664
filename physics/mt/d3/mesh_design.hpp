// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/fem/edge_grid.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mt/mesh_rules.hpp"
#include "physics/mt/survey.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt::d3 {

/// Rules from which forward meshes are made. δ = √(2ρ/ωμ₀) is the local skin depth at the band's highest
/// frequency; the penetration depth is where ∫dz/δ = 1 under a station at the band's lowest.
struct MeshDesignOptions {
  double cells_per_skin_depth = 5.0;  ///< at stations, and at contacts of conductors within their skin depth
  double first_layer = 0.06;          ///< thickness of layers over δ, at the surface and at interfaces
  double layer_growth = 1.13;         ///< ratio of neighbouring layers
  double growth = 1.2;                ///< ratio of neighbouring columns away from stations and contacts
  double air_growth = 2.0;            ///< ratio of neighbouring layers of air
  double contact_share = 0.03;   ///< cells at a contact are at most this times its distance from a station
  double least_contrast = 0.15;  ///< decades; weaker contacts get no lines of their own
  double side_padding = 5.0;     ///< penetration depths beyond the outermost station or contact
  double bottom_depth = 6.0;     ///< skin depths (∫dz/δ) to the bottom, where E = 0
  double air_height = 5.0;       ///< penetration depths of air
  double band_ratio = 3.0;       ///< frequencies within this ratio share a mesh
  double max_edges = 2e6;        ///< limit of one mesh; rules that need more are relaxed together
  double coarsen = 1.0;          ///< multiplies every cell size
  /// Lines of the parameter grid beside stations are lines of the mesh, whatever the contrast across them,
  /// and contacts get no smaller cells. Meshes then hardly depend on the model: no step of an inversion makes
  /// contacts that they do not hold. `max_edges` thins these lines only where relaxing all else does not do.
  bool along_cells = false;
  /// The meshes are the parameter grid, with air above it and larger cells beyond an end that is too near, at
  /// all frequencies. Fields are linear between edges, across contacts as well, as in common codes of finite
  /// differences on one grid. Other rules for sizes do not count.
  bool only_cells = false;
  bool extrapolate = false;  ///< data are extrapolated from these meshes and their companions
};

using mt::Accuracy;
/// Returns the rules of an accuracy: `standard` (1.5 %, 0.7°), `fine` (1 %, 0.3°), `iteration` (coarse).
[[nodiscard]] MeshDesignOptions design_options(Accuracy accuracy);

/// One mesh and the frequencies solved on it. Its z lines count from the surface.
struct BandMesh {
  std::vector<int> frequencies;  ///< indices into the survey's list
  fem::EdgeGrid grid;
  double coarsened = 1.0;  ///< cell sizes over those of the rules, more than 1 where `max_edges` ruled
  /// True depth of each node where the surface has a relief or there is a sea, nothing where it is level.
  Eigen::VectorXd node_z_m{};
  int n_sea = 0;           ///< layers above the surface that hold the sea; on land they are air
  bool is_linear = false;  ///< fields at stations are linear between edges, across contacts as well
  [[nodiscard]] bool has_relief() const { return node_z_m.size() > 0; }  ///< or a sea
  /// Returns the line along z that is the surface. errors: InvalidArgument when none is.
  [[nodiscard]] int ground() const;
};

/// The meshes of a survey: an input of Simulation.
struct MeshSet {
  std::vector<BandMesh> bands;
  /// Resistivities of the parameter cells by which the meshes were designed. The fields on the boundary are
  /// those of this model, whatever the simulation is evaluated at.
  Eigen::VectorXd design_resistivity_ohm_m;
  /// Data are (4 d − d')/3 of the responses d on these meshes and d' on their companions.
  bool is_extrapolated = false;
  [[nodiscard]] std::string summary() const;  ///< a line per band: frequencies, cells, edges, extents
};

/// Designs the meshes from stations, periods and resistivities. Deterministic, local (no MPI). errors:
/// InvalidArgument unless the model is a resistivity of a volume; when even sizes 30 times
/// those required need more than `max_edges`.
[[nodiscard]] MeshSet design_meshes(const mesh::Model& model, const Survey& survey,
                                    const MeshDesignOptions& options = {});
/// Returns the meshes with every second line, whose responses differ from those of `meshes` by about three
/// times the error of these. The surface stays a line.
[[nodiscard]] MeshSet companions(const MeshSet& meshes);

/// Checks that an earth is a volume. errors: InvalidArgument, with `component` as its source.
void require_volume(const mesh::Earth& earth, std::string_view component);

}  // namespace lodestone::physics::mt::d3
