// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the functions that run a graph. They are declared here and defined by
// engine/dispatch, so that recording and rules do not depend on it.
#pragma once

#include "engine/core/error.hpp"
#include "engine/graph/node.hpp"

namespace lodestone::engine {

/// Elements were asked for that do not exist, because a function is recorded without values.
class NoValues final : public core::InvalidArgument {
 public:
  NoValues(const core::Worded& message, std::string read, std::source_location place)
      : core::InvalidArgument(message), what_is_read(std::move(read)), where(place) {}
  std::string what_is_read;    ///< "elements of f64[3]"
  std::source_location where;  ///< the line that asked
};
/// Refuses the elements of a node that depends on a placeholder. errors: NoValues.
[[noreturn]] void refuse_values(const Node& node, const std::source_location& where);

/// Runs the pending nodes that the outputs need, inputs first, kernel by kernel. Views cost nothing; an input
/// without other uses gives its buffer to the output where the kernel allows it; every other buffer is
/// freed after its last use. errors: InvalidArgument for a node of another thread or one that depends on a
/// placeholder; those of the kernels: what ran before stays evaluated, the node that failed and those behind
/// it stay recorded. Where a `TogetherScope` runs them all at once, all stay recorded.
void evaluate(std::span<const NodePtr> outputs);

/// Called for every recorded node that does not run at once: past `most_pending` of them the newest is
/// evaluated. So a loop that never reads a value stays small. Not while a `KeepGraph` lives, as nothing would
/// be freed.
void note_recorded(const NodePtr& node);
inline constexpr int most_pending = 4096;

/// While one lives, evaluated nodes keep their inputs (on this thread), because a transform still walks
/// through them.
class KeepGraph {
 public:
  KeepGraph();
  ~KeepGraph();
  KeepGraph(const KeepGraph&) = delete;
  KeepGraph& operator=(const KeepGraph&) = delete;
};

/// While one lives, a graph runs inside a node: what is recorded in it drops its inputs again when it is
/// evaluated, whatever transform is under way outside.
class OwnGraph {
 public:
  OwnGraph();
  ~OwnGraph();
  OwnGraph(const OwnGraph&) = delete;
  OwnGraph& operator=(const OwnGraph&) = delete;

 private:
  int depth_;
  bool outside_keeps_;
  std::vector<NodePtr> kept_;
};
/// Returns the number of `KeepGraph` objects that live on this thread.
[[nodiscard]] std::uint8_t graph_level();

/// Returns a row-major copy of an evaluated node's elements (the one it keeps, if any), or the node itself
/// when it is row-major already.
[[nodiscard]] NodePtr contiguous(const NodePtr& node);

}  // namespace lodestone::engine
