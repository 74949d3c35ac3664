// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/inspect/dump.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::engine {

/// A value whose bits differ between two dumps.
struct Deviation {
  DumpedValue a, b;
  /// Largest difference of two elements over the root mean square of a; without arrays that of smallest,
  /// largest and mean elements and norms, which may be 0 although bits differ. Infinite where a NaN or an
  /// infinity is in one of them only.
  double size = 0.0;

  /// Returns "tanh of f32[16, 8] in encoder.0 (net.cpp:12), value 7: relative difference 0.01".
  [[nodiscard]] std::string text() const;
};

struct Comparison {
  std::int64_t n_compared = 0;        ///< values that both dumps have
  std::vector<Deviation> deviations;  ///< the largest first
  std::optional<Deviation> first;     ///< the first one in recorded order: what comes before it agrees

  /// Returns the first deviation, and a table of the largest ones.
  [[nodiscard]] std::string text(std::size_t most = 20) const;
};

/// Compares two dumps of one function: on two levels, of two builds, machines or sets of parameters. Elements
/// are compared where both have whole arrays, else checksums. errors: FormatError for what is no dump;
/// InvalidArgument where the recorded programs are not the same, with the first difference.
[[nodiscard]] Comparison compare(const core::ArraySource& a, const core::ArraySource& b);

/// Finds the recorded op that a level computes otherwise than another one: runs f on both and, where the
/// first difference comes out of a cluster, runs the program up to each value in it. None: all bits agree.
/// errors: as those of `dump`.
[[nodiscard]] std::optional<Deviation> bisect(const Function& f, const Tensors& arguments, Level a, Level b,
                                              const std::vector<NamedVariable>& cells = {},
                                              std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
