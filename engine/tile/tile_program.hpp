// SPDX-License-Identifier: Apache-2.0
// Many elementwise ops as one kernel: their loops run one after the other over a tile that fits in the
// nearest cache.
#pragma once

#include "engine/graph/kernel.hpp"

#include <memory>
#include <vector>

namespace lodestone::engine::cpu_backend {

/// An expression with its intermediate values in slots, which are used again. Elements are computed by the
/// loops of the kernels that the expression was made of, so that the bits are theirs; they depend neither on
/// tiles nor on threads.
class TileProgram {
 public:
  explicit TileProgram(Expr expr);

  [[nodiscard]] const Expr& expr() const { return expr_; }
  /// Returns whether an output may be in the place of an operand: whether that has an element of its size for
  /// each of its own, and nothing reads it once the output is written.
  [[nodiscard]] bool writes_over(std::size_t operand, std::size_t output) const;

  /// Returns the kernel that runs the program of its attributes, `TileAttrs`.
  [[nodiscard]] static Kernel kernel();

 private:
  class Run;
  /// Number of what a code reads or writes: operands come first, then numbers, slots and outputs.
  using PlaceId = std::uint16_t;
  struct Step {
    PlaneFn fn;
    PlaceId out;
    std::array<PlaceId, Plane::most_inputs> in;
  };
  static Workspace workspace(const KernelCall& call);
  static void run(const KernelCall& call);
  void note_order();
  void place_values();
  [[nodiscard]] std::size_t n_places() const;
  [[nodiscard]] std::int64_t tile(std::size_t bytes_of_loads) const;

  Expr expr_;
  std::vector<std::size_t> slots_;  ///< bytes of an element, by slot
  std::vector<Step> steps_;
  std::vector<std::size_t> last_read_;  ///< code, by operand
  std::vector<std::size_t> writer_;     ///< code, by output
  double ns_ = 0.0;                     ///< per element, roughly
};

using TileProgramPtr = std::shared_ptr<const TileProgram>;
[[nodiscard]] inline std::string attr_text(const TileProgramPtr& value) { return value->expr().text(); }
[[nodiscard]] inline std::uint64_t attr_hash(const TileProgramPtr& value) { return value->expr().hash(); }
[[nodiscard]] inline bool attr_equals(const TileProgramPtr& a, const TileProgramPtr& b) {
  return a->expr() == b->expr();
}

}  // namespace lodestone::engine::cpu_backend

namespace lodestone::engine {

struct TileAttrs {
  cpu_backend::TileProgramPtr program;
  static auto fields() { return std::tuple{Field{"program", &TileAttrs::program}}; }
};

}  // namespace lodestone::engine
