// SPDX-License-Identifier: Apache-2.0
// Predicted times of a schedule, by a simulation of its events. Nothing is computed or sent.
#pragma once

#include "engine/dist/pipeline/schedules.hpp"
#include "engine/dist/transport/sim.hpp"

namespace lodestone::engine {

/// Modelled times of a step. Functions may tell chunks and leaves apart.
struct PipelineCosts {
  std::function<double(const PipelineItem&)> compute_s = [](const auto&) { return 0.0; };  ///< a computation
  std::function<double(const PipelineItem&)> bytes = [](const auto&) { return 0.0; };      ///< a message
  Links links = [](int, int) { return LinkSpeed(); };
};
/// Returns costs of chunks that are equal shares of the network. `forward_s`, `backward_s`, `weights_s`:
/// times of F, B and W for all chunks of a rank together; BW takes the sum of the last two.
[[nodiscard]] PipelineCosts equal_costs(const PipelineSchedule& schedule, double forward_s, double backward_s,
                                        double weights_s);

/// The modelled begin and end of an item, s. A send ends when it begins; a receive ends with the arrival.
struct ItemTimes {
  double begin_s = 0.0, end_s = 0.0;
  friend bool operator==(const ItemTimes&, const ItemTimes&) = default;
};

struct PipelineTimeline {
  std::vector<std::vector<ItemTimes>> items;  ///< per rank, as the items of the schedule
  double end_s = 0.0;                         ///< end of the last item of all ranks
  double idle = 0.0;                          ///< share of ranks × whole step without computation
  std::vector<double> idle_within;            ///< per rank, between its first and its last computation
};

/// Returns the modelled times of a schedule, with links as those of SIM and unlimited buffers. errors: those
/// of `require_sound`.
[[nodiscard]] PipelineTimeline timeline_of(const PipelineSchedule& schedule, const PipelineCosts& costs);

}  // namespace lodestone::engine
