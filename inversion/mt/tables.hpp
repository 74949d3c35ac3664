// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/mt/soundings.hpp"
#include "inversion/outcome.hpp"
#include "physics/mt/certificate.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/d3/mesh_design.hpp"
#include "physics/mt/observations.hpp"

#include <vector>

namespace lodestone::inversion::mt {

/// Returns the sites of an outcome: name, x_m (distance from the line), y_m, latitude_deg, longitude_deg,
/// elevation_m, definition of the fields.
[[nodiscard]] core::Table site_table(const std::vector<physics::mt::Station>& stations,
                                     const physics::mt::Profile& profile);
/// Returns the place of a profile on the map; the frame follows the stations where distances are running
/// sums.
[[nodiscard]] physics::mesh::Frame frame_of(const physics::mt::Profile& profile, double elevation_m);
/// Returns what a report states about data and profile: error floors, azimuth, origin, distances.
[[nodiscard]] core::Facts facts_of(const physics::mt::ErrorFloors& floors,
                                   const physics::mt::Profile& profile);

/// Returns a certificate as a table "certificate": check, where, rho_a_percent, phase_deg, the
/// tolerance of either, passed (1 or 0).
[[nodiscard]] NamedTable certificate_table(const physics::mt::Certificate& certificate);
/// Returns forward meshes as a table "meshes", a row per band: frequencies, columns, rows, sea, air, order,
/// depth_m, coarsened.
[[nodiscard]] NamedTable mesh_table(const physics::mt::d2::MeshSet& meshes);
/// Returns those of volumes: frequencies, cells along x, y and z, air, edges, depth_m, coarsened.
[[nodiscard]] NamedTable mesh_table(const physics::mt::d3::MeshSet& meshes);

/// Returns soundings as a table "soundings": site, y_m, rms, iterations, at_target (1 or 0).
[[nodiscard]] NamedTable sounding_table(const std::vector<SoundingModel>& models,
                                        const std::vector<physics::mt::Station>& stations);

/// Returns the data of an outcome by station and frequency, as pictures of magnetotelluric data show them;
/// nothing where the key of the data is that of another physics.
[[nodiscard]] std::optional<physics::mt::Observations> observations(const core::DataSet& data,
                                                                    const core::Table& sites);

}  // namespace lodestone::inversion::mt
