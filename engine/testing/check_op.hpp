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

/// Checks one row of the op table, the engine's own or a user's, on random inputs of all its dtypes. Inputs
/// are empty, of one element, of odd sizes, or have gaps.
///
/// Every kernel is compared with the reference. Shape rule and counted bytes are compared with what each
/// kernel reads and writes. What the row says of its class and its axes is compared with what the op gives
/// for parts of its inputs. The texts of errors are checked for inputs of other numbers, dtypes and shapes.
/// Taylor's remainder checks jvp and dot products check vjp, to second order, in f64 and c128; a loop checks
/// batching.
[[nodiscard]] OpCheckResult check_op(std::string_view name, const OpCheckOptions& options = {});

}  // namespace lodestone::engine
