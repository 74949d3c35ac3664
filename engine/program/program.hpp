// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record/trace.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lodestone::engine {

/// The number of a value of a program.
using ValueId = std::uint32_t;

/// A value of a program: what comes in, what it was recorded with, or what an instruction gives.
struct Value {
  enum class From : std::uint8_t { input, constant, result };
  Aval aval;
  From from;
  std::uint32_t of;          ///< number of the input, of the constant or of the instruction
  std::uint32_t output = 0;  ///< which result of the instruction
  /// The value of the recorded program whose bits it has, however passes have changed the program since.
  ValueId origin = no_origin;
  static constexpr ValueId no_origin = std::numeric_limits<ValueId>::max();
  /// A constant that is another number for other extents of a batch: no pass may use which one.
  bool varies = false;
};

/// The ops that computed a constant of others while a function was recorded.
struct Recipe {
  const OpInfo* op;  ///< null: it was `given`
  AttrsPtr attrs;
  std::vector<std::shared_ptr<const Recipe>> in;
  Tensor given;
  std::source_location where;
};
using RecipePtr = std::shared_ptr<const Recipe>;

/// One use of a row. Its operands stand in a list of the program, its results are values in a row.
struct Instruction {
  const OpInfo* op;
  AttrsPtr attrs;
  std::uint32_t first_operand, n_operands;
  ValueId first_result;
  std::uint32_t n_results;
  bool is_effect;  ///< must run, in its order, though nobody may need its results
  std::source_location where;
};

/// Lists that a program consists of. Values stand in the order in which they come to be, inputs first.
struct ProgramParts {
  std::size_t n_inputs = 0;
  std::vector<Value> values;
  std::vector<Instruction> instructions;
  std::vector<ValueId> operands, outputs;
  Tensors constants;
  std::vector<RecipePtr> recipes = {};  ///< by constant of a recorded function, null where it was given
};

/// A function of arrays in single assignment: instructions in the order in which they were recorded, each of
/// which takes values from before it. Immutable. Tuples do not occur: an op with several results has several
/// values.
class Program {
 public:
  /// Makes a program of what was recorded without values. What the function did not compute from its inputs
  /// becomes constants, which are evaluated. errors: InvalidArgument where a tuple is used as a whole.
  [[nodiscard]] static Program of(const Trace& trace);
  /// Checks that operands stand before their use, that each value has one origin, and that effects are
  /// marked. Abstract values must be what the shape rules give, attributes those of their rows. errors:
  /// InvalidArgument that names the instruction.
  explicit Program(ProgramParts parts);

  [[nodiscard]] const ProgramParts& parts() const { return parts_; }
  [[nodiscard]] std::size_t n_inputs() const { return parts_.n_inputs; }
  [[nodiscard]] const std::vector<Value>& values() const { return parts_.values; }
  [[nodiscard]] const std::vector<Instruction>& instructions() const { return parts_.instructions; }
  [[nodiscard]] const std::vector<ValueId>& outputs() const { return parts_.outputs; }
  [[nodiscard]] const Tensors& constants() const { return parts_.constants; }
  [[nodiscard]] std::span<const ValueId> operands(const Instruction& instruction) const {
    return std::span(parts_.operands).subspan(instruction.first_operand, instruction.n_operands);
  }

  /// Returns a number that equal programs share.
  [[nodiscard]] std::uint64_t hash() const;
  /// Returns true for the same instructions on the same values in the same order. Constants are compared by
  /// their bits and strides, places in the code are not compared.
  [[nodiscard]] bool same(const Program& other) const;
  /// Returns one line per instruction: "%3: f32[64, 8] = add(%0, %2)".
  [[nodiscard]] std::string text() const;
  /// Returns the line of one of its instructions.
  [[nodiscard]] std::string text(const Instruction& instruction) const;

 private:
  ProgramParts parts_;
};

}  // namespace lodestone::engine
