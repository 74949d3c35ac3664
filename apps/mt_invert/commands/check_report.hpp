// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the two forms in which `check` says the same.
#pragma once

#include "physics/mt/analysis/check.hpp"
#include "physics/mt/analysis/sounding_bands.hpp"
#include "physics/mt/analysis/strike_bands.hpp"

#include <string>
#include <vector>

namespace lodestone::mt_invert::commands {

/// Returns how many findings have this weight.
[[nodiscard]] std::size_t count_of(const std::vector<physics::mt::Finding>& findings,
                                   physics::mt::Severity severity);

/// Returns the findings as text, the gravest first, then how many there are. More than three of one kind
/// stand on one line: the first stations, how many more there are, and the text of the first.
[[nodiscard]] std::string text_of(const std::vector<physics::mt::Finding>& findings, std::size_t n_stations);
/// Returns a table of the bands; empty without any.
[[nodiscard]] std::string text_of(const std::vector<physics::mt::StrikeBand>& bands);
/// Returns a table of invariants and depths; empty without any.
[[nodiscard]] std::string text_of(const std::vector<physics::mt::SoundingBand>& bands);
/// Returns a JSON object with every finding and every band.
[[nodiscard]] std::string json_of(const std::vector<physics::mt::Finding>& findings,
                                  const std::vector<physics::mt::StrikeBand>& bands,
                                  const std::vector<physics::mt::SoundingBand>& soundings);

}  // namespace lodestone::mt_invert::commands
