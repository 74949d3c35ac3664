// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/convolution.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/state/state_file.hpp"
#include "engine/train/callbacks.hpp"
#include "engine/train/guards.hpp"
#include "engine/train/model.hpp"
#include "tests/unit/engine/dist/cut_functions.hpp"
#include "tests/unit/engine/train/waves.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace lodestone::tests {

/// The ways of a training that ranks share.
struct SharedOptions {
  int batches_per_step = 1;
  std::int64_t epochs = 2;
  std::function<engine::Callbacks()> more = {};  ///< each rank makes its own
  std::filesystem::path checkpoint = {};
  std::filesystem::path resume_from = {};
  std::int64_t batch_size = 18;  ///< the last batch of 44 items has 8
};

/// Throws on one rank, as a broken callback would.
class ThrowOn final : public engine::Callback {
 public:
  explicit ThrowOn(bool here) : here_(here) {}
  void after_step(engine::Training& training) override {
    if (here_ && training.n_steps() == 2) throw core::FormatError("test#broken", "a broken callback");
  }

 private:
  bool here_;
};

/// A network with convolutions, batch norms, and noise that the loader makes; the same on every rank. A bias
/// before a batch norm would have gradients of nothing but rounding, which Adam makes large.
class SharedTraining {
 public:
  explicit SharedTraining(const SharedOptions& options) : options_(options) {}

  /// Returns the bytes of all state and of the last figures after a training. `parallel`: none for one
  /// process.
  [[nodiscard]] std::vector<std::byte> bytes_after(const std::optional<engine::Parallel>& parallel) const {
    return bytes_of(after(parallel));
  }
  [[nodiscard]] engine::Tensors after(const std::optional<engine::Parallel>& parallel) const {
    using namespace engine;
    const Model model(net_, loss_, adam_,
                      {.metrics = {{"absolute", absolute}},
                       .batches_per_step = options_.batches_per_step,
                       .largest_norm = 1.0,
                       .parallel = parallel});
    Callbacks all = callbacks(NanGuard());
    if (!options_.checkpoint.empty())
      all.push_back(std::make_shared<Checkpoint>(
          CheckpointOptions{.path = options_.checkpoint, .every_epochs = 0, .every_steps = 2}));
    if (options_.more) {
      for (auto& each : options_.more()) all.push_back(std::move(each));
    }
    const FitSummary summary =
        model.fit(training_, validation_,
                  {.epochs = options_.epochs, .callbacks = all, .resume_from = options_.resume_from});
    Tensors result;
    for (const Stateful* part : {static_cast<const Stateful*>(&net_), static_cast<const Stateful*>(&adam_),
                                 static_cast<const Stateful*>(&training_)}) {
      for (const auto& [_, value] : part->state()) result.push_back(value);
    }
    if (summary.figures.empty()) return result;
    for (const auto& [_, value] : summary.figures.back())
      result.push_back(Tensor::from(std::vector<double>{value}, {}));
    return result;
  }

 private:
  static engine::NamedTensors noisy(engine::NamedTensors batch, const engine::Tensor& keys) {
    using namespace engine;
    batch.at("input") = batch.at("input") + 0.01 * cast(random_normal(keys, {3}), DType::f32);
    return batch;
  }
  static engine::Tensor as_image(const engine::Tensor& x) { return reshape(x, {x.dim(0), 4, 4, 1}); }
  static engine::Tensor as_rows(const engine::Tensor& x) { return reshape(x, {x.dim(0), -1}); }

  SharedOptions options_;
  engine::InitialValues initial_{7, engine::DType::f32};
  engine::Sequential net_{
      engine::Linear(3, 16, initial_),
      as_image,
      engine::Conv(1, 4, initial_, {.window = {3, 3}, .padding = {1, 1}, .bias = engine::Bias::no}),
      engine::BatchNorm(4, initial_),
      engine::tanh,
      as_rows,
      engine::Linear(64, 1, initial_)};
  engine::Loss loss_ = squared;
  engine::Adam adam_{net_, {.learning_rate = 0.02}};
  engine::Loader training_{
      waves(44, 1, engine::DType::f32),
      {.batch_size = options_.batch_size, .seed = 3, .transform = noisy, .read_ahead = 1}};
  engine::Loader validation_{waves(13, 2, engine::DType::f32),
                             {.batch_size = 10, .order = engine::Order::stored, .seed = 4}};
};

}  // namespace lodestone::tests
