// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/dist/parallelize.hpp"
#include "engine/nn/attention.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/module.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/variables.hpp"

#include <cmath>

namespace lodestone::tests {

/// Returns numbers between -1 and 1 that depend on their place alone.
inline engine::Tensor waves_of(const engine::Shape& shape, double frequency,
                               engine::DType dtype = engine::DType::f32) {
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(frequency * static_cast<double>(i + 1));
  return cast(engine::Tensor::from(values, shape), dtype).eval();
}

/// A block of a transformer: words look at each other, then each is changed by itself. A bias of keys would
/// have gradients of nothing but rounding, which Adam makes large.
class Block : public engine::Module {
 public:
  Block(engine::Dim width, engine::InitialValues& initial)
      : before_(add("before", engine::LayerNorm({width}, initial))),
        attention_(add("attention", engine::SelfAttention(
                                        width, initial,
                                        {.heads = 2, .causal = true, .linear = {.bias = engine::Bias::no}}))),
        between_(add("between", engine::LayerNorm({width}, initial))),
        up_(add("up", engine::Linear(width, 4 * width, initial))),
        down_(add("down", engine::Linear(4 * width, width, initial))) {}
  engine::Tensor operator()(const engine::Tensor& x) const {
    const engine::Tensor seen = x + attention_(before_(x));
    return seen + down_(tanh(up_(between_(seen))));
  }

 private:
  engine::LayerNorm before_;
  engine::SelfAttention attention_;
  engine::LayerNorm between_;
  engine::Linear up_, down_;
};

/// A network with its optimizer, and the step that trains it: the same on every rank.
class Training {
 public:
  /// Two dense layers.
  static Training layers() {
    engine::InitialValues initial(5, engine::DType::f32);
    return {
        engine::Sequential({engine::Linear(6, 16, initial), engine::tanh, engine::Linear(16, 3, initial)}),
        {waves_of({24, 6}, 0.7), waves_of({24, 3}, 0.3)}};
  }
  /// Two layers whose products are large enough for packed kernels, with extents that are no round numbers.
  static Training wide_layers() {
    engine::InitialValues initial(5, engine::DType::f32);
    return {engine::Sequential(
                {engine::Linear(149, 211, initial), engine::tanh, engine::Linear(211, 67, initial)}),
            {waves_of({301, 149}, 0.7), waves_of({301, 67}, 0.3)}};
  }
  /// Two blocks on words.
  static Training transformer() {
    engine::InitialValues initial(6, engine::DType::f32);
    return {engine::Sequential({Block(8, initial), Block(8, initial), engine::Linear(8, 5, initial)}),
            {waves_of({16, 4, 8}, 0.7), waves_of({16, 4, 5}, 0.3)}};
  }

  [[nodiscard]] const engine::Tensors& batch() const { return batch_; }
  /// Returns a function of a batch that trains and gives the loss.
  [[nodiscard]] engine::Function step() const {
    return [net = net_, adam = adam_](const engine::Tensors& in) -> engine::Tensors {
      const auto loss = [&] { return mean(square(net(in[0]) - in[1])); };
      const engine::ValueAndGradients found = value_and_grad(loss, adam.trained());
      adam.step(found.gradients);
      return {found.value};
    };
  }
  [[nodiscard]] std::vector<engine::NamedVariable> cells() const {
    std::vector<engine::NamedVariable> all;
    for (const auto& [name, cell] : net_.variables()) all.push_back({"net." + name, cell});
    for (const auto& [name, cell] : adam_.variables()) all.push_back({"optimizer." + name, cell});
    return all;
  }

  /// Returns the elements of all cells after some steps on the ranks of a mesh, and of the losses.
  [[nodiscard]] engine::Tensors trained(const engine::World& world, const engine::DeviceMesh& mesh,
                                        const std::vector<engine::Pin>& pins, int n_steps) const {
    return trained(parallel_step(world, mesh, {.pins = pins}), n_steps);
  }
  [[nodiscard]] engine::Tensors trained(const engine::Parallelized& parallel, int n_steps) const {
    engine::Tensors all;
    for (int i = 0; i < n_steps; ++i) all.push_back(parallel(batch_)[0]);
    for (const auto& [name, cell] : cells()) all.push_back(gathered(cell).eval());
    return all;
  }
  /// Returns the step on the ranks of a mesh, with names for its inputs and cells.
  [[nodiscard]] engine::Parallelized parallel_step(const engine::World& world, const engine::DeviceMesh& mesh,
                                                   engine::ParallelOptions options) const {
    options.inputs = {"batch.x", "batch.y"};
    options.cells = cells();
    return parallelize(step(), world, mesh, std::move(options));
  }
  /// Returns the same of one machine.
  [[nodiscard]] engine::Tensors trained(int n_steps) const {
    engine::Tensors all;
    for (int i = 0; i < n_steps; ++i) {
      all.push_back(step()(batch_)[0].eval());
      for (const auto& [name, cell] : cells()) cell.value().eval();
    }
    for (const auto& [name, cell] : cells()) all.push_back(cell.value().eval());
    return all;
  }

 private:
  Training(engine::Sequential net, engine::Tensors batch)
      : net_(std::move(net)), adam_(net_, {.learning_rate = 0.01}), batch_(std::move(batch)) {}

  engine::Sequential net_;
  engine::Adam adam_;
  engine::Tensors batch_;
};

}  // namespace lodestone::tests
