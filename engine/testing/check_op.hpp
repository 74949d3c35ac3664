// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lodestone::engine {

/// The options of `check_op`.
struct OpCheckOptions {
  std::uint64_t seed = 1;
  int n_samples = 8;  ///< inputs and attributes drawn per dtype
  double max_adjoint_gap = 1e-12;
  double min_order = 1.9;  ///< least order of the Taylor remainder
};

struct OpCheckResult {
  bool passed = true;
  int n_checks = 0;
  int n_refused = 0;   ///< wrong calls that the op refused, as it should
  std::string report;  ///< one line per failure: which check, inputs, attributes, figures
};

/// Checks one row of the op table, the engine's own or a user's, on random inputs (empty, of one element, odd
/// sizes, with gaps) of all its dtypes: every kernel against the reference; the shape rule and the counted
/// bytes against what each kernel reads and writes; the texts of errors for inputs of other numbers, dtypes
/// and shapes; jvp by Taylor's remainder and vjp by dot products, first and second order, in f64 and c128;
/// batching against a loop.
[[nodiscard]] OpCheckResult check_op(std::string_view name, const OpCheckOptions& options = {});

}  // namespace lodestone::engine
