// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the op that a reduction becomes together with the elementwise ops which make what it
// reduces.
#pragma once

#include "engine/graph/op_info.hpp"
#include "engine/tile/tile_program.hpp"

namespace lodestone::engine {

/// A reduction of an array that is not stored.
struct ReductionUse {
  const OpInfo* op;
  AttrsPtr attrs;
  Aval operand, result;
  friend bool operator==(const ReductionUse& a, const ReductionUse& b) {
    return a.op == b.op && a.operand == b.operand && a.result == b.result && a.attrs->equals(*b.attrs);
  }
};
[[nodiscard]] std::string attr_text(const ReductionUse& value);
[[nodiscard]] std::uint64_t attr_hash(const ReductionUse& value);
[[nodiscard]] inline bool attr_equals(const ReductionUse& a, const ReductionUse& b) { return a == b; }

/// The first output of the program is what the reduction takes.
struct FusedReductionAttrs {
  cpu_backend::TileProgramPtr program;
  ReductionUse reduction;
  static auto fields() {
    return std::tuple{Field{"program", &FusedReductionAttrs::program},
                      Field{"reduction", &FusedReductionAttrs::reduction}};
  }
};

/// Returns the row of an op with these attributes. It gives what the reduction gives, and then the other
/// outputs of the program. The reduction's kernel computes it: it reads the elements while they are made,
/// in the order in which it adds up the array that is left out.
[[nodiscard]] const OpInfo& fused_reduction_op();

/// Returns whether an op is a reduction whose kernel for such an operand can read what is made.
[[nodiscard]] bool can_reduce_what_is_made(const OpInfo& op, const Aval& operand);

}  // namespace lodestone::engine
