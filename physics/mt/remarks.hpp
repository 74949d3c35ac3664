// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <string>
#include <utility>
#include <vector>

namespace lodestone::physics::mt {

/// The kinds of remarks of readers that `check` tells apart.
enum class RemarkKind {
  other,                 ///< an assumption, or something that was left out
  damage,                ///< a file lacks what it announces, as one does that was cut off
  conjugated,            ///< values show the other time factor, which no file states, and were conjugated
  ohm,                   ///< values show that they are in ohm, which no file states
  open_sign,             ///< neither a station nor its survey shows the time factor
  open_units,            ///< neither a station nor its survey shows the units
  impossible_latitude,   ///< beyond 90°, and taken as unknown; `stated`: degrees
  impossible_longitude,  ///< beyond 360°, and taken as unknown; `stated`: degrees
  metres,                ///< a coordinate looks like metres of a projection
  renamed                ///< an earlier station has the name; `stated`: that name
};
constexpr auto words(RemarkKind) {
  using enum RemarkKind;
  return core::Words<RemarkKind>{{other, "other"},
                                 {damage, "damage"},
                                 {conjugated, "conjugated"},
                                 {ohm, "ohm"},
                                 {open_sign, "open_sign"},
                                 {open_units, "open_units"},
                                 {impossible_latitude, "impossible_latitude"},
                                 {impossible_longitude, "impossible_longitude"},
                                 {metres, "metres"},
                                 {renamed, "renamed"}};
}
static_assert(core::words_of<RemarkKind>.size() == static_cast<std::size_t>(RemarkKind::renamed) + 1,
              "each kind of remark has a word, by which survey files keep it");

/// A sentence of a reader on a file.
struct Remark {
  std::string text;  ///< sentence, with file:line in front once a reader has placed it
  RemarkKind kind = RemarkKind::other;
  std::string stated{};  ///< the value or the name that the file states, where the kind has one

  /// Makes a remark of a kind that needs no other treatment; texts are remarks wherever these are expected.
  Remark(std::string sentence, RemarkKind of = RemarkKind::other, std::string value = {})
      : text(std::move(sentence)), kind(of), stated(std::move(value)) {}
  Remark(const char* sentence) : text(sentence) {}

  /// Returns the remark with its place in front: "a.edi:12".
  [[nodiscard]] Remark at(const std::string& place) const { return {place + ": " + text, kind, stated}; }
  [[nodiscard]] bool operator==(const Remark&) const = default;
};

/// Returns the texts of remarks, in their order.
[[nodiscard]] inline std::vector<std::string> texts_of(const std::vector<Remark>& remarks) {
  std::vector<std::string> texts;
  for (const Remark& each : remarks) texts.push_back(each.text);
  return texts;
}

}  // namespace lodestone::physics::mt
