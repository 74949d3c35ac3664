// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the clusters of a plan as text, alone and behind kernels, and the functions that are
// made of it.
#pragma once

#include "engine/compile/lower.hpp"
#include "engine/generate/host_jit.hpp"

#include <mutex>

namespace lodestone::engine {

/// Returns the texts of the clusters that have one, each once.
[[nodiscard]] std::vector<std::string> kernel_texts(const Lowered& lowered);

/// The launches of a plan that run by text as soon as their functions are there. Threads may ask at once.
class GeneratedLaunches {
 public:
  /// Asks for the functions. `jit` lives longer.
  GeneratedLaunches(const Lowered& lowered, HostJit& jit);

  /// Calls visit(launch, attributes) for all launches that run by text now, where there are more than at
  /// `n_made`, which then counts these.
  template <class Visit>
  void update(std::int64_t& n_made, const Visit& visit) const {
    if (each_.empty() || jit_.n_made() == n_made) return;
    n_made = jit_.n_made();
    const std::lock_guard lock(mutex_);
    for (Each& each : each_) {
      if (is_ready(each)) visit(each.launch, *each.attrs);
    }
  }
  /// Returns the number of launches that run by text now.
  [[nodiscard]] std::int64_t n_ready() const;

 private:
  struct Each {
    std::uint32_t launch;
    std::vector<GeneratedKernelPtr> kernels;  ///< by program, null for one without text
    const OpInfo* op;
    const Attrs* interpreted;
    AttrsPtr attrs = {};  ///< these with the functions, once all are there
  };
  static bool is_ready(Each& each);

  HostJit& jit_;
  mutable std::mutex mutex_;
  mutable std::vector<Each> each_;
};

}  // namespace lodestone::engine
