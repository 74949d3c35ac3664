// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/pipeline/timeline.hpp"

#include "engine/dist/pipeline/check.hpp"

#include <algorithm>
#include <deque>

namespace lodestone::engine {
namespace {

using Action = PipelineAction;

/// A link of the simulation: the arrivals of what is under way, and until when it is busy.
struct Link {
  std::deque<double> arrivals;
  double busy_s = 0.0;
};

class Simulation {
 public:
  Simulation(const PipelineSchedule& schedule, const PipelineCosts& costs)
      : schedule_(schedule), costs_(costs), times_(schedule.ranks.size()), now_s_(schedule.ranks.size()) {}

  std::vector<std::vector<ItemTimes>> run() {
    for (bool has_moved = true; has_moved;) {
      has_moved = false;
      for (std::size_t rank = 0; rank < times_.size(); ++rank) {
        while (step(rank)) has_moved = true;
      }
    }
    return times_;
  }

 private:
  /// Runs the next item of a rank. Returns false at the end of its list, and if it waits for a message.
  bool step(std::size_t rank) {
    const std::vector<PipelineItem>& items = schedule_.ranks[rank].items;
    if (times_[rank].size() == items.size()) return false;
    const PipelineItem& item = items[times_[rank].size()];
    const int own = static_cast<int>(rank);
    double& now = now_s_[rank];
    const double begin = now;
    if (item.action == Action::compute) {
      now += costs_.compute_s(item);
    } else if (item.action == Action::send) {
      const int to = schedule_.rank_of(item.pass == PipelinePass::forward ? item.chunk + 1 : item.chunk - 1);
      Link& link = links_[{own, to}];
      link.busy_s = std::max(link.busy_s, now) + costs_.links(own, to).seconds(costs_.bytes(item));
      link.arrivals.push_back(link.busy_s);
    } else {
      Link& link = links_[{schedule_.rank_of(item.chunk), own}];
      if (link.arrivals.empty()) return false;
      now = std::max(now, link.arrivals.front());
      link.arrivals.pop_front();
    }
    times_[rank].push_back({begin, now});
    return true;
  }

  const PipelineSchedule& schedule_;
  const PipelineCosts& costs_;
  std::vector<std::vector<ItemTimes>> times_;
  std::vector<double> now_s_;
  std::map<std::pair<int, int>, Link> links_;
};

}  // namespace

PipelineCosts equal_costs(const PipelineSchedule& schedule, double forward_s, double backward_s,
                          double weights_s) {
  const double share = schedule.ranks.empty()
                           ? 1.0
                           : static_cast<double>(schedule.ranks.size()) / std::max(schedule.n_chunks(), 1);
  PipelineCosts costs;
  costs.compute_s = [=](const PipelineItem& item) {
    switch (item.pass) {
      case PipelinePass::forward:
        return share * forward_s;
      case PipelinePass::backward:
        return share * backward_s;
      case PipelinePass::weights:
        return share * weights_s;
      default:
        return share * (backward_s + weights_s);
    }
  };
  return costs;
}

PipelineTimeline timeline_of(const PipelineSchedule& schedule, const PipelineCosts& costs) {
  require_sound(schedule);
  PipelineTimeline timeline;
  timeline.items = Simulation(schedule, costs).run();
  double busy_s = 0.0;
  for (std::size_t rank = 0; rank < timeline.items.size(); ++rank) {
    double own_s = 0.0, first_s = std::numeric_limits<double>::infinity(), last_s = 0.0;
    for (std::size_t i = 0; i < timeline.items[rank].size(); ++i) {
      const ItemTimes& times = timeline.items[rank][i];
      timeline.end_s = std::max(timeline.end_s, times.end_s);
      if (schedule.ranks[rank].items[i].action != Action::compute) continue;
      own_s += times.end_s - times.begin_s;
      first_s = std::min(first_s, times.begin_s);
      last_s = std::max(last_s, times.end_s);
    }
    timeline.idle_within.push_back(last_s > first_s ? 1.0 - own_s / (last_s - first_s) : 0.0);
    busy_s += own_s;
  }
  const double all_s = timeline.end_s * static_cast<double>(timeline.items.size());
  timeline.idle = all_s > 0.0 ? 1.0 - busy_s / all_s : 0.0;
  return timeline;
}

}  // namespace lodestone::engine
