// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what compiles text knows nothing of expressions.
// Inside of the engine: an expression as C++.
#pragma once

#include "engine/graph/expr.hpp"

#include <string>
#include <vector>

namespace lodestone::engine {

/// Returns whether there is text of an expression that gives its bits. There is none of complex and two-byte
/// numbers. Nor is there one where a float becomes an integer other than i32 and i64: what numbers out of
/// range give depends on instruction and compiler.
[[nodiscard]] bool has_text(const Expr& expr);

/// The name of the function in a kernel's text.
inline constexpr const char* kernel_name = "lodestone_kernel";
/// Returns the text of an `ExprFn`, which computes the expression in one loop. Where it combines rows, or has
/// functions that vectorize for usual arguments only, there are several (`TextParts`), over a row or a few
/// hundred elements. The bodies of its kernels are functions made of their own words; rows are combined by
/// the function of the kernels. Numbers are no part of the text, and of shapes only whether rows are shorter
/// than a vector: clusters of many programs have one. `is_one`, by operand: all places see one element.
[[nodiscard]] std::string kernel_text(const Expr& expr, const std::vector<bool>& is_one);

/// Returns a kernel with all that it stands on: a whole file of C++20 without headers.
[[nodiscard]] std::string whole_text(const std::string& kernel);

}  // namespace lodestone::engine
