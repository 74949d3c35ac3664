// SPDX-License-Identifier: Apache-2.0
// Small on purpose: kernels of both backends find their scratch by the functions that measure it.
#pragma once

#include "engine/graph/kernel.hpp"

namespace lodestone::engine {

/// Returns what `place(layout, call)` puts into the memory that all threads of a run share.
template <auto place>
[[nodiscard]] auto shared_arrays(const KernelCall& call) {
  Layout layout(call.scratch.shared());
  return place(layout, call);
}
/// Returns what it puts into the memory of the calling thread.
template <auto place>
[[nodiscard]] auto own_arrays(const KernelCall& call) {
  Layout layout(call.scratch.of_this_thread());
  return place(layout, call);
}

/// Measures a place function for `Kernel::workspace`.
template <auto place>
[[nodiscard]] std::size_t bytes_placed(const KernelCall& call) {
  Layout layout;
  static_cast<void>(place(layout, call));
  return layout.bytes();
}
template <auto place>
[[nodiscard]] Workspace shared_workspace(const KernelCall& call) {
  return {.shared = bytes_placed<place>(call)};
}
template <auto place>
[[nodiscard]] Workspace own_workspace(const KernelCall& call) {
  return {.per_thread = bytes_placed<place>(call)};
}

}  // namespace lodestone::engine
