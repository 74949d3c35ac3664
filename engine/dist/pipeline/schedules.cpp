// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/pipeline/schedules.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace lodestone::engine {
namespace {

using Pass = PipelinePass;
using Action = PipelineAction;

/// Appends computations to the list of a rank. Leaves of a pass through a chunk follow one another.
class List {
 public:
  List(std::vector<int> chunks, int n_leaves) : n_leaves_(n_leaves) { rank_.chunks = std::move(chunks); }

  /// Returns how many leaves of a pass have been appended.
  [[nodiscard]] int count(Pass pass, int chunk) { return counts_[{pass, chunk}]; }
  void add(Pass pass, int chunk, int leaf) {
    rank_.items.push_back({Action::compute, pass, chunk, leaf});
    ++counts_[{pass, chunk}];
  }
  /// Appends the next leaf of a pass, if there is one that has gone through the pass before.
  void add_next(Pass pass, int chunk) {
    const int leaf = count(pass, chunk);
    const int n_ready = pass == Pass::forward
                            ? n_leaves_
                            : count(pass == Pass::weights ? Pass::backward : Pass::forward, chunk);
    if (leaf < n_ready) add(pass, chunk, leaf);
  }
  [[nodiscard]] RankSchedule take() { return std::move(rank_); }

 private:
  int n_leaves_;
  RankSchedule rank_;
  std::map<std::pair<Pass, int>, int> counts_;
};

void check_counts(std::string_view name, int n_ranks, int n_leaves) {
  if (n_ranks < 1 || n_leaves < 1)
    throw core::InvalidArgument(std::string(name) + "#no_ranks_or_leaves",
                                "expected at least 1 rank and 1 leaf, got {} ranks and {} leaves", n_ranks,
                                n_leaves);
}

/// The message that a pass waits for; none where the chunk begins or ends the network.
std::optional<PipelineItem> input_of(const PipelineItem& item, int n_chunks) {
  const bool is_forward = item.pass == Pass::forward;
  const int from = is_forward ? item.chunk - 1 : item.chunk + 1;
  if (item.pass == Pass::weights || from < 0 || from >= n_chunks) return std::nullopt;
  return PipelineItem{Action::receive, is_forward ? Pass::forward : Pass::backward, from, item.leaf};
}

/// The chunk that needs what a pass computes; none where no chunk does.
std::optional<int> target_of(const PipelineItem& item, int n_chunks) {
  const int to = item.pass == Pass::forward ? item.chunk + 1 : item.chunk - 1;
  if (item.pass == Pass::weights || to < 0 || to >= n_chunks) return std::nullopt;
  return to;
}

RankSchedule list_of_v(int rank, int n, int n_leaves) {
  const int down = rank, up = 2 * n - 1 - rank;  // the chunk on the way to the last rank, and on the way back
  List list({down, up}, n_leaves);
  const auto add = [&](std::initializer_list<std::pair<Pass, int>> passes) {
    for (const auto& [pass, chunk] : passes) list.add_next(pass, chunk);
  };
  // Forward passes fill the time until leaf 0 comes back from the last rank, and until its cotangents do.
  for (int i = 0; i < 2 * (n - rank) - 1; ++i) add({{Pass::forward, down}});
  for (int i = 0; i < rank; ++i) add({{Pass::forward, up}, {Pass::forward, down}});
  for (int i = 0; i < n - rank; ++i) add({{Pass::forward, up}, {Pass::backward, up}, {Pass::weights, up}});
  while (list.count(Pass::forward, up) < n_leaves) {
    for (const int chunk : {down, up}) {
      // A chunk of the way down begins leaves, one of the way up ends them.
      add({{Pass::forward, chunk}, {Pass::backward, chunk}, {Pass::weights, chunk}});
    }
  }
  // Cotangents leave as early as they can; the weights that they put off fill the time at the end.
  for (int i = 0; i < rank; ++i) add({{Pass::backward, down}, {Pass::backward, up}});
  for (int i = 0; i < n - rank; ++i) add({{Pass::backward, down}, {Pass::weights, down}});
  for (const int chunk : {up, down}) {
    while (list.count(Pass::backward, chunk) < n_leaves) add({{Pass::backward, chunk}});
    while (list.count(Pass::weights, chunk) < n_leaves) add({{Pass::weights, chunk}});
  }
  return list.take();
}

}  // namespace

int PipelineSchedule::n_chunks() const {
  std::size_t n = 0;
  for (const RankSchedule& rank : ranks) n += rank.chunks.size();
  return static_cast<int>(n);
}

int PipelineSchedule::rank_of(int chunk) const {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (std::ranges::count(ranks[rank].chunks, chunk) > 0) return static_cast<int>(rank);
  }
  return -1;
}

PipelineSchedule gpipe(int n_ranks, int n_leaves) {
  check_counts("gpipe", n_ranks, n_leaves);
  PipelineSchedule schedule{n_leaves, {}};
  for (int rank = 0; rank < n_ranks; ++rank) {
    List list({rank}, n_leaves);
    for (int leaf = 0; leaf < n_leaves; ++leaf) list.add(Pass::forward, rank, leaf);
    for (int leaf = 0; leaf < n_leaves; ++leaf) list.add(Pass::both, rank, leaf);
    schedule.ranks.push_back(list.take());
  }
  return with_messages(schedule);
}

PipelineSchedule one_f_one_b(int n_ranks, int n_leaves) {
  check_counts("one_f_one_b", n_ranks, n_leaves);
  PipelineSchedule schedule{n_leaves, {}};
  for (int rank = 0; rank < n_ranks; ++rank) {
    List list({rank}, n_leaves);
    for (int i = 0; i < n_ranks - rank - 1; ++i) list.add_next(Pass::forward, rank);
    for (int leaf = 0; leaf < n_leaves; ++leaf) {
      list.add_next(Pass::forward, rank);
      list.add(Pass::both, rank, leaf);
    }
    schedule.ranks.push_back(list.take());
  }
  return with_messages(schedule);
}

PipelineSchedule interleaved(int n_ranks, int n_leaves, int chunks_per_rank) {
  check_counts("interleaved", n_ranks, n_leaves);
  if (chunks_per_rank < 1)
    throw core::InvalidArgument("interleaved#no_chunks", "expected at least 1 chunk per rank, got {}",
                                chunks_per_rank);
  if (chunks_per_rank == 1) return one_f_one_b(n_ranks, n_leaves);
  if (n_leaves % n_ranks != 0)
    throw core::InvalidArgument("interleaved#uneven_leaves",
                                "expected a multiple of {} leaves, one of each group for every rank, got {}; "
                                "take other leaves or one_f_one_b",
                                n_ranks, n_leaves);
  const int per_group = n_ranks * chunks_per_rank, n_passes = n_leaves * chunks_per_rank;
  PipelineSchedule schedule{n_leaves, {}};
  for (int rank = 0; rank < n_ranks; ++rank) {
    std::vector<int> chunks;
    for (int i = 0; i < chunks_per_rank; ++i) chunks.push_back(i * n_ranks + rank);
    List list(chunks, n_leaves);
    // Pass i: the leaves of a group through one chunk, then through the next, then those of the next group.
    const auto add = [&](Pass pass, int i) {
      const int place = i % per_group / n_ranks, leaf = i / per_group * n_ranks + i % n_ranks;
      const int which = pass == Pass::forward ? place : chunks_per_rank - 1 - place;
      list.add(pass, chunks[static_cast<std::size_t>(which)], leaf);
    };
    const int n_ahead = std::min(n_passes, 2 * (n_ranks - rank - 1) + per_group - n_ranks);
    for (int i = 0; i < n_ahead; ++i) add(Pass::forward, i);
    for (int i = 0; i < n_passes; ++i) {
      if (n_ahead + i < n_passes) add(Pass::forward, n_ahead + i);
      add(Pass::both, i);
    }
    schedule.ranks.push_back(list.take());
  }
  return with_messages(schedule);
}

PipelineSchedule zero_bubble_v(int n_ranks, int n_leaves) {
  check_counts("zero_bubble_v", n_ranks, n_leaves);
  PipelineSchedule schedule{n_leaves, {}};
  for (int rank = 0; rank < n_ranks; ++rank) schedule.ranks.push_back(list_of_v(rank, n_ranks, n_leaves));
  return with_messages(schedule);
}

PipelineSchedule with_messages(const PipelineSchedule& computations) {
  const int n_chunks = computations.n_chunks();
  std::map<std::pair<int, int>, std::deque<PipelineItem>> channels;  // from rank to rank: what is sent
  PipelineSchedule schedule{computations.n_leaves, {}};
  for (std::size_t i = 0; i < computations.ranks.size(); ++i) {
    const int rank = static_cast<int>(i);
    schedule.ranks.push_back({computations.ranks[i].chunks, {}});
    for (const PipelineItem& item : computations.ranks[i].items) {
      if (item.action != Action::compute) continue;
      schedule.ranks[i].items.push_back(item);
      const std::optional<int> to = target_of(item, n_chunks);
      const int peer = to ? computations.rank_of(*to) : rank;
      if (peer == rank) continue;
      const Pass pass = item.pass == Pass::forward ? Pass::forward : Pass::backward;
      schedule.ranks[i].items.push_back({Action::send, pass, item.chunk, item.leaf});
      channels[{rank, peer}].push_back({Action::receive, pass, item.chunk, item.leaf});
    }
  }
  for (std::size_t i = 0; i < schedule.ranks.size(); ++i) {
    std::vector<PipelineItem> items;
    for (const PipelineItem& item : schedule.ranks[i].items) {
      const std::optional<PipelineItem> input =
          item.action == Action::compute ? input_of(item, n_chunks) : std::nullopt;
      const int peer = input ? schedule.rank_of(input->chunk) : static_cast<int>(i);
      if (peer != static_cast<int>(i)) {
        // A message that was sent earlier also arrives earlier.
        std::deque<PipelineItem>& channel = channels[{peer, static_cast<int>(i)}];
        const auto found = std::ranges::find(channel, *input);
        const auto end = found == channel.end() ? channel.begin() : std::next(found);
        items.insert(items.end(), channel.begin(), end);
        channel.erase(channel.begin(), end);
      }
      items.push_back(item);
    }
    schedule.ranks[i].items = std::move(items);
  }
  return schedule;
}

}  // namespace lodestone::engine
