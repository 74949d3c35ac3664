// SPDX-License-Identifier: Apache-2.0
// A network in chunks, run as a pipeline and in one piece: both must have the same bits.
#pragma once

#include "engine/dist/pipeline/run.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

#include <cmath>
#include <map>
#include <vector>

namespace lodestone::tests {

/// Losses and gradients as numbers: by chunk, then by parameter.
struct StepValues {
  std::vector<double> loss;
  std::map<int, std::vector<std::vector<double>>> gradients;
  friend bool operator==(const StepValues&, const StepValues&) = default;
};

/// Dense layers with a sum that passes beside them, as many as there are chunks. Leaves differ in length.
class PipelineNetwork {
 public:
  PipelineNetwork(int n_chunks, int n_leaves, engine::Dim width = 4)
      : n_chunks_(n_chunks), n_leaves_(n_leaves), width_(width) {}

  /// Returns chunks by number; tensors are made anew, as ranks may be threads.
  [[nodiscard]] std::map<int, engine::PipelineStage> stages() const {
    std::map<int, engine::PipelineStage> stages;
    for (int chunk = 0; chunk < n_chunks_; ++chunk) {
      stages[chunk] = {
          [this, chunk](const engine::Tensors& in) { return run(chunk, in); },
          {values({width(chunk), width(chunk + 1)}, chunk), values({width(chunk + 1)}, 100 + chunk)}};
    }
    return stages;
  }

  [[nodiscard]] std::vector<engine::PipelineLeaf> leaves() const {
    std::vector<engine::PipelineLeaf> leaves;
    for (int leaf = 0; leaf < n_leaves_; ++leaf) {
      const engine::Dim n = leaf + 1 == n_leaves_ ? 3 : 5;
      leaves.push_back({{values({n, width(0)}, 200 + leaf)}, {values({n, width(n_chunks_)}, 300 + leaf)}});
    }
    return leaves;
  }

  /// Runs a step on this rank, and returns what the rank gets.
  [[nodiscard]] StepValues step(const engine::World& world, const engine::PipelineSchedule& schedule,
                                const engine::PipelineOptions& options = {}) const {
    std::map<int, engine::PipelineStage> own;
    for (const auto& [chunk, stage] : stages()) {
      if (schedule.rank_of(chunk) == world->rank()) own[chunk] = stage;
    }
    std::vector<engine::PipelineLeaf> leaves = this->leaves();
    for (engine::PipelineLeaf& leaf : leaves) {
      if (!own.contains(0)) leaf.inputs.clear();
      if (!own.contains(n_chunks_ - 1)) leaf.targets.clear();
    }
    const engine::PipelineStep got = run_schedule(world, schedule, own, leaves, options);
    StepValues numbers;
    if (got.loss.is_valid()) numbers.loss = got.loss.to_vector<double>();
    for (const auto& [chunk, gradients] : got.gradients) {
      for (const engine::Tensor& each : gradients)
        numbers.gradients[chunk].push_back(each.to_vector<double>());
    }
    return numbers;
  }

  /// Returns the step in one piece: the gradients of all chunks at once, leaf by leaf, added in a tree.
  [[nodiscard]] StepValues whole_step() const {
    engine::Tensors parameters;
    for (const auto& [_, stage] : stages())
      parameters.insert(parameters.end(), stage.parameters.begin(), stage.parameters.end());
    std::vector<engine::Tensors> terms;
    for (const engine::PipelineLeaf& leaf : leaves()) {
      const auto result = engine::value_and_grad(
          [&](const engine::Tensors& all) {
            engine::Tensors x = leaf.inputs;
            for (int chunk = 0; chunk < n_chunks_; ++chunk) {
              engine::Tensors in{all[2 * static_cast<std::size_t>(chunk)],
                                 all[2 * static_cast<std::size_t>(chunk) + 1]};
              in.insert(in.end(), x.begin(), x.end());
              if (chunk + 1 == n_chunks_) in.push_back(leaf.targets[0]);
              x = run(chunk, in);
            }
            return x;
          },
          parameters);
      terms.push_back(result.gradients);
      terms.back().push_back(result.value);
    }
    const engine::Tensors total = sum_of(terms, 0, terms.size());
    StepValues numbers{total.back().to_vector<double>(), {}};
    for (int chunk = 0; chunk < n_chunks_; ++chunk) {
      for (const std::size_t i : {0, 1})
        numbers.gradients[chunk].push_back(
            total[2 * static_cast<std::size_t>(chunk) + i].to_vector<double>());
    }
    return numbers;
  }

 private:
  [[nodiscard]] engine::Dim width(int layer) const { return width_ + layer % 3; }

  static engine::Tensor values(const engine::Shape& shape, int seed) {
    std::vector<double> numbers(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = std::sin(1.7 * static_cast<double>(i) + 0.61 * seed + 0.3);
    return engine::Tensor::from(numbers, shape).eval();
  }

  /// Takes weight and bias, activations, and the target at the end.
  [[nodiscard]] engine::Tensors run(int chunk, const engine::Tensors& in) const {
    using namespace engine;
    const Tensor next = tanh(matmul(in[2], in[0]) + in[1]);
    const Tensor beside = sum(square(next), Axes{-1}) + (chunk == 0 ? zeros({1}, DType::f64) : in[3]);
    if (chunk + 1 < n_chunks_) return {next, beside};
    return {sum(square(next - in.back())) + sum(sin(beside))};
  }

  static engine::Tensors sum_of(const std::vector<engine::Tensors>& terms, std::size_t first,
                                std::size_t end) {
    if (end - first == 1) return terms[first];
    const std::size_t middle = first + (end - first) / 2;
    engine::Tensors total = sum_of(terms, first, middle);
    const engine::Tensors right = sum_of(terms, middle, end);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] = total[i] + right[i];
    return total;
  }

  int n_chunks_, n_leaves_;
  engine::Dim width_;
};

}  // namespace lodestone::tests
