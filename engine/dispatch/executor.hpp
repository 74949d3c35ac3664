// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what runs a recorded graph. Users call `eval`.
#pragma once

#include "engine/record/tensor.hpp"

#include <functional>

namespace lodestone::engine {

/// Runs the pending nodes that the outputs need, inputs first, kernel by kernel. Views cost nothing; an input
/// that nobody else needs gives its buffer to the output where the kernel allows it; every other buffer is
/// freed after its last use. errors: InvalidArgument for a node of another thread or one that depends on a
/// placeholder; those of the kernels: what ran before stays evaluated, the node that failed and those behind
/// it stay recorded.
void execute(std::span<const Tensor> outputs);

/// Called for every recorded node that does not run at once: past `most_pending` of them the newest is
/// evaluated, so that a loop that never asks for a value stays small.
void note_recorded(const Tensor& tensor);
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

/// While one lives, it is told of every node that has run on this thread, inputs still attached, inputs
/// before users; and, where wanted, of every node that is about to run. A node whose op runs a graph of its
/// own begins before and ends after the nodes of that graph. For looking into what went wrong and where the
/// time went.
class ExecutionObserver {
 public:
  explicit ExecutionObserver(std::function<void(const Node&)> seen,
                             std::function<void(const Node&)> begins = {});
  ~ExecutionObserver();
  ExecutionObserver(const ExecutionObserver&) = delete;
  ExecutionObserver& operator=(const ExecutionObserver&) = delete;
  void tell_begin(const Node& node) const {
    if (begins_) begins_(node);
  }
  void tell_end(const Node& node) const { seen_(node); }

 private:
  std::function<void(const Node&)> seen_, begins_;
  const ExecutionObserver* outer_;
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
/// How many of them live, on this thread.
[[nodiscard]] std::uint8_t graph_level();

/// A row-major array whose elements are to be written. errors: DeviceError.
[[nodiscard]] Tensor new_array(const Aval& aval);

/// A row-major copy of an evaluated node's elements, or the node itself when it is row-major already.
[[nodiscard]] NodePtr contiguous(const NodePtr& node);

}  // namespace lodestone::engine
