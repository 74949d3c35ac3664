// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <span>

namespace lodestone::physics::mt {

/// The weight of a finding. note: worth knowing. warning: results may suffer. error: the data are not what
/// they are said to be.
enum class Severity { note, warning, error };
constexpr auto words(Severity) {
  using enum Severity;
  return core::Words<Severity>{{note, "note"}, {warning, "warning"}, {error, "error"}};
}

/// Every kind of finding. Several kinds may share the one word by which programs know them.
enum class FindingKind {
  unreadable_file,
  damaged_file,
  conjugated_by_reader,
  ohm_by_reader,
  open_units,
  open_sign,
  remark,
  time_factor,
  swapped_components,
  reversed_channel,
  out_of_quadrant,
  units,
  unclear_units,
  no_errors,
  no_errors_of_tensors,
  errors_too_small,
  errors_too_large,
  scatter,
  inconsistent_curve,
  outliers,
  large_tipper,
  dead_tipper,
  gap,
  same_place,
  same_name_elsewhere,
  contradictory_duplicate,
  impossible_place,
  exchanged_place,
  metres_as_degrees,
  no_place,
  elevation,
  coordinates,
  ambiguous_coordinates,
  far_away,
  far_group,
  wrong_frame,
  other_frame,
  distorted,
};

/// The part of a file that a finding is about, as far as a line can show it.
enum class FilePart { whole, name, latitude, longitude, elevation, axes, zxy, zyx, tipper };

/// The rule of one kind, which all of its findings share.
struct FindingRule {
  FindingKind kind{};
  Severity severity{};
  const char* id = "";  ///< one word for programs
  /// The remedy. Options stand behind their command ("convert --mask"), keys of a configuration behind
  /// their table ("data.tipper"), tables in brackets. Without any it says "no option". A pair of braces
  /// stands for what each finding fills in.
  const char* remedy = "";
};

/// Returns the rules of all kinds, in their order.
[[nodiscard]] std::span<const FindingRule> finding_rules();
/// Returns the rule of one kind.
[[nodiscard]] const FindingRule& rule_of(FindingKind kind);

}  // namespace lodestone::physics::mt
