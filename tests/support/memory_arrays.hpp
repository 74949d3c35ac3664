// SPDX-License-Identifier: Apache-2.0
// The name by which tests know the arrays in memory of the core; new tests include the core's header.
#pragma once

#include "engine/core/store.hpp"

namespace lodestone::tests {

using core::MemoryArrays;

}  // namespace lodestone::tests
