// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/aval.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lodestone::engine {

class Node;

/// Returns the bytes moved by a node that has run and still has its inputs. Elements of inputs are read once,
/// however often they are repeated, and the output is written once; 0 for a view.
[[nodiscard]] double bytes_moved(const Node& node);

/// The total cost of the calls of one op.
struct OpProfile {
  std::string op;  ///< "conv f32"
  std::int64_t calls = 0;
  double seconds = 0.0;  ///< its own: without the ops of a graph that it ran
  double flops = 0.0;    ///< real operations, as the op's row counts them
  double bytes = 0.0;    ///< see `bytes_moved`

  /// Adds the cost of other calls.
  void add(const OpProfile& other);
};

/// Returns the cost of all calls, under the name "all".
[[nodiscard]] OpProfile total_of(const std::vector<OpProfile>& ops);

/// The time of a computation, op by op, the longest first.
class Profile {
 public:
  /// Runs f and measures every op that is executed on this thread. f must evaluate its results.
  [[nodiscard]] static Profile of(const std::function<void()>& f);
  [[nodiscard]] const std::vector<OpProfile>& ops() const { return ops_; }
  [[nodiscard]] OpProfile total() const { return total_of(ops_); }
  /// Returns the time spent outside the ops: recording, reading elements, freeing, other work of f.
  [[nodiscard]] double seconds_between() const { return seconds_between_; }
  /// Returns a table: op, calls, milliseconds, share, GFLOP/s, GB/s; below it the milliseconds between the
  /// ops.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<OpProfile> ops_;
  double seconds_between_ = 0.0;
};

}  // namespace lodestone::engine
