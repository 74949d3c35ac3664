// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header; users include it by this path.
// Functions whose inside is not kept for the backward pass.
#pragma once

#include "engine/record/trace.hpp"

#include <string>
#include <vector>

namespace lodestone::engine {

/// Agreement of the calls of a checkpoint on inputs of one kind.
enum class Calls : std::uint8_t {
  may_differ,  ///< nothing: each calls the function
  are_equal    ///< they do the same ops: the function is called once for them, and recorded once
};

/// Returns f as one op: what it computes on the way is freed, and computed again when the backward pass comes
/// by. Costs one more evaluation of f, saves the memory of its inside. Marked tensors (`checkpoint_name`)
/// whose names are in `save` are kept nevertheless, and what only they need is not computed again. Cells that
/// f assigns (running statistics, random keys) hold what the forward pass gave; the second computation
/// changes none. `calls`: those that are equal, such as one per micro-batch, are planned and differentiated
/// once. All but the inputs and cells must then be the same for each of them, captured numbers and fed ones,
/// too; where f captured a tensor that depends on an input of the whole, or runs a simulation, each call
/// calls f. errors: InvalidArgument when f marks no tensor by one of the names, or looks at values.
[[nodiscard]] Function checkpoint(Function f, std::vector<std::string> save = {},
                                  Calls calls = Calls::may_differ,
                                  std::source_location where = std::source_location::current());

/// Returns x, under a name that `checkpoint` can be told to keep.
[[nodiscard]] Tensor checkpoint_name(const Located& x, std::string name);

}  // namespace lodestone::engine
