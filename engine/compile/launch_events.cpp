// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/launch_events.hpp"

#include "engine/compile/parts.hpp"
#include "engine/core/error.hpp"
#include "engine/graph/op_info.hpp"

namespace lodestone::engine {

void LaunchEvents::describe(const Lowered& plan) {
  for (const Launch& each : plan.launches) {
    const std::string name = fmt::format("{} {}", each.op->title_of(each.attrs), at_line(each.where));
    events_.push_back({core::Timeline::name(name), core::Timeline::Kind::launch, 0, 0, std::ssize(events_),
                       static_cast<std::int64_t>(bytes_moved(plan, each))});
  }
}

void LaunchEvents::write(std::uint32_t launch) {
  core::Timeline::Event event = events_[launch];
  event.begin = begin_;
  event.end = begin_ = core::Timeline::now();
  core::Timeline::add(event);
}

}  // namespace lodestone::engine
