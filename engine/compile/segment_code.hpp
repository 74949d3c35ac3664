// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what nodes that run together compute, so that a plan is found again.
#pragma once

#include "engine/program/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace lodestone::engine {

/// Recorded nodes without values that are to run together, in the order in which they were recorded, and the
/// values that they take from outside: leaves. Used for one list of nodes after the other.
class SegmentNodes {
 public:
  /// Number of a node, or -1 minus that of a leaf.
  using Operand = int;

  /// Takes nodes of this thread, which stand in any order; `all_leave`: each of them is asked for.
  void take(std::span<Node* const> nodes, bool all_leave);

  /// Returns false where a tuple is used as a whole, which no program can say.
  [[nodiscard]] bool are_program() const { return are_program_; }
  [[nodiscard]] const std::vector<Node*>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Node*>& leaves() const { return leaves_; }
  /// Returns what the nodes take, one after the other.
  [[nodiscard]] const std::vector<Operand>& operands() const { return operands_; }
  /// Returns whether a node has owners beside these nodes, which see its value.
  [[nodiscard]] bool is_leaving(std::size_t node) const { return is_leaving_[node] != 0; }
  /// Returns those that do.
  [[nodiscard]] const std::vector<Node*>& leaving() const { return leaving_; }
  /// Returns a number that lists share which compute the same, whatever numbers of the code they take.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  [[nodiscard]] Operand leaf(Node& node);
  void number_operands();
  void find_leaving(bool all_leave);

  std::vector<Node*> nodes_, leaves_, leaving_;
  std::vector<Operand> operands_;
  std::vector<std::uint32_t> n_uses_;  ///< by node
  std::vector<std::uint8_t> is_leaving_;
  std::vector<Operand> table_;  ///< leaves by the hash of their address, 0 for none
  bool are_program_ = true;
};

/// A list of nodes as far as it decides on its plan.
class SegmentCode {
 public:
  /// Numbers of the code become part of the program.
  explicit SegmentCode(const SegmentNodes& nodes);

  enum class Match : std::uint8_t {
    none,
    but_for_numbers,  ///< but other numbers stand in the code
    same
  };
  [[nodiscard]] Match match(const SegmentNodes& nodes) const;
  /// Makes the numbers inputs that are others in these nodes, which match but for numbers.
  void free_numbers(const SegmentNodes& nodes);
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  /// Returns the leaves that are inputs.
  [[nodiscard]] Tensors inputs(const SegmentNodes& nodes) const;
  /// Returns the strides of these.
  [[nodiscard]] std::vector<Strides> strides() const;
  /// Returns the program of these nodes, which match. Its outputs are the values of the nodes that leave,
  /// tuples element by element.
  [[nodiscard]] Program program(const SegmentNodes& nodes) const;

 private:
  struct Leaf {
    Aval aval;
    Strides strides;
    AttrsPtr number;  ///< set for a number in the program, else null
    [[nodiscard]] bool fits(const Node& node) const;
  };
  struct Op {
    const OpInfo* op;
    AttrsPtr attrs;
    std::size_t n_operands;
    bool is_leaving;
    std::source_location where;
    [[nodiscard]] bool fits(const Node& node) const;
  };

  std::vector<Leaf> leaves_;
  std::vector<Op> ops_;
  std::vector<SegmentNodes::Operand> operands_;
  std::uint64_t hash_;
  int n_threads_;
};

}  // namespace lodestone::engine
