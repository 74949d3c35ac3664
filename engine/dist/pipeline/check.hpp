// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/dist/pipeline/schedules.hpp"

#include <cstddef>
#include <limits>

namespace lodestone::engine {

/// A mistake in a schedule.
struct ScheduleFault {
  enum class Kind : std::uint8_t {
    misplaced,     ///< an item of another rank, a chunk or leaf that does not exist
    missing,       ///< an item that is nowhere
    repeated,      ///< an item for the second time
    out_of_order,  ///< an item before one that it needs
    unmatched,     ///< a receive in another order than the sends
    deadlock       ///< ranks that wait for each other
  };
  Kind kind = Kind::misplaced;
  int rank = 0;
  std::size_t position = 0;  ///< in the list of the rank; behind its end for what is missing
  std::string item;          ///< as `text_of`
  std::string text;          ///< a sentence with rank, position and expectation
};

/// The largest numbers of pairs of chunk and leaf for which a rank keeps something at once.
struct KeptLeaves {
  int activations = 0;  ///< from F to B
  int for_weights = 0;  ///< from B to W, of split backward passes
  int all = 0;          ///< from F to W
  friend bool operator==(const KeptLeaves&, const KeptLeaves&) = default;
};

struct ScheduleCheck {
  std::vector<ScheduleFault> faults;
  std::vector<KeptLeaves> kept;  ///< per rank; empty if there are faults
};

inline constexpr int unlimited_buffers = std::numeric_limits<int>::max();

/// Checks that ranks which follow a schedule end with a complete step, whatever their speeds.
///
/// Each chunk does each leaf once: F before B before W, and in the order of chunks. Each message has one send
/// and one receive, in the same order between two ranks. `n_buffers`: how many messages may be under way from
/// one rank to another; a send waits until there is room. Deadlocks are looked for if there are no other
/// faults, channels if nothing is missing or repeated. errors: InvalidArgument for fewer than one buffer.
[[nodiscard]] ScheduleCheck check_schedule(const PipelineSchedule& schedule,
                                           int n_buffers = unlimited_buffers);
/// Returns the smallest number of buffers with which a schedule ends. errors: as `require_sound`.
[[nodiscard]] int buffers_needed(const PipelineSchedule& schedule);
/// Checks a schedule. errors: InvalidArgument with the first three faults.
void require_sound(const PipelineSchedule& schedule, int n_buffers = unlimited_buffers);

}  // namespace lodestone::engine
