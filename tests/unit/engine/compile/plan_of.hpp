// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compile/plan.hpp"
#include "engine/record/tuple.hpp"

#include <memory>

namespace lodestone::tests {

inline std::vector<engine::Strides> strides_of(const engine::Tensors& inputs) {
  std::vector<engine::Strides> result;
  for (const engine::Tensor& each : inputs) result.push_back(each.eval().node().look.strides);
  return result;
}

inline std::unique_ptr<engine::Plan> plan_of(const engine::Trace& trace, const engine::Tensors& like,
                                             engine::Level level = engine::Level::O0,
                                             engine::HostJit& jit = engine::HostJit::none()) {
  return std::make_unique<engine::Plan>(engine::Program::of(trace), strides_of(like), level,
                                        std::vector<engine::Donor>{}, jit);
}
inline std::unique_ptr<engine::Plan> plan_of(const engine::Function& f, const engine::Tensors& like,
                                             engine::Level level = engine::Level::O0,
                                             engine::HostJit& jit = engine::HostJit::none()) {
  const engine::Trace trace =
      engine::Trace::without_values(f, engine::avals_of(like), std::source_location::current());
  return plan_of(trace, like, level, jit);
}

}  // namespace lodestone::tests
