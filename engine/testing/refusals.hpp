// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one check of an op in a folder with a check per file.
#pragma once

#include "engine/record/rule_args.hpp"

#include <string>

namespace lodestone::engine {

/// The replies of an op to wrong calls.
struct Refusals {
  int n_refused = 0;
  std::string unclear;  ///< a message and the part that it lacks; "": none
};

/// Calls an op with one input more or less. Then each input in turn has another dtype, an axis more or less,
/// or a longer axis. Where it refuses, the message must name the op, what is expected, what came, and the
/// line; of shapes that do not fit each other, both.
[[nodiscard]] Refusals refusals_of(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs);

}  // namespace lodestone::engine
