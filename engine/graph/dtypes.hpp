// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/op_info.hpp"

namespace lodestone::engine {

inline constexpr DTypes halves{DType::bf16, DType::f16};
/// Of ops that only move or convert elements.
inline constexpr DTypes any_stored = any_computed | halves;

}  // namespace lodestone::engine
