// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/watch.hpp"

#include "engine/core/error.hpp"
#include "engine/record/record.hpp"

namespace lodestone::engine {
namespace {

Tensors without_gaps(const Tensors& arguments) {
  Tensors result;
  for (const Tensor& each : arguments) result.emplace_back(row_major(each.eval().node_pointer()));
  return result;
}

}  // namespace

GivenInputs::GivenInputs(const PlannedFunction& function, const Tensors& arguments)
    : inputs_(without_gaps(arguments)) {
  if (!inputs_.take(function.recorded.read))
    throw core::InvalidArgument("engine::inspect#inside_transform",
                                "expected cells with values, got one that a transform follows; look at the "
                                "function outside of transforms");
  inputs_.feed(function.recorded.feeds);
}

Tensors run_watched(const PlannedFunction& function, const GivenInputs& inputs, Watcher& watcher) {
  return function.plan->run(inputs.all(), {}, &watcher);
}

}  // namespace lodestone::engine
