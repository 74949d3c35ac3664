// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a private part of Stateful that two source files share.
// Inside of engine/nn: what the copies of a module share.
#pragma once

#include "engine/nn/module.hpp"

namespace lodestone::engine {

struct Stateful::Members {
  Variables variables;
  std::vector<std::pair<std::string, std::shared_ptr<Members>>> parts;
  Mode mode = Mode::training;
};

}  // namespace lodestone::engine
