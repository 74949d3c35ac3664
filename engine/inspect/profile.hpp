// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lodestone::engine {

class Node;

/// Of a node that has run and still has its inputs: elements of inputs read once, however often they are
/// repeated, and the output written once; 0 of a view.
[[nodiscard]] double bytes_moved(const Node& node);

/// What the calls of one op took together.
struct OpProfile {
  std::string op;  ///< "conv f32"
  std::int64_t calls = 0;
  double seconds = 0.0;  ///< its own: without the ops of a graph that it ran
  double flops = 0.0;    ///< real operations, as the op's row counts them
  double bytes = 0.0;    ///< see `bytes_moved`
};

/// Where the time of a computation went, op by op, the longest first.
class Profile {
 public:
  /// Runs f, which evaluates what it wants to know about, and looks at every op that is executed on this
  /// thread.
  [[nodiscard]] static Profile of(const std::function<void()>& f);
  [[nodiscard]] const std::vector<OpProfile>& ops() const { return ops_; }
  [[nodiscard]] OpProfile total() const;
  /// What was spent beside the ops: recording, reading elements, freeing, whatever else the function did.
  [[nodiscard]] double seconds_between() const { return seconds_between_; }
  /// A table: op, calls, milliseconds, share, GFLOP/s, GB/s; below it the milliseconds between the ops.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<OpProfile> ops_;
  double seconds_between_ = 0.0;
};

}  // namespace lodestone::engine
