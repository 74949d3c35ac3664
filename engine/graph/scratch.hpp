// SPDX-License-Identifier: Apache-2.0
// The memory that kernels work in: they say how much, the executor gives it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lodestone::engine {

/// The bytes that a run of a kernel needs beside its operands: one block for all threads, and one for each.
struct Workspace {
  std::size_t shared = 0, per_thread = 0;
};

/// The workspace of one run. Its bytes have any value at first.
class Scratch {
 public:
  static constexpr std::size_t alignment = 64;  ///< start of every block, in bytes

  /// Returns the first place behind so many bytes at which a block may start.
  [[nodiscard]] static constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  /// Returns the bytes of a workspace on so many threads.
  [[nodiscard]] static std::size_t bytes_of(const Workspace& workspace, int n_threads);
  /// Returns the number of threads on which a kernel may run that this thread calls.
  [[nodiscard]] static int threads_of_call();

  Scratch() = default;
  /// Divides `memory`, which has `bytes_of` bytes and is aligned.
  Scratch(std::byte* memory, const Workspace& workspace, int n_threads);
  [[nodiscard]] std::byte* shared() const { return memory_; }
  /// Returns the rest behind a part of this size, whose blocks are aligned.
  [[nodiscard]] Scratch behind(const Workspace& part) const;
  /// Returns the block of the calling thread. errors: InvalidArgument where the number of threads has grown
  /// since the run began.
  [[nodiscard]] std::byte* of_this_thread() const;

 private:
  std::byte* memory_ = nullptr;
  std::size_t first_ = 0, step_ = 0;  ///< start of the first thread's block, distance of the others
  int n_threads_ = 0;
};

/// Places arrays one behind the other in a block, each aligned. Without a block it only measures: so the same
/// lines state what a kernel needs and find it again when it runs.
class Layout {
 public:
  explicit Layout(std::byte* block = nullptr) : block_(block) {}
  /// Returns n elements of any value; null while it measures, and for none.
  template <class T>
  [[nodiscard]] T* array(std::int64_t n) {
    if (n == 0) return nullptr;
    const std::size_t first = Scratch::aligned(bytes_);
    bytes_ = first + static_cast<std::size_t>(n) * sizeof(T);
    return block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + first);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* block_;
  std::size_t bytes_ = 0;
};

}  // namespace lodestone::engine
