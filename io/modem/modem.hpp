// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mt/observations.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::modem {

enum class ModemScale { linear, loge, log10 };  ///< form of the resistivities
constexpr auto words(ModemScale) {
  using enum ModemScale;
  return core::Words<ModemScale>{{linear, "linear"}, {loge, "loge"}, {log10, "log10"}};
}
enum class ModemSign { plus, minus };  ///< e^{±iωt}
enum class ModemUnits { volt_per_metre_per_tesla, millivolt_per_kilometre_per_nanotesla, ohm };

/// The content of a model file.
struct ModemModel {
  physics::mesh::Model model;  ///< a section or a volume under a level surface
  ModemScale scale = ModemScale::linear;
  double rotation_deg = 0.0;       ///< last number of a 3-D file, which ModEM itself does not use
  bool has_stated_origin = false;  ///< false: the columns of a volume are centred about x = y = 0
  long n_air = 0;                  ///< cells of more than the largest resistivity, which they got
};

/// Reads a ModEM model. 2-D: y counts from the left edge of the grid (first edge 0), z from the level
/// surface. 3-D: x north, y east in the coordinates of the origin line; its z is the level of the surface,
/// from which layers count. errors: FileError, FormatError with file:line (too few or too many numbers,
/// widths that are not positive).
[[nodiscard]] ModemModel read_model_file(const std::string& path);
/// Returns the model alone, with a warning in the log on air cells, and on a rotation, which has no effect.
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

/// Writes widths and resistivities of a section or a volume. The left edge of a section becomes y = 0, so
/// shift the data by `ModemDataOptions::left_edge_m` too; a volume has its origin line. Numbers keep all
/// digits: reading back gives the same grid and, on the linear scale or of what was read before, the same
/// resistivities. errors: FileError; InvalidArgument when the surface is not level or a sea is above it.
void write_model(const std::string& path, const physics::mesh::Model& model,
                 ModemScale scale = ModemScale::loge, double rotation_deg = 0.0);

struct ModemDataOptions {
  ModemSign sign = ModemSign::plus;
  ModemUnits units = ModemUnits::millivolt_per_kilometre_per_nanotesla;
  double left_edge_m = 0.0;  ///< y of the model's left edge in the survey's frame, subtracted from every y
  /// 2 or 3; absent: 3 where the stations have a local frame, as those of 3-D files have.
  std::optional<int> dimension{};
  std::string comment = "transfer functions along a profile";
};

/// Reads 2-D blocks (TE_Impedance, TM_Impedance, Tzy_Impedance, Rho_Phs_TM) or 3-D blocks (Full_Impedance,
/// Off_Diagonal_Impedance, Full_Vertical_Components, Full_Interstation_TF, Off_Diagonal_Rho_Phase,
/// Phase_Tensor), complex data as rows and real ones as readings: ohm, e^{+iωt}, phases of Zyx (not folded),
/// places as in the file. A reference of inter-station functions is a station, too, if only with its place.
///
/// Errors of 1e12 and more stand for none and become NaN. Each complex datum's error stands on both parts;
/// the phase of Zyx is folded by +180° in files, which is undone. Stations of 3-D files have a local frame.
/// errors: FileError, FormatError with file:line (row with another number of columns, unknown block).
[[nodiscard]] std::vector<physics::mt::StationData> read_data(const std::string& path);

/// Writes the kept data as ModEM blocks; masked data are left out, a σ that is not positive is written as
/// 2e15. What was read from a file is read back bit for bit. errors: FileError;
/// InvalidArgument when there is no datum, a complex one has only one part, or the format has no block for
/// it.
void write_data(const std::string& path, const physics::mt::Observations& data,
                const ModemDataOptions& options = {});

}  // namespace lodestone::io::modem
