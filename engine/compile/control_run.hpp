// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: a branch, a loop or a call on the memory of a plan.
#pragma once

#include "engine/compile/control_plan.hpp"
#include "engine/compile/launch_table.hpp"

#include <deque>

namespace lodestone::engine {

/// The bodies of an op with functions, with every call made ready. A run asks for no memory.
class ControlRun {
 public:
  /// `plan` lives longer. `memory`: `plan.bytes()` bytes, which are aligned.
  ControlRun(const ControlPlan& plan, std::byte* memory);
  /// Runs on the operands of the op, and writes its results. errors: those of the kernels, with op and line.
  void run(std::span<const View> in, std::span<const View> out);

 private:
  void run_body(std::size_t number, std::span<const View> in, std::span<const View> out);
  void run_loop(std::span<const View> in, std::span<const View> out);
  void step(std::int64_t step, std::span<const View> in, std::span<const View> out);
  [[nodiscard]] std::byte* written_at(std::size_t carry, std::int64_t step, std::span<const View> out) const;
  void hold_output(std::size_t number, std::size_t body, std::byte* data);
  void run_launches(std::size_t body);

  const ControlPlan& plan_;
  std::byte* memory_;
  std::deque<LaunchTable> bodies_;
};

}  // namespace lodestone::engine
