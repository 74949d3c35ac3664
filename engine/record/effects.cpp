// SPDX-License-Identifier: Apache-2.0
#include "engine/record/effects.hpp"

#include <utility>

namespace lodestone::engine {
namespace {
thread_local Effects* innermost_scope = nullptr;
}

Effects::Effects() : outer_(std::exchange(innermost_scope, this)) {}
Effects::~Effects() { innermost_scope = outer_; }

void Effects::pass_on(const Tensor& result) const {
  if (outer_ != nullptr) outer_->noted_.push_back(result);
}

const Effects* Effects::innermost() { return innermost_scope; }

void Effects::note(const Tensor& result) {
  if (innermost_scope != nullptr) innermost_scope->noted_.push_back(result);
}

}  // namespace lodestone::engine
