// SPDX-License-Identifier: Apache-2.0
// The order in which the ranks of a pipeline work, as plain data.
//
// A network is cut into chunks, numbered in the order of its forward pass, and each chunk lies on a rank. A
// step runs all chunks for each leaf, a part of the batch. Schedules differ only in the order of each rank.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::engine {

/// A part of the work of a chunk for a leaf.
enum class PipelinePass : std::uint8_t {
  forward,   ///< F: the outputs
  backward,  ///< B: the cotangents of the inputs
  weights,   ///< W: the cotangents of the parameters
  both       ///< BW: B and W at once
};
enum class PipelineAction : std::uint8_t { compute, send, receive };

/// One line of a rank's list. A message is named by what computes it: the rank of chunk 1 sends and the rank
/// of chunk 2 receives (forward, 1, leaf); cotangents go the other way as (backward, 2, leaf).
struct PipelineItem {
  PipelineAction action = PipelineAction::compute;
  PipelinePass pass = PipelinePass::forward;
  int chunk = 0, leaf = 0;
  friend auto operator<=>(const PipelineItem&, const PipelineItem&) = default;
};

/// The list of a rank, and the chunks that lie on it.
struct RankSchedule {
  std::vector<int> chunks;
  std::vector<PipelineItem> items;
  friend bool operator==(const RankSchedule&, const RankSchedule&) = default;
};

struct PipelineSchedule {
  int n_leaves = 0;
  std::vector<RankSchedule> ranks;
  [[nodiscard]] int n_chunks() const;
  /// Returns the rank of a chunk; −1 if no rank has it.
  [[nodiscard]] int rank_of(int chunk) const;
  friend bool operator==(const PipelineSchedule&, const PipelineSchedule&) = default;
};

// The schedules below have all messages. errors of all: InvalidArgument for fewer than one rank or leaf.

/// Returns the schedule in which a rank runs all leaves forwards and then all backwards. It keeps all leaves.
[[nodiscard]] PipelineSchedule gpipe(int n_ranks, int n_leaves);
/// Returns the schedule in which a rank alternates between forward and backward as soon as it can. It keeps
/// as many leaves as there are ranks from it to the last one.
[[nodiscard]] PipelineSchedule one_f_one_b(int n_ranks, int n_leaves);
/// Returns 1F1B with several chunks per rank: chunk c lies on rank c mod n. Leaves go through the chunks of a
/// rank in groups of n. So ranks start earlier, at the price of more messages and kept leaves. errors:
/// InvalidArgument for fewer than one chunk, and for leaves that are no multiple of the ranks.
[[nodiscard]] PipelineSchedule interleaved(int n_ranks, int n_leaves, int chunks_per_rank);
/// Returns the schedule with two chunks per rank in the form of a V: rank r has chunks r and 2 n − 1 − r.
/// Backward passes are split, and W fills what would be idle time. From 2 n − 1 leaves on no rank idles
/// between its first and last item, if F, B and W take the same time.
/// source: Qi et al. 2024, arXiv:2405.15362.
[[nodiscard]] PipelineSchedule zero_bubble_v(int n_ranks, int n_leaves);

/// Returns a schedule of computations with its messages added: a send stands directly behind what computes
/// it, a receive before what needs it, in the order of the sends.
[[nodiscard]] PipelineSchedule with_messages(const PipelineSchedule& computations);

/// Returns "F1.0", "BW1.0", ">F1.0" for a send, "<F1.0" for a receive: the chunk, then the leaf.
[[nodiscard]] std::string text_of(const PipelineItem& item);
/// Returns a line per rank: "rank 0, chunks 0 3, leaves 8: F0.0 >F0.0 …".
[[nodiscard]] std::string text_of(const PipelineSchedule& schedule);
/// Reads what `text_of` writes. errors: InvalidArgument with the line and what was expected there.
[[nodiscard]] PipelineSchedule schedule_from(std::string_view text);

}  // namespace lodestone::engine
