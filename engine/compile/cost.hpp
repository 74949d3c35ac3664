// SPDX-License-Identifier: Apache-2.0
// Small on purpose: choices of the compiler and reports count work in the same way.
#pragma once

#include "engine/graph/kernel.hpp"

namespace lodestone::engine {

/// Returns the real operations of a call, as its op's row counts them; one per element where it does not.
[[nodiscard]] double flops_of(const OpInfo& op, const Attrs* attrs, std::span<const Aval* const> in,
                              const Aval& out, const std::source_location& where);

}  // namespace lodestone::engine
