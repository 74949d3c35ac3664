// SPDX-License-Identifier: Apache-2.0
// Functions that are recorded once per kind of argument and then run as a plan.
#pragma once

#include "engine/compile/level.hpp"
#include "engine/record/function.hpp"

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace lodestone::engine {

/// The fate of a function that reads values while it is recorded: by a host `if`, `item`, `data`, `eval`.
enum class Breaks : std::uint8_t {
  counted,  ///< f is recorded in every call; what it computes between two reads runs as a plan. It is counted
  refused   ///< an error
};

/// An axis of an input whose extent n may change from call to call without another recording.
struct BatchAxis {
  static constexpr std::size_t every_input = std::numeric_limits<std::size_t>::max();
  std::size_t input = every_input;
  int axis = 0;
  /// Largest extent that shares a plan, for which memory is planned; 0: the larger of the first two.
  Dim bound = 0;
};

struct CompileOptions {
  Level level = Level::O1;                  ///< changes how often memory is touched, and no bit
  Exactness exactness = Exactness::strict;  ///< fast: bits change, but not in functions of loops and branches
  Breaks breaks = Breaks::counted;
  /// Bytes that a plan may take beside inputs and results (`CompileStats::block_bytes`): where it would take
  /// more, ops of the part before its fullest moment run again behind it. Of functions that read values,
  /// parts that cannot keep it run op by op, beyond it. 0: no limit
  std::size_t budget = 0;
  /// Kept at a time; beyond them the oldest goes. As many again for what is between reads of values.
  int most_plans = 8;
  /// Lets clusters become functions made of C++ while the program runs, where LODESTONE_JIT asks for that.
  bool by_text = true;
  /// Axes that all have one extent n. Where n is another than before, f is recorded for it and for a third
  /// extent. The three programs may differ in numbers of the form a n + b. Then one plan serves all n from
  /// 2 to the bound, on memory for the bound. Else the shape stays static, and the recompilation says why. f
  /// must not decide by n, on the host, what it records or feeds. Functions that read values have a plan per
  /// n.
  std::vector<BatchAxis> symbolic = {};
};

/// A place where a function reads a value that does not exist while it is recorded.
struct Break {
  std::string what;            ///< "elements of f64[3]"
  std::source_location where;  ///< the line that reads
  std::int64_t n = 0;          ///< calls that recorded f anew because of it
};

/// Why a compiled function was recorded once more.
enum class Cause : std::uint8_t { inputs, form, strides, threads, host_state };

struct Recompile {
  Cause cause;
  std::string what;            ///< the first difference: "input 1: extent of axis 0 was 64, is 17"
  std::source_location where;  ///< the call
};

/// A way in which fast mode leaves the bits of an eager run.
struct Liberty {
  std::string name;    ///< "x / c"
  std::int64_t n = 0;  ///< instructions that were changed
};

struct CompileStats {
  std::int64_t n_calls = 0;      ///< those that were neither hits nor traces ran the function itself
  std::int64_t n_hits = 0;       ///< calls that found a plan
  std::int64_t n_traces = 0;     ///< calls that recorded the function
  std::int64_t n_plans = 0;      ///< made; equal programs share one
  std::int64_t n_resized = 0;    ///< plans set anew for another extent of symbolic axes, which are not made
  std::int64_t n_segments = 0;   ///< parts of calls between two reads of values that ran as plans
  std::int64_t n_op_by_op = 0;   ///< the others: small, new, no program, or beyond a limit
  std::int64_t n_launches = 0;   ///< kernels called by plans
  std::int64_t n_copies = 0;     ///< those of them that only remove gaps from an operand
  std::int64_t n_undonated = 0;  ///< arrays that runs gave cells in new memory, not in that of the old ones
  std::size_t block_bytes = 0;   ///< memory of the latest plan beside inputs and results, per run at once
  std::size_t most_alive_bytes = 0;   ///< its part in use at the fullest launch: no block is smaller
  std::int64_t n_by_text = 0;         ///< its kernels that are functions made of C++ by now
  std::int64_t n_packed = 0;          ///< weights that it has brought into the order of their kernels by now
  std::vector<Liberty> liberties;     ///< those of the latest plan, by name
  std::vector<Recompile> recompiles;  ///< the last hundred, oldest first
  std::vector<Break> breaks;
};

/// A call of a function whose arguments are more than a list of tensors: tree.hpp makes it.
struct TreeCall {
  Function f;                          ///< function of the tensors among the arguments
  std::string form;                    ///< all else in the arguments that decides on the recording
  std::shared_ptr<const void> result;  ///< result without its tensors: f sets it, a plan gives that of its
                                       ///< recording
};

/// A function with the plans that were made of it; copies share them. Threads may call it at once.
class Compiled {
 public:
  /// Returns f(inputs), evaluated. Cells that f assigns hold their new tensors afterwards; when a kernel
  /// fails, or f throws, none has changed. Inside of a transform or of another compiled function, and while
  /// an `ExecutionObserver` looks on, it is f itself. errors: those of f and its kernels; InvalidArgument
  /// where f reads values of its arguments or cells and breaks are refused; InvalidArgument for a budget that
  /// cannot be kept, with the smallest that can, but not of a function that reads values.
  Tensors operator()(const Tensors& inputs,
                     std::source_location where = std::source_location::current()) const;
  [[nodiscard]] CompileStats stats() const;
  /// Returns the program of the latest plan at that stage, one line per instruction, or the C++ of its
  /// clusters; nothing before the first call.
  [[nodiscard]] std::string text(Stage stage = Stage::recorded) const;

  // For tree.hpp.
  /// Returns a function that is given with every call. errors: InvalidArgument for fewer than one plan.
  [[nodiscard]] static Compiled on_trees(CompileOptions options, std::source_location where) {
    return of({}, options, where);
  }
  [[nodiscard]] Tensors call(const Tensors& inputs, TreeCall& call, std::source_location where) const;

 private:
  friend Compiled compile(Function f, CompileOptions options, std::source_location where);
  [[nodiscard]] static Compiled of(Function f, CompileOptions options, std::source_location where);
  class State;
  explicit Compiled(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Returns f as a function that gives the same bits with less work per op: kernels, their order and memory
/// are decided at the first call with such shapes, dtypes, devices and strides.
///
/// f is recorded without values, so that it must do the same ops for all arguments of this kind. It has no
/// effect but on cells (`Variable`), which are read anew and assigned in every call. It has no other input
/// than those and numbers of the host (`fed`). Tensors that f captures or makes without them are constants of
/// the program: f is not asked for them again. A cell takes its new value in the memory of the old one where
/// nobody else holds that, and nothing can fail any more.
/// `where`: for warnings. errors: InvalidArgument for no function or fewer than one plan.
[[nodiscard]] Compiled compile(Function f, CompileOptions options = {},
                               std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
