// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/pipeline/check.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace lodestone::engine {
namespace {

using Pass = PipelinePass;
using Action = PipelineAction;
using Kind = ScheduleFault::Kind;
using Channel = std::pair<int, int>;  // from rank, to rank

class Checker {
 public:
  explicit Checker(const PipelineSchedule& schedule) : schedule_(schedule) {
    for (const RankSchedule& rank : schedule.ranks) {
      std::map<PipelineItem, std::vector<std::size_t>>& places = places_.emplace_back();
      for (std::size_t i = 0; i < rank.items.size(); ++i) places[rank.items[i]].push_back(i);
    }
  }

  /// Returns the faults of a schedule, in the order in which they can be told.
  std::vector<ScheduleFault> run(int n_buffers) {
    check_chunks();
    if (!faults_.empty()) return faults_;
    for (int rank = 0; rank < n_ranks(); ++rank) check_contents(rank);
    const bool is_complete = faults_.empty();
    for (int rank = 0; rank < n_ranks(); ++rank) check_order(rank);
    if (is_complete) check_channels();
    if (faults_.empty()) check_progress(n_buffers);
    return faults_;
  }

 private:
  [[nodiscard]] int n_ranks() const { return static_cast<int>(schedule_.ranks.size()); }
  [[nodiscard]] const std::vector<PipelineItem>& items_of(int rank) const {
    return schedule_.ranks[static_cast<std::size_t>(rank)].items;
  }
  /// Returns the positions of an item in the list of a rank.
  [[nodiscard]] std::vector<std::size_t> places_of(int rank, const PipelineItem& item) const {
    const auto& places = places_[static_cast<std::size_t>(rank)];
    const auto found = places.find(item);
    return found == places.end() ? std::vector<std::size_t>() : found->second;
  }
  [[nodiscard]] bool has_chunk(int chunk) const { return chunk >= 0 && chunk < n_chunks_; }
  [[nodiscard]] int rank_of(int chunk) const {
    return has_chunk(chunk) ? rank_of_chunk_[static_cast<std::size_t>(chunk)] : -1;
  }
  /// Returns the rank that a message goes to; −1 if it goes to none.
  [[nodiscard]] int target_of(const PipelineItem& message) const {
    return rank_of(message.pass == Pass::forward ? message.chunk + 1 : message.chunk - 1);
  }

  template <class... Args>
  void report(Kind kind, int rank, std::size_t position, const std::string& item,
              fmt::format_string<Args...> text, Args&&... args) {
    faults_.push_back({kind, rank, position, item,
                       fmt::format("rank {}, position {}: {}", rank, position,
                                   fmt::format(text, std::forward<Args>(args)...))});
  }

  void check_chunks();
  void check_contents(int rank);
  void check_place(int rank, std::size_t position);
  void check_backward(int rank, int chunk, int leaf);
  void check_once(int rank, const PipelineItem& item);
  void check_order(int rank);
  void check_channels();
  void check_progress(int n_buffers);
  [[nodiscard]] bool belongs_to(int rank, const PipelineItem& item) const;
  [[nodiscard]] std::vector<PipelineItem> needs_of(int rank, const PipelineItem& item) const;

  const PipelineSchedule& schedule_;
  std::vector<std::map<PipelineItem, std::vector<std::size_t>>> places_;
  std::vector<int> rank_of_chunk_;
  int n_chunks_ = 0;
  std::vector<ScheduleFault> faults_;
};

void Checker::check_chunks() {
  n_chunks_ = schedule_.n_chunks();
  rank_of_chunk_.assign(static_cast<std::size_t>(n_chunks_), -1);
  for (int rank = 0; rank < n_ranks(); ++rank) {
    for (const int chunk : schedule_.ranks[static_cast<std::size_t>(rank)].chunks) {
      if (!has_chunk(chunk) || rank_of(chunk) >= 0) {
        report(Kind::misplaced, rank, 0, std::to_string(chunk),
               "expected chunks 0 to {} on one rank each, got chunk {}{}", n_chunks_ - 1, chunk,
               has_chunk(chunk) ? fmt::format(", which rank {} has as well", rank_of(chunk)) : "");
      } else {
        rank_of_chunk_[static_cast<std::size_t>(chunk)] = rank;
      }
    }
  }
  if (n_chunks_ < 1 || schedule_.n_leaves < 1)
    report(Kind::misplaced, 0, 0, "", "expected at least 1 chunk and 1 leaf, got {} chunks and {} leaves",
           n_chunks_, schedule_.n_leaves);
}

bool Checker::belongs_to(int rank, const PipelineItem& item) const {
  if (!has_chunk(item.chunk) || item.leaf < 0 || item.leaf >= schedule_.n_leaves) return false;
  if (item.action == Action::compute) return rank_of(item.chunk) == rank;
  if (item.pass != Pass::forward && item.pass != Pass::backward) return false;
  const int from = rank_of(item.chunk), to = target_of(item);
  return to >= 0 && from != to && rank == (item.action == Action::send ? from : to);
}

void Checker::check_place(int rank, std::size_t position) {
  const PipelineItem& item = items_of(rank)[position];
  if (belongs_to(rank, item)) return;
  report(Kind::misplaced, rank, position, text_of(item),
         "expected an item of a chunk of this rank and of leaves 0 to {}, got {}", schedule_.n_leaves - 1,
         text_of(item));
}

void Checker::check_once(int rank, const PipelineItem& item) {
  const std::vector<std::size_t> places = places_of(rank, item);
  if (places.empty())
    report(Kind::missing, rank, items_of(rank).size(), text_of(item), "expected {} before the end",
           text_of(item));
  for (std::size_t i = 1; i < places.size(); ++i)
    report(Kind::repeated, rank, places[i], text_of(item), "expected {} once, got it at position {} as well",
           text_of(item), places[0]);
}

void Checker::check_backward(int rank, int chunk, int leaf) {
  const PipelineItem both{Action::compute, Pass::both, chunk, leaf};
  const PipelineItem parts[] = {{Action::compute, Pass::backward, chunk, leaf},
                                {Action::compute, Pass::weights, chunk, leaf}};
  const bool has_part = !places_of(rank, parts[0]).empty() || !places_of(rank, parts[1]).empty();
  if (places_of(rank, both).empty()) {
    if (has_part) {
      for (const PipelineItem& part : parts) check_once(rank, part);
    } else {
      report(Kind::missing, rank, items_of(rank).size(), text_of(both),
             "expected {}, or {} and {}, before the end", text_of(both), text_of(parts[0]),
             text_of(parts[1]));
    }
    return;
  }
  check_once(rank, both);
  for (const PipelineItem& part : parts) {
    for (const std::size_t place : places_of(rank, part))
      report(Kind::repeated, rank, place, text_of(part), "expected no {}, which {} does at position {}",
             text_of(part), text_of(both), places_of(rank, both)[0]);
  }
}

void Checker::check_contents(int rank) {
  for (std::size_t i = 0; i < items_of(rank).size(); ++i) check_place(rank, i);
  for (int chunk = 0; chunk < n_chunks_; ++chunk) {
    for (int leaf = 0; leaf < schedule_.n_leaves; ++leaf) {
      if (rank_of(chunk) == rank) {
        check_once(rank, {Action::compute, Pass::forward, chunk, leaf});
        check_backward(rank, chunk, leaf);
      }
      for (const Action action : {Action::send, Action::receive}) {
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          const PipelineItem message{action, pass, chunk, leaf};
          if (belongs_to(rank, message)) check_once(rank, message);
        }
      }
    }
  }
}

/// Returns what must stand before an item in the same list. Of B and BW one exists.
std::vector<PipelineItem> Checker::needs_of(int rank, const PipelineItem& item) const {
  const int leaf = item.leaf;
  std::vector<PipelineItem> needs;
  const auto add = [&](Pass pass, int chunk) {
    if (rank_of(chunk) == rank) {
      needs.push_back({Action::compute, pass, chunk, leaf});
      if (pass == Pass::backward) needs.push_back({Action::compute, Pass::both, chunk, leaf});
    } else if (has_chunk(chunk)) {
      needs.push_back({Action::receive, pass, chunk, leaf});
    }
  };
  if (item.action == Action::receive) return needs;
  if (item.action == Action::send || item.pass == Pass::weights) {
    add(item.action == Action::send ? item.pass : Pass::backward, item.chunk);
  } else if (item.pass == Pass::forward) {
    add(Pass::forward, item.chunk - 1);
  } else {
    add(Pass::forward, item.chunk);
    add(Pass::backward, item.chunk + 1);
  }
  return needs;
}

void Checker::check_order(int rank) {
  for (std::size_t position = 0; position < items_of(rank).size(); ++position) {
    const PipelineItem& item = items_of(rank)[position];
    if (!belongs_to(rank, item)) continue;
    for (const PipelineItem& need : needs_of(rank, item)) {
      const std::vector<std::size_t> places = places_of(rank, need);
      if (!places.empty() && places[0] > position)
        report(Kind::out_of_order, rank, position, text_of(item),
               "expected {} before {}, got it at position {}", text_of(need), text_of(item), places[0]);
    }
  }
}

void Checker::check_channels() {
  std::map<Channel, std::vector<std::pair<PipelineItem, std::size_t>>> sends, receives;
  for (int rank = 0; rank < n_ranks(); ++rank) {
    for (std::size_t position = 0; position < items_of(rank).size(); ++position) {
      const PipelineItem& item = items_of(rank)[position];
      if (item.action == Action::send) sends[{rank, target_of(item)}].emplace_back(item, position);
      if (item.action == Action::receive) receives[{rank_of(item.chunk), rank}].emplace_back(item, position);
    }
  }
  for (const auto& [channel, sent] : sends) {
    const auto& received = receives[channel];
    for (std::size_t i = 0; i < sent.size(); ++i) {
      PipelineItem expected = sent[i].first;
      expected.action = Action::receive;
      if (received[i].first == expected) continue;
      report(Kind::unmatched, channel.second, received[i].second, text_of(received[i].first),
             "expected {}, message {} that rank {} sends (at its position {}), got {}", text_of(expected), i,
             channel.first, sent[i].second, text_of(received[i].first));
      break;
    }
  }
}

/// Lets all ranks run as far as they can. It does not matter in which order they do: what a rank may do next
/// is never taken away by another one.
void Checker::check_progress(int n_buffers) {
  std::vector<std::size_t> at(schedule_.ranks.size(), 0);
  std::map<Channel, int> n_under_way;
  const auto step = [&](int rank) {
    std::size_t& position = at[static_cast<std::size_t>(rank)];
    if (position == items_of(rank).size()) return false;
    const PipelineItem& item = items_of(rank)[position];
    if (item.action == Action::send) {
      int& n = n_under_way[{rank, target_of(item)}];
      if (n == n_buffers) return false;
      ++n;
    } else if (item.action == Action::receive) {
      int& n = n_under_way[{rank_of(item.chunk), rank}];
      if (n == 0) return false;
      --n;
    }
    ++position;
    return true;
  };
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (int rank = 0; rank < n_ranks(); ++rank) {
      while (step(rank)) has_moved = true;
    }
  }
  for (int rank = 0; rank < n_ranks(); ++rank) {
    const std::size_t position = at[static_cast<std::size_t>(rank)];
    if (position == items_of(rank).size()) continue;
    const PipelineItem& item = items_of(rank)[position];
    // Channels match, so the other rank cannot have ended before.
    const std::string buffers =
        n_buffers == unlimited_buffers ? "any number of buffers" : fmt::format("buffers for {}", n_buffers);
    if (item.action == Action::send) {
      report(
          Kind::deadlock, rank, position, text_of(item),
          "expected rank {} to make room for {}, but it waits as well, with {} between two ranks; take more "
          "buffers or another order",
          target_of(item), text_of(item), buffers);
    } else {
      PipelineItem sent = item;
      sent.action = Action::send;
      report(Kind::deadlock, rank, position, text_of(item),
             "expected {} from rank {}, but it waits as well, with {} between two ranks; take another order",
             text_of(sent), rank_of(item.chunk), buffers);
    }
  }
}

KeptLeaves kept_by(const RankSchedule& rank) {
  KeptLeaves now, most;
  for (const PipelineItem& item : rank.items) {
    if (item.action != Action::compute) continue;
    const bool is_forward = item.pass == Pass::forward, is_weights = item.pass == Pass::weights;
    now.activations += is_forward ? 1 : is_weights ? 0 : -1;
    now.for_weights += item.pass == Pass::backward ? 1 : is_weights ? -1 : 0;
    now.all = now.activations + now.for_weights;
    most = {std::max(most.activations, now.activations), std::max(most.for_weights, now.for_weights),
            std::max(most.all, now.all)};
  }
  return most;
}

}  // namespace

ScheduleCheck check_schedule(const PipelineSchedule& schedule, int n_buffers) {
  if (n_buffers < 1)
    throw core::InvalidArgument("check_schedule#no_buffers", "expected at least 1 buffer, got {}", n_buffers);
  ScheduleCheck check{Checker(schedule).run(n_buffers), {}};
  if (check.faults.empty()) {
    for (const RankSchedule& rank : schedule.ranks) check.kept.push_back(kept_by(rank));
  }
  return check;
}

int buffers_needed(const PipelineSchedule& schedule) {
  require_sound(schedule);
  int n = 1;
  while (!check_schedule(schedule, n).faults.empty()) ++n;
  return n;
}

void require_sound(const PipelineSchedule& schedule, int n_buffers) {
  const ScheduleCheck check = check_schedule(schedule, n_buffers);
  if (check.faults.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(check.faults.size(), 3); ++i)
    text += (i == 0 ? "" : "; ") + check.faults[i].text;
  throw core::InvalidArgument("check_schedule#faults",
                              "expected a schedule that ends with a complete step, got {} faults: {}",
                              check.faults.size(), text);
}

}  // namespace lodestone::engine
