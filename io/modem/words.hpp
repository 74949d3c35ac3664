// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/modem/modem.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Words of ModEM headers. Internal to io/modem, except that io/info names what it finds.
namespace lodestone::io::modem {

enum class ModemBlockKind { te, tm, tzy, rho_phase_tm };

/// Returns the 2-D block a "> …" line names; empty when it is none.
[[nodiscard]] std::optional<ModemBlockKind> modem_block_kind(std::string_view name);
[[nodiscard]] std::string_view name_of(ModemBlockKind kind);
/// Tests whether rows of a block may have this component.
[[nodiscard]] bool is_component(ModemBlockKind kind, std::string_view name);
/// Returns the sign of "exp(+i\\omega t)" in whatever spelling; empty where the text has none, or both.
[[nodiscard]] std::optional<ModemSign> modem_sign(std::string_view text);
/// Returns true for the block types of 3-D files.
[[nodiscard]] bool is_modem_3d_block(std::string_view name);
[[nodiscard]] std::optional<ModemUnits> modem_units(std::string_view text);
[[nodiscard]] std::string_view name_of(ModemUnits units);
[[nodiscard]] std::string_view short_name_of(ModemUnits units);  ///< "V/m/T", "mV/km/nT", "ohm"
[[nodiscard]] double ohm_per(ModemUnits units);

/// The head of the first block of a ModEM data file; empty when the bytes are no such file.
struct ModemDataHead {
  std::string type, sign, units;
};
[[nodiscard]] std::optional<ModemDataHead> modem_data_head(std::string_view bytes);

/// The first line of a ModEM model; empty when the bytes are no such file.
struct ModemModelHead {
  int dimensions = 0;  ///< 2 or 3
  int n_x = 1, n_y = 0, n_z = 0;
};
[[nodiscard]] std::optional<ModemModelHead> modem_model_head(std::string_view bytes);

}  // namespace lodestone::io::modem
