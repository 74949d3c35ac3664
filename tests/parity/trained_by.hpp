// SPDX-License-Identifier: Apache-2.0
// Small on purpose: two lists of trainings share it.
#pragma once

#include "engine/optim/optimizer.hpp"
#include "engine/transform/variables.hpp"
#include "tests/parity/trainings.hpp"

namespace lodestone::tests {

/// Returns the training of a network by a method; `loss(net, inputs)` gives a number.
template <class Net, class Method, class Loss>
Training trained_by(const Net& net, const Method& method, Loss loss, engine::Tensors inputs) {
  engine::Variables cells = net.cells();
  for (const engine::Variable& each : method.cells()) cells.push_back(each);
  const engine::Function step = [=](const engine::Tensors& in) -> engine::Tensors {
    const auto [value, gradients] = engine::value_and_grad([&] { return loss(net, in); }, net.parameters());
    method.step(gradients);
    return {value};
  };
  return {step, std::move(inputs), std::move(cells)};
}

}  // namespace lodestone::tests
