// SPDX-License-Identifier: Apache-2.0
// For builds of the engine alone.
#include "tests/parity/trainings.hpp"

namespace lodestone::tests {

std::vector<TrainingCase> model_trainings() { return {}; }

}  // namespace lodestone::tests
