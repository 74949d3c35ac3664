// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: branches, loops and calls whose inside a plan knows.
#pragma once

#include "engine/compile/level.hpp"
#include "engine/compile/lower.hpp"
#include "engine/ops/direction.hpp"

namespace lodestone::engine {

/// The function of such an op: a program with launches, whose block is part of the memory of the op.
class Body {
 public:
  /// `inputs`: strides of what it runs on. `level`: what is done to it, as to the program around it.
  Body(Program program, std::span<const Strides> inputs, Level level);
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  [[nodiscard]] const Program& program() const { return program_; }
  /// Returns the program that runs: what the level has made of the other.
  [[nodiscard]] const Program& running() const { return optimized_ ? *optimized_ : program_; }
  [[nodiscard]] const Lowered& lowered() const { return lowered_; }
  /// Returns the bytes of its block.
  [[nodiscard]] std::size_t bytes() const;

 private:
  Program program_;
  std::optional<Program> optimized_;
  Lowered lowered_;
};

class ControlPlan;

/// The bodies of a program. Equal functions, such as the repeated blocks of a network, share one.
class Bodies {
 public:
  /// `level`: as of `Body`.
  explicit Bodies(Level level) : level_(level) {}
  /// Returns the body of a function for inputs with these strides: one that is there, for the same program
  /// from the same lines, or a new one. The function lives as long as the bodies.
  [[nodiscard]] std::shared_ptr<const Body> of(const Trace& function, std::span<const Strides> inputs);
  /// Returns the plan of a call of a function, which all of its calls share.
  [[nodiscard]] std::shared_ptr<const ControlPlan> call_of(const Trace& function,
                                                           std::span<const Strides> inputs);

 private:
  struct Entry {
    std::uint64_t hash;
    std::vector<Strides> inputs;
    std::shared_ptr<const Body> body;
    std::shared_ptr<const ControlPlan> call;  ///< null: nobody has asked
    std::vector<const Trace*> functions;      ///< whose body it is
  };
  [[nodiscard]] Entry& entry_of(const Trace& function, std::span<const Strides> inputs);

  Level level_;
  std::vector<Entry> entries_;
};

/// Plan of an op with functions: which of them, how often, and on which memory. Its operands are those of
/// the op; its results are row-major without gaps.
class ControlPlan {
 public:
  enum class Way : std::uint8_t { call, branch, loop };
  /// The memory that one carry of a loop goes through: the result itself, and where a step writes before it
  /// has read, a second place, which takes turns with it.
  struct Carry {
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t bytes;
    std::size_t second = none;  ///< offset in the memory of the op
  };
  /// Part of the plan of a loop that bodies do not have.
  struct Loop {
    std::vector<Carry> carries;
    std::vector<std::ptrdiff_t> x_steps, y_steps;  ///< bytes from one slice to the next
    std::int64_t n_steps = 0;
    Direction direction = Direction::forward;
  };
  using BodyPtr = std::shared_ptr<const Body>;

  /// Returns the plan of an instruction; null where it has no functions, or one of them needs more than
  /// kernels: a simulation, a solver, a value that is no array, another device. `looks`: those of its
  /// operands. `known`: bodies of the program so far. errors: those of the row.
  [[nodiscard]] static std::shared_ptr<const ControlPlan> of(const Program& program, const Instruction& each,
                                                             std::span<const Look> looks, Bodies& known);
  ControlPlan(Way way, std::vector<BodyPtr> bodies, Loop loop);

  [[nodiscard]] Way way() const { return way_; }
  /// Returns the function; of a branch first that for true, then that for false.
  [[nodiscard]] const std::vector<BodyPtr>& bodies() const { return bodies_; }
  [[nodiscard]] const Loop& loop() const { return loop_; }
  /// Returns whether an operand has to be row-major without gaps: a carry, which later steps are.
  [[nodiscard]] bool takes_dense(std::size_t operand) const { return operand < loop_.carries.size(); }
  /// Returns whether a result may be in the memory of an operand, which has to be row-major without gaps: no
  /// function reads it once the result is written, or the function gives it as it is.
  [[nodiscard]] bool writes_over(std::size_t operand, std::size_t result) const;
  /// Returns the bytes of its memory: the block of a body, of a branch the larger one, and second places.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Returns the body that counts: of a branch the one with more launches.
  [[nodiscard]] const Body& counted_body() const;
  [[nodiscard]] std::int64_t n_runs() const { return way_ == Way::loop ? loop_.n_steps : 1; }

 private:
  Way way_;
  std::vector<BodyPtr> bodies_;
  Loop loop_;
  std::size_t bytes_ = 0;
};

/// Checks that the body of a loop finds its operands in every step: each carry that has no second place is
/// read before it is written. errors: as `verify` of what is lowered, and InvalidArgument for second places
/// beyond `bytes` or over the body's block.
void verify(const Body& body, const ControlPlan::Loop& loop, std::size_t bytes);

/// Returns the number of kernels that a run calls, those of bodies as often as they run; of a branch those of
/// the function with more.
[[nodiscard]] std::int64_t n_launches(const Lowered& lowered);
/// Returns those of them that only remove gaps.
[[nodiscard]] std::int64_t n_copies(const Lowered& lowered);

}  // namespace lodestone::engine
