// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/comparison.hpp"
#include "engine/core/table.hpp"
#include "physics/mt/benchmarks/published_model.hpp"
#include "physics/mt/benchmarks/published_volume.hpp"
#include "physics/mt/d3/mesh_design.hpp"
#include "physics/mt/element.hpp"

#include <mpi.h>

#include <string>
#include <vector>

// Tables are those of data/benchmarks, where a README states their columns. errors of all: InvalidArgument
// for a table without a column that is needed.
namespace lodestone::physics::mt::benchmarks {

/// Compares the impedances of layered earths with a table, by 1e-6 of their size. Its resistivities and
/// thicknesses are numbers with blanks between them. errors: also InvalidArgument where they are not.
[[nodiscard]] std::vector<core::Comparison> compare_layered(const core::Table& reference);

/// Compares ρₐ and phase of layered earths, solved as volumes, with such a table: both off-diagonal
/// impedances at every other decade of 1 ms to 10 000 s. Limits: 0.5 % and 0.2°, fine 0.25 % and 0.1°.
/// collective.
[[nodiscard]] std::vector<core::Comparison> compare_layered_volumes(MPI_Comm comm,
                                                                    const core::Table& reference,
                                                                    Accuracy accuracy);

/// Compares ρₐ, phase and tipper of a section with a table that gives them at sites, in both modes, for
/// horizontal and for slope-parallel fields. collective.
[[nodiscard]] std::vector<core::Comparison> compare_responses(MPI_Comm comm, const PublishedModel& model,
                                                              const core::Table& reference,
                                                              d2::Accuracy accuracy);

/// Compares the real and the imaginary part of a tipper with its reference, absolutely. sign: e^{+iωt}, z
/// down.
[[nodiscard]] std::vector<core::Comparison> compare_tipper(const std::string& what, Complex reference,
                                                           Complex ours, double limit);

/// Compares d ln ρₐ/d ln σ and dφ/d ln σ of COMMEMI 2D-1 with a table of one period; σ is that of the whole
/// host (region 1) or of the whole block (region 2). collective.
[[nodiscard]] std::vector<core::Comparison> compare_sensitivities(MPI_Comm comm, const mesh::Model& section,
                                                                  const core::Table& reference,
                                                                  d2::Accuracy accuracy);

/// Compares ρₐ and phase of Zxy and Zyx with a table of sites on the map, and the tipper where it has one.
/// Values that two meshes of the reference leave uncertain by more than the limit are shown, not judged
/// (`relchange_Zxy_between_meshes`). Larger spreads of several codes replace a limit: of the value
/// (`rho_xy_relspread`, `phase_xy_spread_deg`), or where the table has a second code (`rho_xy_other_ohm_m`,
/// `phase_xy_other_deg`), its largest difference from the first at that period. collective.
[[nodiscard]] std::vector<core::Comparison> compare_volume(MPI_Comm comm, const PublishedVolume& model,
                                                           const core::Table& reference,
                                                           const d3::MeshDesignOptions& rules);

}  // namespace lodestone::physics::mt::benchmarks
