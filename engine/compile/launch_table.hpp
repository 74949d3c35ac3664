// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the launches of a lowered program on memory of their own, ready to run.
#pragma once

#include "engine/compile/lower.hpp"

namespace lodestone::engine {

/// Every call of a lowered program with the addresses of its operands. One thread runs it at a time.
class LaunchTable {
 public:
  /// `lowered` lives longer. `blocks`: the memory of each of its blocks.
  LaunchTable(const Lowered& lowered, std::span<std::byte* const> blocks);
  ~LaunchTable();
  LaunchTable(const LaunchTable&) = delete;
  LaunchTable& operator=(const LaunchTable&) = delete;

  /// Says where the first element of a held tensor is.
  void hold(std::uint32_t number, std::byte* data) {
    for (const std::uint32_t access : lowered_.accesses_of[number])
      views_[access].data = data + lowered_.accesses[access].source.bytes;
  }
  /// Gives a tensor to the launches that use it; it may have no memory where there are none.
  void hold(std::uint32_t number, const Tensor& tensor) {
    if (!lowered_.accesses_of[number].empty()) hold(number, tensor.node().data());
  }
  /// Runs a launch with other attributes from now on, which live longer.
  void replace_attrs(std::uint32_t launch, const Attrs& attrs);
  /// Packs an operand of a launch, which finds it there from now on. errors: as `run`.
  void pack(std::uint32_t launch, void (*by)(const KernelCall&, std::byte* to), std::byte* to);
  /// Lets the kernel of a launch pack by itself again.
  void forget_packed(std::uint32_t launch);
  /// Runs a launch. errors: those of the kernels, with op and line.
  void run(std::uint32_t launch) const;
  /// Returns where the results of a launch are, in order, row-major.
  [[nodiscard]] std::span<const View> results(std::uint32_t launch) const;

 private:
  struct Call;

  const Lowered& lowered_;
  std::vector<View> views_;  // by access
  std::vector<Call> calls_;  // by launch
};

}  // namespace lodestone::engine
