// SPDX-License-Identifier: Apache-2.0
// Trainings of small networks, and loops, branches and simulations: all that a plan may have to do.
#pragma once

#include "engine/record/function.hpp"
#include "engine/record/variable.hpp"

#include <string>
#include <vector>

namespace lodestone::tests {

/// A function that is called again and again, and the cells that it changes.
struct Training {
  engine::Function step;
  engine::Tensors inputs;
  engine::Variables cells;
};

/// Makes the same training each time, so that each level has one of its own.
struct TrainingCase {
  std::string name;
  std::function<Training(engine::DType)> start;
};

/// Returns trainings of networks that the engine's own parts make.
[[nodiscard]] std::vector<TrainingCase> engine_trainings();
/// Returns functions that contain others: loops, branches, checkpoints, simulations.
[[nodiscard]] std::vector<TrainingCase> control_functions();
/// Returns trainings of the networks of `models`, where they are part of the build.
[[nodiscard]] std::vector<TrainingCase> model_trainings();

/// Returns normal numbers, the same for the same stream.
[[nodiscard]] engine::Tensor normals(const engine::Shape& shape, std::uint64_t stream, engine::DType dtype,
                                     double scale = 1.0);

}  // namespace lodestone::tests
