// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/modem/modem.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Words of ModEM headers. Internal to io/modem, except that io/info names what it finds.
namespace lodestone::io::modem {

/// A component of the rows of a block: a complex element, or a real datum.
struct ModemComponent {
  std::string_view name;                          ///< "ZXY", as writers use it
  std::optional<physics::mt::Element> element{};  ///< absent: rows state a real number, the datum
  physics::mt::Datum datum{};
  std::string_view other_name{};  ///< another spelling; empty: none
};

/// A type of blocks in data files.
struct ModemBlock {
  std::string_view name;  ///< "Full_Impedance"
  int dimension;          ///< 2 or 3
  bool is_impedance;      ///< the header states the units of an impedance
  bool is_real;           ///< a row holds one number instead of two
  bool has_reference;     ///< a row states a second station behind the first
  std::vector<ModemComponent> components;
};
/// Returns the types that can be read and written; those of 2-D stand first.
[[nodiscard]] const std::vector<ModemBlock>& modem_blocks();
/// Returns the block a "> …" line names; null when it is none of them.
[[nodiscard]] const ModemBlock* modem_block(std::string_view name);
/// Returns the component of this name, in any case; null when the block has none.
[[nodiscard]] const ModemComponent* component_of(const ModemBlock& block, std::string_view name);
/// Returns the sign of "exp(+i\\omega t)" in whatever spelling, also "exp(i\\omega t)"; empty where the text
/// has none, or both.
[[nodiscard]] std::optional<ModemSign> modem_sign(std::string_view text);
[[nodiscard]] std::optional<ModemUnits> modem_units(std::string_view text);
[[nodiscard]] std::string_view name_of(ModemUnits units);
[[nodiscard]] std::string_view short_name_of(ModemUnits units);  ///< "V/m/T", "mV/km/nT", "ohm"
[[nodiscard]] double ohm_per(ModemUnits units);
/// Returns the phase in degrees of a number in a file: phases of Zyx are folded there by +180°. `is_turned`:
/// the file is 3-D and e^{-iωt}; those of 2-D are always those of e^{+iωt}.
[[nodiscard]] double unfolded_deg(physics::mt::Datum datum, double written_deg, bool is_turned);

/// The head of the first block of a ModEM data file; empty when the bytes are no such file. Its type is one
/// that is read, or any text with a time factor below it.
struct ModemDataHead {
  std::string type, sign, units;
  [[nodiscard]] int dimension() const;
};
[[nodiscard]] std::optional<ModemDataHead> modem_data_head(std::string_view bytes);

/// The first line of a ModEM model; empty when the bytes are no such file.
struct ModemModelHead {
  int dimensions = 0;  ///< 2 or 3
  int n_x = 1, n_y = 0, n_z = 0;
  int n_listed = 0;  ///< so many resistivities are listed, which cells give by number (WSINV3DMT); 0: none
};
[[nodiscard]] std::optional<ModemModelHead> modem_model_head(std::string_view bytes);

/// Returns true for the bytes of a covariance file, which begins with a box of text.
[[nodiscard]] bool is_modem_covariance(std::string_view bytes);

}  // namespace lodestone::io::modem
