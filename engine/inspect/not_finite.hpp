// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record/tensor.hpp"

#include <functional>
#include <optional>
#include <string>

namespace lodestone::engine {

/// Whether no element is NaN or infinite; evaluates the tensors. cost: one pass on the host, nothing is
/// recorded.
[[nodiscard]] bool all_finite(const Tensors& tensors);

/// Runs f and looks at every op it executes: where NaN or infinity came up first, in words. cost: one pass
/// over every result. "log of f32[64, 32] (net.cpp:12), from finite inputs", or "an input f32[64, 32] of
/// subtract (net.cpp:10)" for what came in that way.
[[nodiscard]] std::optional<std::string> first_not_finite(const std::function<void()>& f);

}  // namespace lodestone::engine
