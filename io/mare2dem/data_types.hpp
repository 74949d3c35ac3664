// SPDX-License-Identifier: Apache-2.0
// Private to io/mare2dem: what the numbers of the data table mean.
#pragma once

#include "physics/mt/survey.hpp"

#include <array>

namespace lodestone::io::mare2dem {

/// The form in which a row states its number.
enum class EmDataForm { as_it_is, apparent_resistivity, phase_te, phase_tm, amplitude, phase };

/// A type of data. Rows of amplitude and phase make both parts of a tipper together; until then they count as
/// the part `quantity`.
struct EmDataType {
  int code;
  physics::mt::Datum quantity;
  EmDataForm form;
};

/// Returns the type of a code; null for a type that is not read.
[[nodiscard]] const EmDataType* emdata_type(int code);
/// Returns the type in which a datum is written; null where there is none.
[[nodiscard]] const EmDataType* emdata_type(physics::mt::Datum datum);
[[nodiscard]] inline bool is_polar(EmDataForm form) {
  return form == EmDataForm::amplitude || form == EmDataForm::phase;
}

/// A number and its standard deviation. NaN: not given.
struct Uncertain {
  double value, sigma;
};

/// Converts a value from a row to the units of the survey; amplitudes and ρₐ that are not above 0 are not
/// given. Phases are radian.
[[nodiscard]] double value_of(EmDataForm form, double written);
[[nodiscard]] Uncertain datum_of(EmDataForm form, const Uncertain& written);

/// Returns the real and imaginary part of a complex number, each with σ² = (∂/∂A σ_A)² + (∂/∂φ σ_φ)². This is
/// σ_A² for both where σ_A = A σ_φ. The correlation of the two is lost elsewhere. Without both errors neither
/// part has one (0, or the negative one).
[[nodiscard]] std::array<Uncertain, 2> parts_of(const Uncertain& amplitude, const Uncertain& phase);

}  // namespace lodestone::io::mare2dem
