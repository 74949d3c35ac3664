// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: programs made of other programs, instruction by instruction.
#pragma once

#include "engine/program/program.hpp"

namespace lodestone::engine {

/// A program that takes the place of another one: it has the same inputs and gives the same outputs.
class Rebuilt {
 public:
  explicit Rebuilt(const Program& from);

  /// Returns the value that stands for one of the old program: an input, a constant, or what `copy` or
  /// `replace` gave.
  [[nodiscard]] ValueId of(ValueId old);
  /// Adds an instruction as it is.
  void copy(const Instruction& each);
  /// Lets a value stand for an old one, whose bits it has.
  void replace(ValueId old, ValueId by);
  /// Adds an instruction on values of the new program and returns its first result.
  ValueId add(Instruction made, std::span<const ValueId> operands, std::span<const Aval> results);
  /// Adds a constant, which is evaluated.
  ValueId add_constant(const Tensor& constant);
  /// Returns the new program so far, without outputs.
  [[nodiscard]] const ProgramParts& parts() const { return parts_; }

  /// Returns the program. errors: those of its constructor.
  [[nodiscard]] Program program();

 private:
  ValueId add_value(const Aval& aval, Value::From from, std::size_t of, std::uint32_t output = 0);
  const Program& from_;
  ProgramParts parts_;
  std::vector<ValueId> new_of_;
};

}  // namespace lodestone::engine
