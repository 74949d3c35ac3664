// SPDX-License-Identifier: Apache-2.0
// Small on purpose: readers of single files have no survey.
#pragma once

#include "physics/mt/conventions.hpp"
#include "physics/mt/remarks.hpp"

#include <cstddef>
#include <vector>

namespace lodestone::physics::mt {

/// The votes of the stations of one survey on a convention of their files.
struct SurveyVote {
  int n_usual = 0;                  ///< stations that show or state mV/km/nT, or e^{+iωt}
  int n_other = 0;                  ///< stations that show or state ohm, or e^{-iωt}
  std::vector<std::size_t> open{};  ///< stations of which neither the file nor the values decide it

  /// Returns true where at least three stations, and three quarters of those that decide, agree.
  [[nodiscard]] bool is_usual() const { return is_strong(n_usual, n_other); }
  [[nodiscard]] bool is_other() const { return is_strong(n_other, n_usual); }
  /// Returns true where stations are open, no majority decides them, and something speaks for the other
  /// convention.
  [[nodiscard]] bool is_in_doubt() const;

 private:
  [[nodiscard]] static bool is_strong(int n, int against) { return n >= 3 && n >= 3 * against; }
};

/// Counts the votes on units of stations as they were read. A station is open where its median apparent
/// resistivity lies between 10⁻³ and 10⁶ ohm m both as mV/km/nT and as ohm.
[[nodiscard]] SurveyVote vote_on_units(const std::vector<const StationData*>& stations);
/// Counts the votes on the time factor of stations as they were read. A station is open where its quadrants
/// do not decide it.
[[nodiscard]] SurveyVote vote_on_sign(const std::vector<const StationData*>& stations);

/// Returns the remark on a station that follows the units of its survey; `station` as it was read alone.
[[nodiscard]] Remark remark_on_voted_units(const StationData& station, const SurveyVote& vote);
/// Returns the remark on a station that follows the time factor of its survey.
[[nodiscard]] Remark remark_on_voted_sign(const SurveyVote& vote);
/// Returns the remark on a station whose units nothing decides; `station` as it was read.
[[nodiscard]] Remark remark_on_open_units(const StationData& station, const SurveyVote& vote);
/// Returns the remark on a station whose time factor nothing decides.
[[nodiscard]] Remark remark_on_open_sign(const SurveyVote& vote);

}  // namespace lodestone::physics::mt
