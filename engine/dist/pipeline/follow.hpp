// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the order of a schedule over a transport, whatever its chunks compute.
#pragma once

#include "engine/dist/pipeline/schedules.hpp"
#include "engine/dist/transport/transport.hpp"

#include <functional>
#include <vector>

namespace lodestone::engine {

/// The actions of a rank at the items of its list.
struct PipelineSteps {
  std::function<void(const PipelineItem&)> compute;
  /// Returns the arrays of a message; they stay in place until `sent` is called.
  std::function<std::vector<Strided>(const PipelineItem&)> outgoing, incoming;
  std::function<void(const PipelineItem&)> received = [](const auto&) {};
  std::function<void(const PipelineItem&)> sent = [](const auto&) {};
};

/// Follows the list of this rank. `number`: that of all messages, which meet in the order of the schedule.
/// `n_buffers`: how many messages may be under way from this rank to another; further sends wait. collective
/// over the ranks of the schedule, which must be sound (`check_schedule`). errors: those of `Transport::test`
/// and of the steps.
void follow(Transport& transport, const PipelineSchedule& schedule, const PipelineSteps& steps,
            std::uint64_t number, int n_buffers);

}  // namespace lodestone::engine
