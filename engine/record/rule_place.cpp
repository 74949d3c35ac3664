// SPDX-License-Identifier: Apache-2.0
#include "engine/record/rule_place.hpp"

#include <utility>

namespace lodestone::engine {
namespace {

thread_local const std::source_location* innermost = nullptr;

}  // namespace

RulePlace::RulePlace(const std::source_location* where)
    : where_(where != nullptr ? *where : std::source_location()),
      before_(std::exchange(innermost, where != nullptr ? &where_ : nullptr)) {}
RulePlace::~RulePlace() { innermost = before_; }

const std::source_location& RulePlace::of(const std::source_location& own) {
  return innermost != nullptr ? *innermost : own;
}

}  // namespace lodestone::engine
