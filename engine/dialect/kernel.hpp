// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header, users include it by this path.
// Kernels that are written as text, by formulas of the elements of arrays whose axes have names.
#pragma once

#include "engine/compile/compile.hpp"

#include <string_view>

namespace lodestone::engine {

/// Returns the function of tensors that a text describes:
///
/// `kernel("gelu(x[n, k], b[k]) -> y[n, k]: t = x + b; y = 0.5 * t * (1 + erf(t * 0.7071067811865476))")`
///
/// In front of the colon stand a name, the arguments and the results, each with the names of its axes. Axes
/// of one name have one extent, and elements belong together where their axes do. Behind it stand formulas,
/// separated by semicolons: `+ - * /`, comparisons `< <= > >= == !=`, elementwise ops of the table by their
/// names (docs/ops), and `size(k)`, the extent of an axis; also `sum`, `mean`, `max`, `min` and `logsumexp`
/// over named axes, as in `sum(x * w, k)`. Numbers take the dtype of what they meet. A result that lacks an
/// axis of its own repeats along it.
///
/// The function records these ops, so that it has derivatives and batches, and runs them compiled: in one
/// pass where clusters allow it, by functions of C++ where LODESTONE_JIT asks for them. Bits are those of the
/// ops. errors: InvalidArgument with the column for a text that is none; when it is called, ShapeError for
/// arguments that do not fit, and those of the ops.
[[nodiscard]] Compiled kernel(std::string_view text, const CompileOptions& options = {},
                              std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
