// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mt/observations.hpp"

#include <string>
#include <vector>

namespace lodestone::io::modem {

enum class ModemScale { linear, loge, log10 };  ///< form of the resistivities
enum class ModemSign { plus, minus };           ///< e^{±iωt}
enum class ModemUnits { volt_per_metre_per_tesla, millivolt_per_kilometre_per_nanotesla, ohm };

/// Returns a ModEM 2-D model: y counts from the left edge of the grid (first edge 0), z from the level
/// surface. errors: FileError, FormatError with file:line (too few or too many numbers, widths that are not
/// positive, a 3-D model).
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

/// Writes widths and resistivities of a section; the grid's left edge becomes y = 0, so shift the data by
/// `ModemDataOptions::left_edge_m` too. Numbers keep all digits: reading back gives the same grid and, on the
/// linear scale, the same resistivities. errors: FileError; InvalidArgument when the surface is not flat.
void write_model(const std::string& path, const physics::mesh::Model& section,
                 ModemScale scale = ModemScale::loge);

struct ModemDataOptions {
  ModemSign sign = ModemSign::plus;
  ModemUnits units = ModemUnits::millivolt_per_kilometre_per_nanotesla;
  double left_edge_m = 0.0;  ///< y of the model's left edge in the survey's frame, subtracted from every y
  std::string comment = "transfer functions along a profile";
};

/// Reads the TE_Impedance, TM_Impedance and Tzy_Impedance blocks as rows and Rho_Phs_TM blocks as readings:
/// ohm, e^{+iωt}, phases of Zyx (not folded), y as in the file. Errors of 1e12 and more stand for none and
/// become NaN. Each complex datum's error stands on both parts; the phase of Rho_Phs_TM is folded by +180° in
/// files (and always for e^{+iωt}), which is undone. errors: FileError, FormatError with file:line (row with
/// another number of columns, unknown block, a 3-D file).
[[nodiscard]] std::vector<physics::mt::StationData> read_data(const std::string& path);

/// Writes the kept data as ModEM 2-D blocks; masked data are left out, a σ that is not positive is written as
/// 2e15. What was read from a file is read back bit for bit (ρₐ to rounding). errors: FileError;
/// InvalidArgument when there is no datum, a complex one has only one part, or Zxy is given as ρₐ and phase.
void write_data(const std::string& path, const physics::mt::Observations& data,
                const ModemDataOptions& options = {});

}  // namespace lodestone::io::modem
