// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/scratch.hpp"

#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"

#include <algorithm>

namespace lodestone::engine {
std::size_t Scratch::bytes_of(const Workspace& workspace, int n_threads) {
  if (workspace.per_thread == 0) return workspace.shared;
  const auto others = static_cast<std::size_t>(n_threads - 1);
  return aligned(workspace.shared) + others * aligned(workspace.per_thread) + workspace.per_thread;
}

int Scratch::threads_of_call() { return std::max(core::threads(), core::thread_index() + 1); }

Scratch::Scratch(std::byte* memory, const Workspace& workspace, int n_threads)
    : memory_(memory),
      first_(aligned(workspace.shared)),
      step_(aligned(workspace.per_thread)),
      n_threads_(n_threads) {}

Scratch Scratch::behind(const Workspace& part) const {
  Scratch rest = *this;
  if (memory_ != nullptr) rest.memory_ += part.shared;  // else it measures
  rest.first_ = rest.first_ + part.per_thread - part.shared;
  return rest;
}

std::byte* Scratch::of_this_thread() const {
  const int index = core::thread_index();
  if (index >= n_threads_)
    throw core::InvalidArgument("engine::Scratch#more_threads",
                                "expected a kernel to end on the {} threads it began with, got thread {}; "
                                "set the number of threads while no graph runs",
                                n_threads_, index);
  return memory_ + first_ + step_ * static_cast<std::size_t>(index);
}

}  // namespace lodestone::engine
