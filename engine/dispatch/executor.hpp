// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: looking on while a recorded graph runs. What runs it is declared in
// engine/graph/evaluate.hpp.
#pragma once

#include "engine/graph/evaluate.hpp"

#include <functional>

namespace lodestone::engine {

/// Returns true for a node that has run, and still has its inputs, if it looks at its input's buffer.
[[nodiscard]] bool is_view(const Node& node);

/// While one lives, it is told of every node that has run on this thread, inputs still attached, inputs
/// before users; and, where wanted, of every node that is about to run. A node whose op runs a graph of its
/// own begins before and ends after the nodes of that graph. It is not told of elements of tuples, which take
/// what the tuple has. For looking into what went wrong and where the time went.
class ExecutionObserver {
 public:
  explicit ExecutionObserver(std::function<void(const Node&)> seen,
                             std::function<void(const Node&)> begins = {});
  ~ExecutionObserver();
  ExecutionObserver(const ExecutionObserver&) = delete;
  ExecutionObserver& operator=(const ExecutionObserver&) = delete;
  /// Returns true if one lives on this thread.
  [[nodiscard]] static bool is_watching();
  void tell_begin(const Node& node) const {
    if (begins_) begins_(node);
  }
  void tell_end(const Node& node) const { seen_(node); }

 private:
  std::function<void(const Node&)> seen_, begins_;
  const ExecutionObserver* outer_;
};

/// While one lives, `evaluate` gives it the nodes of this thread that are to run, all at once. Not those of
/// graphs that run inside of a node, nor while an `ExecutionObserver` looks on.
class TogetherScope {
 public:
  TogetherScope();
  virtual ~TogetherScope();
  TogetherScope(const TogetherScope&) = delete;
  TogetherScope& operator=(const TogetherScope&) = delete;
  /// Returns true if one counts on this thread.
  [[nodiscard]] static bool is_open();

  /// Gives values to nodes without one, which stand inputs before users. `all_stay`: a transform will walk
  /// through them. Returns those that have values now: all that have an owner beside these nodes, or none,
  /// and then they run one by one. errors: those of the kernels; no node has a value then.
  [[nodiscard]] virtual std::span<Node* const> run(std::span<Node* const> nodes, bool all_stay) = 0;

 private:
  TogetherScope* outer_;
};

}  // namespace lodestone::engine
