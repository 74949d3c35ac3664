// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/parity/trainings.hpp"

#include <cmath>

namespace lodestone::tests {
namespace {

using namespace engine;
using Loss = std::function<Tensor(const Tensors&)>;

/// Value and gradients of a function without cells.
Training with_gradients(const Loss& loss, Tensors inputs) {
  const Function f = [loss](const Tensors& in) -> Tensors {
    ValueAndGradients found = value_and_grad([&](const Tensors& x) -> Tensors { return {loss(x)}; }, in);
    found.gradients.push_back(found.value);
    return found.gradients;
  };
  return {f, std::move(inputs), {}};
}

/// A recurrent layer over 20 steps, there and back.
Training recurrent(DType dtype) {
  const auto loss = [](const Tensors& in) {
    const auto cell = [&](const Tensors& carry, const Tensors& x) -> Tensors {
      const Tensor gate = sigmoid(matmul(x[0], in[2]) + matmul(carry[0], in[3]));
      const Tensor next = carry[0] * gate + (1.0 - gate) * tanh(matmul(x[0], in[2]) - carry[0]);
      return {next, next * gate};
    };
    const Scanned there = scan(cell, {in[1]}, {in[0]});
    const Scanned back = scan(cell, {there.carry[0]}, {in[0]}, Direction::reverse);
    return sum(square(back.carry[0])) + mean(there.ys[0] * back.ys[0]);
  };
  return with_gradients(loss, {normals({20, 4, 5}, 1, dtype), normals({4, 8}, 2, dtype),
                               normals({5, 8}, 3, dtype, 0.5), normals({8, 8}, 4, dtype, 0.5)});
}

Training branches(DType dtype) {
  const auto loss = [](const Tensors& in) {
    Tensor x = in[0];
    for (int i = 0; i < 4; ++i) {
      x = cond(
          greater(sum(x), 0.0), [](const Tensors& y) -> Tensors { return {sin(y[0]) * y[1] - 0.3}; },
          [](const Tensors& y) -> Tensors { return {exp(-square(y[0])) + y[1]}; }, {x, in[1]})[0];
    }
    return sum(square(x));
  };
  return with_gradients(loss, {normals({300}, 1, dtype), normals({300}, 2, dtype)});
}

/// A simulation between two layers: its map is called, not compiled.
Training simulation(DType dtype) {
  const core::MapPtr map = core::pointwise(
      "ln (1 + t^2)", 12, [](double t) { return std::log1p(t * t); },
      [](double t) { return 2.0 * t / (1.0 + t * t); });
  const auto loss = [map](const Tensors& in) {
    const Tensor data = external(map, matmul(in[1], tanh(matmul(in[0], in[2]))));
    return mean(square(data - in[3])) + 0.1 * sum(square(in[0]));
  };
  return with_gradients(loss, {normals({6}, 1, dtype), normals({12, 9}, 2, dtype), normals({6, 9}, 3, dtype),
                               normals({12}, 4, dtype)});
}

/// A product of 64 matrices whose factors are computed again in the backward pass, block by block.
Training long_product(DType dtype) {
  const auto loss = [](const Tensors& in) {
    const Function block = checkpoint([](const Tensors& x) -> Tensors {
      Tensor product = x[0];
      for (Dim i = 0; i < 8; ++i) {
        const Tensor turn = reshape(slice(x[1], 0, i, i + 1), {6, 6});
        product = matmul(product, turn + transpose(turn) * 0.1);
      }
      return {product};
    });
    Tensor product = in[1];
    for (Dim i = 0; i < 8; ++i) product = block({product, slice(in[0], 0, 8 * i, 8 * i + 8)})[0];
    return sum(square(product));
  };
  return with_gradients(loss, {normals({64, 6, 6}, 1, dtype, 0.4), normals({6, 6}, 2, dtype)});
}

/// Gradients of each item of a batch, by a function that is compiled for one.
Training gradients_of_items(DType dtype) {
  const auto loss = [](const Tensors& in) -> Tensors {
    return {sum(square(tanh(matmul(in[0], in[1])) - softmax(in[0])))};
  };
  const Function of_item = [loss](const Tensors& in) -> Tensors {
    return value_and_grad(loss, in).gradients;
  };
  const Function f = [of_item](const Tensors& in) -> Tensors { return vmap(of_item, {true, false})(in); };
  return {f, {normals({9, 7}, 1, dtype), normals({7, 7}, 2, dtype)}, {}};
}

}  // namespace

std::vector<TrainingCase> control_functions() {
  return {{"recurrent layer", recurrent},
          {"branches", branches},
          {"simulation", simulation},
          {"long product", long_product},
          {"gradients of items", gradients_of_items}};
}

}  // namespace lodestone::tests
