// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record/tensor.hpp"

#include <map>

namespace lodestone::engine {

/// What is saved and loaded: tensors by name ("encoder.0.weight"), in the order of their names.
using NamedTensors = std::map<std::string, Tensor, std::less<>>;

}  // namespace lodestone::engine
