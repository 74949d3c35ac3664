// SPDX-License-Identifier: Apache-2.0
#include "engine/record/effects.hpp"

#include <utility>

namespace lodestone::engine {
namespace {
thread_local Effects* innermost = nullptr;
}

Effects::Effects() : outer_(std::exchange(innermost, this)) {}
Effects::~Effects() { innermost = outer_; }

void Effects::pass_on(const Tensor& result) const {
  if (outer_ != nullptr) outer_->noted_.push_back(result);
}

void Effects::note(const Tensor& result) {
  if (innermost != nullptr) innermost->noted_.push_back(result);
}

}  // namespace lodestone::engine
