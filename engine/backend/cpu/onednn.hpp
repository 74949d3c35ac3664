// SPDX-License-Identifier: Apache-2.0
// What kernels that call oneDNN share. Threads are ours: each of them calls the library for a part of the
// work, on itself alone.
#pragma once

#include "engine/graph/op_info.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>

namespace lodestone::engine::cpu_backend::onednn {

/// Returns what LODESTONE_ONEDNN says: `on`, the default, or `off`. errors: InvalidArgument for another word.
[[nodiscard]] bool is_wanted();

/// Returns our own kernel for a call, for what the library is not faster at.
[[nodiscard]] inline const Kernel& own_kernel(const KernelCall& call) {
  return call.op.kernel_of(Backend::processor, call.in[0].aval->dtype);
}

/// While one lives, oneDNN keeps to the calling thread.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// Returns the processor as the library sees it, with the instruction set of `isa()`.
[[nodiscard]] const dnnl::engine& processor();

/// Returns a description of an array that waits for its memory.
[[nodiscard]] dnnl::memory array(const dnnl::memory::desc& desc);

/// An operand of a primitive by its number, DNNL_ARG_….
struct Operand {
  int number;
  const dnnl::memory& array;
};
/// Runs a primitive whose operands, four at most, have their memory. errors: DeviceError with the library's
/// status.
void run(const dnnl::primitive& primitive, std::initializer_list<Operand> operands);

/// A division of work by its amount alone, so that no bit depends on the number of threads: all pieces but
/// the last have so many `items`.
struct Pieces {
  static constexpr Dim most = 8;
  Dim n, items;

  /// Divides work of about `ns` nanoseconds into `allowed` pieces at most, and `least` where items allow it.
  Pieces(Dim n_items, double ns, Dim allowed = most, Dim least = 1) {
    constexpr double ns_of_piece = 1e5;
    const Dim worth =
        std::max(least, static_cast<Dim>(std::min(ns / ns_of_piece, static_cast<double>(most))));
    n = std::clamp<Dim>(std::min(worth, allowed), 1, n_items);
    items = (n_items + n - 1) / n;
    n = (n_items + items - 1) / items;
  }
  [[nodiscard]] Dim items_of(Dim i, Dim n_items) const { return std::min(items, n_items - i * items); }
};

/// Returns what the calling thread has made of these arguments, made at the first call; null where the
/// library has no algorithm for them, or none that is fast.
template <class Made, class Arguments>
[[nodiscard]] Made* made_of(const Arguments& arguments) {
  thread_local std::map<Arguments, std::optional<Made>> all;
  const auto [at, is_new] = all.try_emplace(arguments);
  if (is_new) {
    const OneThread alone;
    try {
      at->second.emplace(arguments);
    } catch (const dnnl::error&) {
    }
    if (at->second && !at->second->is_fast()) at->second.reset();
  }
  return at->second ? &*at->second : nullptr;
}

/// Returns false for an algorithm that the library has for completeness. source: dnnl_query_impl_info_str
[[nodiscard]] inline bool is_fast(std::string_view algorithm) {
  return algorithm.starts_with("jit") || algorithm.starts_with("brg");
}

/// Returns attributes by which a primitive takes its workspace from its caller.
[[nodiscard]] dnnl::primitive_attr with_own_workspace();

}  // namespace lodestone::engine::cpu_backend::onednn
