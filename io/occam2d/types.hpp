// SPDX-License-Identifier: Apache-2.0
// Private to io/occam2d: what the numbers of the data table mean.
#pragma once

#include "physics/mt/datum.hpp"

#include <optional>

namespace lodestone::io::occam2d {

/// The form in which a row states its number.
enum class Form { as_it_is, apparent_resistivity, phase_te, phase_tm };

/// A type of data.
struct Type {
  int code;
  physics::mt::Datum datum;
  Form form;
};
/// Returns the type of a code; null for one that is not read.
[[nodiscard]] const Type* type_of(int code);
/// Returns the type in which a datum is written; null where there is none.
[[nodiscard]] const Type* type_of(physics::mt::Datum datum);

/// Converts a value from a row to the units of the survey; ρₐ that is not above 0 is not given. Phases are
/// radian.
[[nodiscard]] double value_of(Form form, double written);
/// Converts an error of a row likewise.
[[nodiscard]] double sigma_of(Form form, double written_value, double written_error);

}  // namespace lodestone::io::occam2d
