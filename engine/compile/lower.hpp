// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: a program as launches of kernels with places in memory, all of it decided before the
// first run.
#pragma once

#include "engine/compile/level.hpp"
#include "engine/graph/kernel.hpp"
#include "engine/memory/memory_plan.hpp"
#include "engine/program/program.hpp"

#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace lodestone::engine {

class ControlPlan;

/// Place of bytes: in a block of the plan, or in a tensor that a run holds.
struct Source {
  enum class In : std::uint8_t { block, held };
  In in;
  std::uint32_t of;      ///< number of the block or of the tensor
  std::ptrdiff_t bytes;  ///< from its start
};

/// An operand of a kernel.
struct Access {
  Source source;
  const Aval* aval;
  const Strides* strides;
};

/// One call of a kernel, or of an op whose functions have launches of their own. Its operands are accesses in
/// a row, inputs before outputs.
struct Launch {
  const OpInfo* op;
  const Attrs* attrs;
  void (*run)(const KernelCall&);
  std::uint32_t first_access, n_in, n_out;
  Workspace workspace;
  Source scratch;
  std::source_location where;
  const Instruction* instruction;                   ///< null where it only removes gaps from an operand
  std::shared_ptr<const ControlPlan> control = {};  ///< set: its functions run, not a kernel
};

/// A tensor that a run holds, because it comes from outside, leaves the plan or meets an op with a function.
struct Held {
  enum class From : std::uint8_t { input, constant, launch, function };
  From from;
  ValueId value;
};

/// A value as a look at a tensor that a run holds.
struct Given {
  std::uint32_t held;
  ValueId value;
};

/// A use of an op that no kernel computes.
struct FunctionCall {
  const Instruction* instruction;
  std::vector<Given> operands;
  std::vector<std::uint32_t> results;  ///< numbers of held tensors
};

/// Launches in a row, and then, but for the last segment, a function.
struct Segment {
  std::uint32_t first_launch = 0, end_launch = 0;
  std::vector<std::uint32_t> made;  ///< held tensors that its launches write
  std::optional<FunctionCall> call;
  std::vector<std::uint32_t> released;  ///< held tensors without a later use
};

/// The memory of a plan on one device.
struct Block {
  Device device;
  std::size_t bytes;
  std::size_t most_alive;  ///< bytes of what lives at the fullest launch: no block is smaller
};

/// The arrays and workspaces of a lowered program that lie in its blocks.
struct PlacedPieces {
  std::vector<Piece> pieces;  ///< in the order of their first launches
  std::vector<Device> devices;
  std::vector<Source> places;
  /// Returns whether other pieces can lie in the same places: no larger, with the same lifetimes.
  [[nodiscard]] bool have_room_for(const PlacedPieces& others) const;
};

/// Result of lowering a program. It refers to the program, which lives longer.
struct Lowered {
  const Program* program;
  std::vector<std::uint32_t> roots;  ///< by value: that whose elements it looks at, or is a part of
  std::vector<Look> looks;           ///< by value: at the first element of its root
  std::deque<Strides> dense;         ///< strides of copies
  std::vector<Access> accesses;
  std::vector<Launch> launches;
  std::vector<Segment> segments;
  std::vector<Held> held;                               ///< inputs, then constants, then others
  std::vector<std::vector<std::uint32_t>> accesses_of;  ///< by held tensor
  PlacedPieces pieces;
  std::vector<Block> blocks;
  std::vector<Given> outputs;
  std::int64_t n_copies = 0;  ///< launches that only remove gaps
  int n_threads = 1;          ///< for which workspaces have room

  /// Returns the accesses of a launch, inputs before outputs.
  [[nodiscard]] std::span<const Access> operands_of(const Launch& launch) const {
    return std::span(accesses).subspan(launch.first_access, launch.n_in + launch.n_out);
  }
};

/// Places of the outputs of a program.
enum class Leaving : std::uint8_t {
  as_looks,        ///< at tensors that a run holds: its own, inputs or constants
  to_given_places  ///< in memory that the caller gives, row-major without gaps, each its own
};

/// Lowers a program for inputs with these strides: each instruction is a view, a function or a launch of the
/// kernel that an eager run takes; operands with gaps that a kernel does not take are copied first. Arrays
/// that do not leave lie in blocks, and are written in place of an operand at its last use where the kernel
/// allows it. Parts of a concatenation are written where they stand in it, unless the block grows by that.
/// Branches, loops and calls of functions that consist of kernels are launches, too; `level` is what is done
/// to those functions. `like`: the same for larger arrays, in whose places pieces lie if they can. errors:
/// those of `OpInfo::kernel`.
[[nodiscard]] Lowered lowered(const Program& program, std::span<const Strides> inputs,
                              Level level = Level::O0, Leaving leaving = Leaving::as_looks,
                              const Lowered* like = nullptr);

/// Lowers as `lowered` does, but finds no places: operands name pieces, and blocks have the bytes of what is
/// alive at their fullest launch. That is enough to see that a program does not fit.
[[nodiscard]] Lowered unplaced(const Program& program, std::span<const Strides> inputs, Level level);

/// Returns the bytes of the blocks of a plan of this program; where not even what is alive at the fullest
/// launch takes `most` bytes or less, those of that. errors: those of `lowered`.
[[nodiscard]] std::size_t block_bytes(const Program& program, std::span<const Strides> inputs, Level level,
                                      std::size_t most = std::numeric_limits<std::size_t>::max());

/// An output, as a held tensor, that may take the memory of an input.
struct Donation {
  std::uint32_t input, held;
};

/// Checks that every operand of every launch, function and caller is the value that the program names. It
/// must lie where that was written, and nothing may have been written there since: no result, workspace or
/// new value in a donated input. No launch may write where it reads, unless its kernel allows that, or works.
/// errors: InvalidArgument that names the launch.
void verify(const Lowered& plan, std::span<const Donation> donations = {});

/// Returns the launches, one per line: op, line, and where operands and results lie, such as "block 0 at 64"
/// or "array 2 at 0" for what a run holds.
[[nodiscard]] std::string text(const Lowered& plan);

}  // namespace lodestone::engine
