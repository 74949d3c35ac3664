// SPDX-License-Identifier: Apache-2.0
// Small on purpose: internal to io/model, shared by TOML and XYZ.
#pragma once

#include "engine/core/options.hpp"
#include "io/model/read.hpp"

#include <string>

/// Models given cell by cell. Internal to io/model.
namespace lodestone::io::model {

/// Reads the edges of `[cells]` with `depth_reference`, `[surface]` and `[sea]`. errors: ConfigError with
/// file:line (edges that do not increase, edges along x without `dimension = 3`).
[[nodiscard]] physics::mesh::Earth read_cell_earth(const core::Options& root);
/// Reads the earth and a number for each cell, `resistivity_ohm_m` or `log10_resistivity`, in the order of
/// `TensorGrid`. errors: ConfigError with file:line (another number of values, a value out of range).
[[nodiscard]] physics::mesh::Model read_cell_model(const core::Options& root);
/// Reads the place on the map, `[frame]`; a frame without a place where there is none. errors: ConfigError
/// with file:line.
[[nodiscard]] physics::mesh::Frame read_frame_table(const core::Options& root);

/// Returns the TOML text of edges, surface, sea and place, without values. A line of bends is left out.
[[nodiscard]] std::string geometry_toml(const PlacedModel& placed);
/// Returns the TOML text of a model, whose values stand in the scale of the model. errors: InvalidArgument
/// unless it is a resistivity of a section or volume.
[[nodiscard]] std::string model_toml(const PlacedModel& placed);

}  // namespace lodestone::io::model
