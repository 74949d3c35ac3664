// SPDX-License-Identifier: Apache-2.0
// What this shows: a training step is recorded once and then runs as a plan, which ends in the same bits as
// the plain loop; what the compiler made of it, and why it recorded the step again when the batch changed.
//
// Equation: min mean (f(x; w) − y)², f dense layers with swish, y = sin 3x; Adam
//
// Sample run: 11_compile_training
#include "engine/compile/compile.hpp"
#include "engine/core/log.hpp"
#include "engine/core/timer.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/variables.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr int n_steps = 200;

/// A network, and the step that trains it.
class Training {
 public:
  Training()
      : initial_(7),
        net_{Linear(1, 64, initial_), swish, Linear(64, 64, initial_), swish, Linear(64, 1, initial_)} {}

  /// Takes one step on a batch (x, y); returns the loss before it.
  [[nodiscard]] Tensors step(const Tensors& batch) const {
    const auto loss = [&] { return mean_squared_error(net_(batch[0]), batch[1]); };
    const auto [value, gradients] = value_and_grad(loss, net_.parameters());
    adam_.step(gradients);
    return {value};
  }
  /// Takes all steps; returns the last loss and the seconds per step.
  [[nodiscard]] std::pair<Tensor, double> run(const Function& one_step) const {
    const core::ScopedTimer timer("training");
    Tensor loss;
    for (int i = 0; i < n_steps; ++i) {
      loss = one_step(batch_of(32, i))[0];
      eval(values_of(net_.cells()));
    }
    return {loss, timer.seconds() / n_steps};
  }
  [[nodiscard]] static Tensors batch_of(Dim n, int number) {
    std::vector<float> x;
    for (Dim i = 0; i < n; ++i)
      x.push_back(static_cast<float>(std::sin(0.37 * static_cast<double>(i * (number + 1)))));
    const Tensor points = Tensor::from(x, {n, 1});
    return {points, sin(3.0 * points)};
  }

 private:
  InitialValues initial_;
  Sequential net_;
  Adam adam_{net_, {.learning_rate = 3e-3}};
};

bool same_bits(const Tensor& a, const Tensor& b) { return std::ranges::equal(a.bytes(), b.bytes()); }

}  // namespace

int main() {
  const Training plain, compiled;
  const auto [right, plain_s] = plain.run([&](const Tensors& batch) { return plain.step(batch); });

  const Compiled step = compile([&](const Tensors& batch) { return compiled.step(batch); });
  const auto [loss, compiled_s] = compiled.run(step);
  core::log::info("loss {:.2e} after {} steps; plain {:.0f} µs a step, compiled {:.0f} µs",
                  loss.item<float>(), n_steps, 1e6 * plain_s, 1e6 * compiled_s);
  core::log::info("the step as it runs:\n{}", step.text(Stage::running));

  static_cast<void>(step(Training::batch_of(17, 0)));  // a batch of another size
  const CompileStats stats = step.stats();
  core::log::info("{} calls, {} recordings, {} plans of {} bytes", stats.n_calls, stats.n_traces,
                  stats.n_plans, stats.block_bytes);
  for (const Recompile& each : stats.recompiles) core::log::info("recorded again: {}", each.what);
  return same_bits(loss, right) && stats.n_traces == 2 ? 0 : 1;
}
