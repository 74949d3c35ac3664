// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/layout/patterns.hpp"

#include <algorithm>
#include <set>

namespace lodestone::engine {
namespace {

/// The moves between the ranks of a group that a step connects.
struct Group {
  std::set<int> ranks;
  std::vector<const Move*> moves;
  std::map<int, std::vector<const Move*>> sent, received;
  bool keeps = false;  ///< a rank has elements of its own besides

  [[nodiscard]] std::size_t size() const { return ranks.size(); }
};

/// Finds the groups of ranks between which boxes are sent.
class Groups {
 public:
  explicit Groups(const RouteStep& step) {
    for (const Move& move : step.moves) {
      if (move.from != move.to) root_[root_of(move.from)] = root_of(move.to);
    }
    for (const Move& move : step.moves) {
      Group& group = groups_[root_of(move.to)];
      if (move.from == move.to) {
        group.keeps = true;
        continue;
      }
      group.ranks.insert({move.from, move.to});
      group.moves.push_back(&move);
      group.sent[move.from].push_back(&move);
      group.received[move.to].push_back(&move);
    }
    std::erase_if(groups_, [](const auto& each) { return each.second.moves.empty(); });
  }
  [[nodiscard]] const std::map<int, Group>& found() const { return groups_; }

 private:
  int root_of(int rank) {
    while (root_.contains(rank) && root_[rank] != rank) rank = root_[rank];
    return rank;
  }
  std::map<int, int> root_;
  std::map<int, Group> groups_;
};

/// Returns true if each rank that sends gives one box to every other rank.
bool sends_one_box_to_all(const Group& group) {
  return std::all_of(group.sent.begin(), group.sent.end(), [&](const auto& of_rank) {
    const std::vector<const Move*>& moves = of_rank.second;
    return moves.size() == group.size() - 1 &&
           std::all_of(moves.begin(), moves.end(), [&](const Move* m) { return m->box == moves[0]->box; });
  });
}

/// Returns true if each rank sends disjoint boxes, one to every other rank.
bool sends_other_boxes_to_all(const Group& group) {
  if (group.moves.size() != group.size() * (group.size() - 1)) return false;
  for (const auto& [_, moves] : group.sent) {
    std::set<int> to;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      to.insert(moves[i]->to);
      for (std::size_t j = 0; j < i; ++j) {
        if (!intersection(moves[i]->box, moves[j]->box).is_empty()) return false;
      }
    }
    if (to.size() != group.size() - 1) return false;
  }
  return true;
}

Pattern pattern_of(const Group& group) {
  const auto is_one = [](const auto& of_rank) { return of_rank.second.size() == 1; };
  if (!group.keeps && std::all_of(group.sent.begin(), group.sent.end(), is_one) &&
      std::all_of(group.received.begin(), group.received.end(), is_one))
    return Pattern::permute;
  if (sends_one_box_to_all(group)) {
    if (group.sent.size() == group.size()) return Pattern::all_gather;
    if (group.sent.size() == 1) return Pattern::broadcast;
  }
  return sends_other_boxes_to_all(group) ? Pattern::all_to_all : Pattern::exchange;
}

}  // namespace

Pattern pattern_of(const RouteStep& step) {
  const Groups groups(step);
  if (groups.found().empty()) return Pattern::slice;
  if (step.combine != Terms::no) return Pattern::reduce_scatter;
  const Pattern first = pattern_of(groups.found().begin()->second);
  const bool is_shared = std::all_of(groups.found().begin(), groups.found().end(),
                                     [&](const auto& each) { return pattern_of(each.second) == first; });
  return is_shared ? first : Pattern::exchange;
}

}  // namespace lodestone::engine
