// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one check of an op in a folder with a check per file.
#pragma once

#include "engine/record/rule_args.hpp"

#include <string>

namespace lodestone::engine {

/// Compares what the row of an op says of its class and its axes with what the op does; returns "" or the
/// fault.
///
/// Where an axis of the output comes from axes of inputs, these inputs are cut along it into parts, of which
/// one is empty; the op runs for each part, and its results one behind the other must be the output. Likewise
/// along a reduced axis, where the results are combined. The output must be repeated along an axis that no
/// input has. Elements that are computed alone or only moved agree bit by bit, others to rounding.
/// An elementwise op has each axis of its inputs; a movement computes no element, but for one number that
/// fills gaps.
[[nodiscard]] std::string cut_run_join(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs);

}  // namespace lodestone::engine
