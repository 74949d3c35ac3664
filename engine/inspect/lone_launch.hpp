// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what times kernels and what measures rates share it.
// Inside of the engine: a launch of a plan without the others.
#pragma once

#include "engine/compile/lower.hpp"
#include "engine/memory/buffer.hpp"

#include <string>
#include <vector>

namespace lodestone::engine {

/// Returns what decides on the time of a launch, in words.
[[nodiscard]] std::string kind_of(const Lowered& plan, const Launch& launch);
/// Returns the bytes of memory that the operands of a launch need.
[[nodiscard]] std::size_t bytes_of_operands(const Lowered& plan, const Launch& launch);

/// A launch on memory of its own, full of numbers that functions and places in arrays allow. Plan and launch
/// live longer.
class LoneLaunch {
 public:
  LoneLaunch(const Lowered& plan, const Launch& launch);
  /// Calls the kernel. errors: those of the kernel, which may refuse such numbers.
  void run() const;

 private:
  [[nodiscard]] View filled(const Access& access);

  const Launch& launch_;
  std::vector<BufferPtr> buffers_;
  std::vector<View> views_;
  Scratch scratch_;
};

}  // namespace lodestone::engine
