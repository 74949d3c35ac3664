// SPDX-License-Identifier: Apache-2.0
#include "engine/record/host_state.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::engine {
namespace {
thread_local HostStateScope* innermost_scope = nullptr;
}

HostStateScope::HostStateScope() : outer_(std::exchange(innermost_scope, this)) {}
HostStateScope::~HostStateScope() {
  innermost_scope = outer_;
  if (outer_ == nullptr) return;
  for (HostChoice& each : choices_) {
    if (!outer_->knows(each.id)) outer_->choices_.push_back(std::move(each));
  }
}
HostStateScope* HostStateScope::innermost() { return innermost_scope; }

bool HostStateScope::knows(const void* id) const {
  return std::ranges::any_of(choices_, [&](const HostChoice& each) { return each.id == id; });
}

void HostStateScope::add(const void* id, std::function<int()> now) {
  const int then = now();
  choices_.push_back({id, std::move(now), then});
}

}  // namespace lodestone::engine
