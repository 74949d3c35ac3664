// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one check of an op in a folder with a check per file.
#pragma once

#include "engine/ops/sampler.hpp"

#include <string>

namespace lodestone::engine {

/// The result of `cut_run_join`.
struct CutCheck {
  std::string fault;      ///< "" where all is true
  int n_comparisons = 0;  ///< joined results that were compared
  bool differs = false;   ///< some bit of a part of a free label was another one
};

/// Compares what the row of an op says of its class and its axes with what the op does.
///
/// Each label that may be cut is cut `n_cuts` times into two to four parts of any sizes, some of them empty;
/// now and then another free label is restricted to a part, too. The op runs for each part, on the boxes of
/// the operands and with the attributes that the map gives. Results for parts of a free label, one behind the
/// other, must be the whole result: bit by bit where the row claims that (`is_exact_when_cut`), else to
/// rounding. Those for parts of a reduced label are combined in a fixed tree.
/// An elementwise op has each axis of its inputs; a movement computes no element, but for one number that
/// fills gaps. `choices`: draws the cuts. Values that are not arrays are never cut.
[[nodiscard]] CutCheck cut_run_join(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs,
                                    Sampler& choices, int n_cuts = 1);

/// Does so for samples of the row with this dtype. It ends when so many results were compared, when one was
/// wrong, and after 64 samples. The samples depend on the seed alone.
[[nodiscard]] CutCheck cut_run_join(const OpInfo& op, DType dtype, std::uint64_t seed, int n_comparisons);

}  // namespace lodestone::engine
