// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a search for NaN needs an observer of the executor, which profiles also are.
#pragma once

#include "engine/record/tensor.hpp"

#include <functional>
#include <optional>
#include <string>

namespace lodestone::engine {

/// Returns true if no element is NaN or infinite; evaluates the tensors. cost: one pass on the host, nothing
/// is recorded.
[[nodiscard]] bool all_finite(const Tensors& tensors);

/// Runs f, examines every op it executes, and returns the place of the first NaN or infinity in words. cost:
/// one pass over every result. "log of f32[64, 32] (net.cpp:12), from finite inputs", or "an input f32[64,
/// 32] of subtract (net.cpp:10)" for a value that came in that way.
[[nodiscard]] std::optional<std::string> first_not_finite(const std::function<void()>& f);

}  // namespace lodestone::engine
