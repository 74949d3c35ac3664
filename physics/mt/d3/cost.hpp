// SPDX-License-Identifier: Apache-2.0
// Small on purpose: relative work and memory of meshes, for estimates above and beside the certificate.
#pragma once

#include "physics/mt/d3/mesh_design.hpp"

#include <vector>

namespace lodestone::physics::mt::d3 {

using mt::meshes_at;

/// Returns the relative work of the fields of both polarizations on a mesh: its edges, for the iterations
/// hardly depend on it. Only ratios of such numbers have a meaning.
[[nodiscard]] double work_of(const fem::EdgeGrid& grid);
/// Returns the work of one forward run of a survey, of all frequencies that have data. That of companions
/// counts where data are extrapolated.
[[nodiscard]] double work_of(const MeshSet& meshes, const Survey& survey);

/// Returns the rank that solves each unit, given the work of each, where those of a frequency follow each
/// other. The largest come first, each to the rank with the least work so far; both polarizations stay
/// together while that leaves no rank without work.
[[nodiscard]] std::vector<int> owners_of(const std::vector<double>& work, int n_ranks);

/// The units, (frequency, polarization), of one rank.
struct RankShare {
  int n_units = 0;
  double work = 0.0;  ///< edges of the meshes, once for each unit
};
/// Returns what each rank solves of a survey, of the frequencies that have data. A simulation shares its
/// units so.
[[nodiscard]] std::vector<RankShare> shares_of(const MeshSet& meshes, const Survey& survey, int n_ranks);

/// Returns the bytes that a simulation keeps of one frequency and polarization: the layered field, that on
/// the boundary with its source, and the solution.
[[nodiscard]] double kept_bytes(const fem::EdgeGrid& grid);
/// Returns the bytes of one frequency while it is solved, with what is kept of its polarizations.
/// `has_relief`: nodes of the mesh follow a surface.
[[nodiscard]] double solve_bytes(const fem::EdgeGrid& grid, bool has_relief);
/// Returns the bytes of the largest mesh of a set while it is solved.
[[nodiscard]] double largest_solve_bytes(const MeshSet& meshes);

}  // namespace lodestone::physics::mt::d3
