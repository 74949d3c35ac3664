// SPDX-License-Identifier: Apache-2.0
// What this shows: a network is trained on noisy points of a curve, judged on points it has not seen, and
// differentiated like any other function.
//
// Equation: min mean (f(x; w) − y)², f dense layers with tanh, y = e^(−x²/2) sin 3x + noise; Adam, a learning
// rate that falls along a cosine
//
// Sample run: 07_train_regression
#include "engine/core/log.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/train/callbacks.hpp"
#include "engine/train/guards.hpp"
#include "engine/train/model.hpp"
#include "engine/transform/transforms.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr Dim n_points = 600;
constexpr double noise = 0.05;
constexpr std::int64_t n_epochs = 300;

Tensor curve(const Tensor& x) { return exp(-0.5 * square(x)) * sin(3.0 * x); }

Dataset measured(InitialValues& random) {
  const Tensor x = random.draw({n_points, 1}, uniform_between(-3.0, 3.0));
  return Dataset(NamedTensors{{"input", x},
                              {"target", curve(x) + random.draw({n_points, 1}, normal_around(0.0, noise))}});
}

}  // namespace

int main() {
  InitialValues random(7);
  const auto [training, validation] = measured(random).split(0.25, 1);
  const Sequential net{Linear(1, 32, random), engine::tanh, Linear(32, 32, random), engine::tanh,
                       Linear(32, 1, random)};

  const Loss loss = [](const Tensor& predicted, const Tensor& target) {
    return mean_squared_error(predicted, target);
  };
  const Loader batches(training, {.batch_size = 30}),
      judged(validation, {.batch_size = 150, .order = Order::stored});
  const Adam adam(net,
                  {.learning_rate = cosine_decay({.rate = 1e-2, .n_steps = n_epochs * batches.n_batches()})});
  const Model model(net, loss, adam);
  const FitSummary summary =
      model.fit(batches, judged,
                {.epochs = n_epochs, .callbacks = callbacks(NanGuard(), EarlyStopping({.patience = 80}))});

  const Figures &first = summary.figures.front(), &last = summary.figures.back();
  core::log::info("{}: validation rms {:.3f} → {:.3f} (noise {})", summary.why_stopped,
                  std::sqrt(first.at("validation_loss")), std::sqrt(last.at("validation_loss")), noise);
  const auto slope = [](const auto& f, const Tensor& x) {
    return grad([&](const Tensor& t) { return sum(f(t)); })(x);
  };
  core::log::info("{:>6} {:>8} {:>8} {:>8} {:>8}", "x", "f", "curve", "df/dx", "dcurve");
  const InMode evaluation(net, Mode::evaluation);
  double largest = 0.0;
  for (double x = -2.0; x <= 2.0; x += 0.5) {
    const Tensor at = full({1, 1}, x);
    const auto number = [](const Tensor& t) { return t.item<float>(); };
    core::log::info("{:>6.2f} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f}", x, number(net(at)), number(curve(at)),
                    number(slope(net, at)), number(slope(curve, at)));
    largest = std::max(largest, std::abs(static_cast<double>(number(net(at)) - number(curve(at)))));
  }
  return largest < 2.0 * noise ? 0 : 1;
}
