// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/datum.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::physics::mt {

/// Returns the mode of a datum. errors: InvalidArgument when it combines both.
[[nodiscard]] Mode mode_of(Datum datum);
/// Returns whether the datum is made of an element of the mode; one that combines both is made of either.
[[nodiscard]] bool is_of(Datum datum, Mode mode);
[[nodiscard]] bool is_phase(Datum datum);             ///< differences of these are wrapped
[[nodiscard]] std::string_view name_of(Datum datum);  ///< "zxy_re", "log10_rho_xy" …
[[nodiscard]] std::string_view units_of(Datum datum);

/// Which directions a station's fields have. Horizontal: E_y, H_y level and H_z vertical. Slope-parallel:
/// along the surface and normal to it, as instruments lie on a slope.
enum class Definition : std::uint8_t { horizontal, slope_parallel };
constexpr auto words(Definition) {
  using enum Definition;
  return core::Words<Definition>{{horizontal, "horizontal"}, {slope_parallel, "slope_parallel"}};
}

/// A receiver on the surface of the solid earth (on land or on the sea floor), anywhere along the profile or
/// on the map.
struct Station {
  std::string name;
  double y_m = 0.0;  ///< along the profile; NaN: not placed on one yet
  double latitude_deg = 0.0, longitude_deg = 0.0, elevation_m = 0.0;  ///< as measured, for output only
  Definition definition = Definition::horizontal;
  double z_m = not_given;   ///< below the level z = 0, as the file states it; NaN: not stated
  double tilt_deg = 0.0;    ///< dip of the sensors' y axis as the file states it, positive downwards to +y
  double x_m = 0.0;         ///< north of the origin on a map; along the strike of a profile it has no effect
  std::string reference{};  ///< station to which inter-station functions refer; "": there are none
};

/// Which real number of which station at which frequency.
struct DatumKey {
  Datum quantity;
  int frequency;  ///< index into Survey::frequencies_hz
  int station;    ///< index into Survey::stations
};

/// The predictions of a simulation: one output per key, in this order.
struct Survey {
  std::vector<Station> stations;
  std::vector<double> frequencies_hz;
  std::vector<DatumKey> keys;

  /// Checks the parts. errors: InvalidArgument (no station, equal positions, non-positive frequency, an
  /// inter-station function without its reference), ShapeError (key outside).
  void validate() const;
};

/// Returns the index of the reference of each station; −1 for those without one. errors: InvalidArgument when
/// the name of a reference is none of the stations'.
[[nodiscard]] std::vector<int> references_of(const std::vector<Station>& stations);

/// Returns the survey of every given quantity at every frequency and station; order: quantity, frequency,
/// station. Stations without a reference have no inter-station functions.
[[nodiscard]] Survey full_survey(std::vector<Station> stations, std::vector<double> frequencies_hz,
                                 const std::vector<Datum>& quantities);

/// Why a datum is not used. Files hold the codes; a new reason comes last. `not_predicted`: it is made of
/// elements that the simulation does not predict.
enum class MaskReason : std::uint8_t { kept, missing, out_of_quadrant, listed, bad_error, not_predicted };
constexpr auto words(MaskReason) {
  using enum MaskReason;
  return core::Words<MaskReason>{
      {kept, "kept"},     {missing, "missing"},     {out_of_quadrant, "out_of_quadrant"},
      {listed, "listed"}, {bad_error, "bad_error"}, {not_predicted, "not_predicted"}};
}

/// Error floors, declared once and stored with the data: σ = max(σ measured, floor).
struct ErrorFloors {
  double impedance_relative = 0.05;  ///< error relative to |Z|; on each part of the complex number
  double log10_rho = 0.0434;         ///< decades (10 % of ρₐ)
  double phase_deg = 2.86;
  double tipper_absolute = 0.02;
  double phase_tensor_absolute = 0.05;
  double interstation_absolute = 0.02;
  std::optional<double> log10_rho_te{};  ///< decades, of TE alone; absent: log10_rho
};

/// Returns the modulus that a relative floor of a datum refers to: |Z|, √|Zxy Zyx| for Zxx and Zyy; NaN where
/// the datum is made of several elements.
[[nodiscard]] double modulus_of(const DatumRule& rule, const Elements::Values& elements);
/// Returns the floor of σ in the units of the datum. units: `floor` as in ErrorFloors; modulus of the
/// impedance in ohm.
[[nodiscard]] double floor_of(FloorKind kind, double floor, double modulus);
/// Returns the floor of this kind among the floors, likewise.
[[nodiscard]] double floor_of(const DatumRule& rule, const ErrorFloors& floors, double modulus);

}  // namespace lodestone::physics::mt
