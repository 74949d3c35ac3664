// SPDX-License-Identifier: Apache-2.0
// Functions that are written for one machine and run on the ranks of a mesh.
#pragma once

#include "engine/compile/compile.hpp"
#include "engine/dist/layout/redistribute.hpp"
#include "engine/dist/transport/transport.hpp"
#include "engine/record/function.hpp"
#include "engine/record/variable.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::engine {

/// The layout of all tensors whose names fit.
struct Pin {
  std::string name;    ///< "*" stands for any text
  std::string layout;  ///< as `layout_from` reads it; further axes of a tensor stay whole. Or `zero_over`
};
/// Returns the layout that cuts each tensor along one axis. It is the first with an element for every shard
/// of the mesh axis, else the longest.
[[nodiscard]] std::string zero_over(std::string_view mesh_axis);

/// The way to layouts of what has no pin.
enum class Search : std::uint8_t {
  none,      ///< they follow what is pinned
  automatic  ///< those are found that cost least: bytes that ranks receive, and repeated work
};

struct ParallelOptions {
  /// Layouts by name. The first pin that fits a tensor counts. Tensors have names as inputs, as cells, and
  /// where `checkpoint_name` gives them one.
  std::vector<Pin> pins = {};
  std::vector<std::string> inputs = {};   ///< names of the inputs; others are "0", "1", …
  std::vector<NamedVariable> cells = {};  ///< names of cells; others have those of their variables
  Level level = Level::O1;                ///< level of the compiled function of a rank
  std::size_t budget = 0;                 ///< as `CompileOptions::budget`
  Search search = Search::none;
  double memory_bytes = 0.0;  ///< for the cells of each rank, when searched; 0: as much as there is
  double move_bytes = 0.0;    ///< a move costs so many beside its own, when searched
};

/// A function with what was made of it for the ranks of a mesh; copies share it. Used by the thread of its
/// rank alone.
class Parallelized {
 public:
  /// Returns f(inputs), the same whole tensors on all ranks. Cells that f assigns hold their new tensors
  /// afterwards, or the piece of this rank; when a kernel fails, none has changed. Inside of a transform or
  /// of `compile` it is f itself. collective over the mesh, with inputs that are the same on all ranks.
  /// errors: those of f and its kernels; InvalidArgument for pins that fit nothing or no tensor, for
  /// collectives in f, and where ranks have recorded other programs.
  Tensors operator()(const Tensors& inputs,
                     std::source_location where = std::source_location::current()) const;
  /// Returns the same where this rank has of each input the piece that its pin gives it; inputs without a pin
  /// are whole. shapes: `whole`, those of the inputs on one machine. errors: also ShapeError for a piece of
  /// another shape, and InvalidArgument inside of a transform or of `compile`.
  Tensors of_pieces(const Tensors& pieces, const std::vector<Shape>& whole,
                    std::source_location where = std::source_location::current()) const;
  /// Returns a line per value and instruction of what ran last: layout, why, bytes that all ranks receive and
  /// the line of the code. The last line totals bytes and repeated work. Nothing before the first call.
  [[nodiscard]] std::string explain() const;
  /// Returns the layouts of what ran last as pins: of cells, tensors that `checkpoint_name` marks, and inputs
  /// that are cut. With them a search finds the same layouts without `memory_bytes`, on any number of ranks.
  /// Where two tensors share a name, the layout of the first one stands for both. It is empty before the
  /// first call.
  [[nodiscard]] std::vector<Pin> pins() const;
  /// Returns counts of the compiled function of this rank that ran last.
  [[nodiscard]] CompileStats stats() const;

 private:
  friend Parallelized parallelize(Function f, const World& world, const DeviceMesh& mesh,
                                  ParallelOptions options, std::source_location where);
  class State;
  explicit Parallelized(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Returns a function of one machine as one that the ranks of a mesh run together.
///
/// f is recorded as `compile` records it, derivatives included. What is not pinned follows, but parameters
/// then stay whole; or it is searched. The bits of all results depend on pins and shards, not on the number
/// of ranks; on that, too, where `memory_bytes` is given. `where`: for messages. errors: InvalidArgument for
/// options of a search without one.
[[nodiscard]] Parallelized parallelize(Function f, const World& world, const DeviceMesh& mesh,
                                       ParallelOptions options = {},
                                       std::source_location where = std::source_location::current());

/// Returns what a cell holds, whole, though ranks may have pieces of it alone. Reading such a cell in another
/// way is an error, but inside of a parallelized function. collective over its mesh.
[[nodiscard]] Tensor gathered(const Variable& variable,
                              std::source_location where = std::source_location::current());
/// Returns a tensor of which each rank has its piece, whole on all of them. shapes: `whole`, that of all.
/// collective over the mesh of `place`. errors: ShapeError for another piece; those of `Transport::test`.
[[nodiscard]] Tensor gathered(const Tensor& piece, const Placement& place, const Shape& whole,
                              const World& world);

}  // namespace lodestone::engine
