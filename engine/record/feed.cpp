// SPDX-License-Identifier: Apache-2.0
#include "engine/record/feed.hpp"

#include "engine/core/error.hpp"
#include "engine/record/record.hpp"

#include <utility>

namespace lodestone::engine {
namespace {
thread_local FeedScope* innermost_scope = nullptr;
}

Tensor Feed::value() const {
  const auto element = number().element(aval.dtype);
  return Tensor::from_bytes(std::span(element).first(core::size_of(aval.dtype)), aval);
}

FeedScope::FeedScope() : outer_(std::exchange(innermost_scope, this)) {}
FeedScope::~FeedScope() { innermost_scope = outer_; }
bool FeedScope::is_open() { return innermost_scope != nullptr; }

Tensor fed(std::function<Number()> f, DType dtype, Device device, std::source_location where) {
  if (!f)
    throw core::InvalidArgument("engine::fed#no_function",
                                "expected a function that gives a number, got an empty one {}",
                                at_line(where));
  Feed feed{std::move(f), {{}, dtype, device}};
  if (innermost_scope == nullptr) return feed.value();
  innermost_scope->placeholders_.push_back(placeholder(feed.aval, where));
  innermost_scope->feeds_.push_back(std::move(feed));
  return innermost_scope->placeholders_.back();
}

}  // namespace lodestone::engine
