// SPDX-License-Identifier: Apache-2.0
// usage: resume_training STATE.safetensors THREADS
//
// A small training with everything in it that a resume must bring back: parameters, Adam's moments and step count under a schedule, running statistics, a
// random key (dropout), a shuffled loader with random transforms that reads ahead, and a record of the losses. It goes on from the file if there is one, writes it
// every few steps, and before it does anything says so on standard output and waits for a character on standard input (or its end), so that it can be killed at a
// chosen moment.
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/random.hpp"
#include "engine/core/session.hpp"
#include "engine/data/loader.hpp"
#include "engine/data/transforms.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/state/state_file.hpp"
#include "engine/transform/variables.hpp"

#include <cstdio>
#include <filesystem>
#include <string>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr std::int64_t n_epochs = 8;  // of 13 steps
constexpr std::int64_t save_every = 3;
constexpr Dim n_items = 200, n_in = 24, n_hidden = 160;

/// Targets that a network of this size can learn.
Dataset data() {
  std::vector<float> x(static_cast<std::size_t>(n_items * n_in)), y(static_cast<std::size_t>(n_items));
  const core::Philox random(7);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(random.normal(i));
    y[i / static_cast<std::size_t>(n_in)] += 0.2F * x[i] * x[i];
  }
  return Dataset(NamedTensors{{"x", Tensor::from(x, {n_items, n_in})}, {"y", Tensor::from(y, {n_items, 1})}});
}

NamedTensors augmented(NamedTensors batch, const Tensor& keys) {
  const Tensor each = split_key(keys, 2);
  const auto key = [&](Dim i) { return squeeze(slice(each, -2, i, i + 1), -2); };
  batch.at("x") = transforms::noise(transforms::random_shift(batch.at("x"), key(0), 0, 1), key(1), 0.05);
  return batch;
}

class Training : public Stateful {
 public:
  Training()
      : initial_(3),
        net_(
            add("network", Sequential{Linear(n_in, n_hidden, initial_), BatchNorm(n_hidden, initial_), Layer(swish), Dropout(0.1, initial_),
                                      Linear(n_hidden, n_hidden, initial_), Layer(swish), Linear(n_hidden, 1, initial_)})),
        adam_(add("optimizer", Adam(net_, {.learning_rate = warm_up(10, cosine_decay({.rate = 3e-3, .n_steps = 60}))}))),
        loader_(add("loader", Loader(data(), {.batch_size = 16, .seed = 5, .transform = augmented, .read_ahead = 2}))),
        losses_(add_state("losses", zeros({n_epochs * loader_.n_batches()}))) {}

  [[nodiscard]] bool is_done() const { return loader_.epoch() == n_epochs; }
  [[nodiscard]] std::int64_t n_steps() const { return adam_.n_steps(); }

  void step() const {
    const auto batch = loader_.next();
    if (!batch) return;
    const auto [loss, gradients] =
        value_and_grad([&] { return mean_squared_error(net_(batch->at("x")), batch->at("y")); }, adam_.trained());
    const auto at = static_cast<Dim>(n_steps());
    losses_.assign(losses_.value() + pad(reshape(loss, {1}), {at}, {losses_.aval().shape[0] - at - 1}));
    adam_.step(gradients);
    Tensors all;
    for (const auto& [name, tensor] : state()) all.push_back(tensor);
    eval(all);
  }

 private:
  InitialValues initial_;
  Sequential net_;
  Adam adam_;
  Loader loader_;
  Variable losses_;
};

void say(const char* what, std::int64_t step) {
  std::printf("%s %d\n", what, static_cast<int>(step));
  std::fflush(stdout);
  std::getchar();
}

void train(const std::string& path) {
  const Training training;
  if (std::filesystem::exists(path)) load_state(path, training);
  say("from", training.n_steps());
  while (!training.is_done()) {
    say("step", training.n_steps());
    training.step();
    if (training.n_steps() % save_every != 0 && !training.is_done()) continue;
    say("saving", training.n_steps());
    save_state(path, training);
    say("saved", training.n_steps());
  }
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  return session.run([&] {
    if (argc != 3) throw core::InvalidArgument("resume_training", "expected STATE.safetensors THREADS, got {} arguments", argc - 1);
    core::set_threads(std::stoi(argv[2]));
    train(argv[1]);
    return 0;
  });
}
