// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a search for NaN needs an observer of the executor, which profiles also are.
#pragma once

#include "engine/record/function.hpp"

#include <functional>
#include <optional>
#include <source_location>
#include <string>

namespace lodestone::engine {

/// Returns true if no element is NaN or infinite; evaluates the tensors. cost: one pass on the host, nothing
/// is recorded.
[[nodiscard]] bool all_finite(const Tensors& tensors);

/// Runs f, examines every op it executes, and returns the place of the first NaN or infinity in words. cost:
/// one pass over every result. "log of f32[64, 32] (net.cpp:12), from finite inputs", or "an input f32[64,
/// 32] of subtract (net.cpp:10)" for a value that came in that way.
[[nodiscard]] std::optional<std::string> first_not_finite(const std::function<void()>& f);

/// Does the same for a function that is compiled: records it, and runs it once as a plan in which each op
/// stands alone, with the values that its cells hold; none of them changes, so that a step of a training can
/// be looked at and then made. errors: as those of `dump`.
[[nodiscard]] std::optional<std::string> first_not_finite(
    const Function& f, const Tensors& arguments,
    std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
