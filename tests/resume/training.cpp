// SPDX-License-Identifier: Apache-2.0
// usage: resume_training FOLDER THREADS
//
// A small training with everything in it that a resume must bring back: parameters, Adam's moments and step
// count under a schedule, running statistics, a random key (dropout), a shuffled loader with random
// transforms that reads ahead, a validation loader, callbacks that remember, a table of figures. It goes on
// from FOLDER/state.safetensors if there is one, and before it does anything says so on standard output and
// waits for a character on standard input (or its end), so that it can be killed at a chosen moment.
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
#include "engine/train/callbacks.hpp"
#include "engine/train/model.hpp"

#include <cstdio>
#include <filesystem>
#include <string>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr std::int64_t n_epochs = 8;  // of 14 steps
constexpr std::int64_t save_every = 3;
constexpr Dim n_items = 200, n_in = 24, n_hidden = 160;

/// Returns targets that a network of this size can learn.
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

void say(const char* what) {
  std::puts(what);
  std::fflush(stdout);
  std::getchar();
}

/// Says what comes next in the list of callbacks.
class Says final : public Judge {
 public:
  Says(const char* before_step, const char* before_save)
      : before_step_(before_step), before_save_(before_save) {}
  Verdict judge(Training&, const Step&) override {
    if (*before_step_ != '\0') say(before_step_);
    return Verdict::take;
  }
  void save(Training& training, Moment moment) override {
    if (moment == Moment::epoch || training.n_steps() % save_every == 0) say(before_save_);
  }

 private:
  const char *before_step_, *before_save_;
};

void train(const std::string& folder) {
  const std::string state = folder + "/state.safetensors";
  InitialValues initial(3);
  const Layer net =
      Sequential{Linear(n_in, n_hidden, initial), BatchNorm(n_hidden, initial),        Layer(swish),
                 Dropout(0.1, initial),           Linear(n_hidden, n_hidden, initial), Layer(swish),
                 Linear(n_hidden, 1, initial)};
  const auto squared = [](const Tensor& predicted, const Tensor& target) {
    return mean_squared_error(predicted, target);
  };
  const auto absolute = [](const Tensor& predicted, const Tensor& target) {
    return mean_absolute_error(predicted, target);
  };
  const Model model(net, squared,
                    Adam(net, {.learning_rate = warm_up(10, cosine_decay({.rate = 3e-3, .n_steps = 90}))}),
                    {.metrics = {{"absolute", absolute}}, .input = "x", .target = "y", .largest_norm = 5.0});
  const auto [training, validation] = data().split(0.2, 4);
  const Loader batches(training, {.batch_size = 12, .seed = 5, .transform = augmented, .read_ahead = 2});
  say("start");
  static_cast<void>(model.fit(
      batches, Loader(validation, {.batch_size = 16, .order = Order::stored}),
      {.epochs = n_epochs,
       .callbacks = callbacks(Csv(folder + "/history.csv"), EarlyStopping({.patience = 100}),
                              ReduceOnPlateau({.patience = 1, .factor = 0.7}), Says("step", "saving"),
                              Checkpoint({.path = state, .every_steps = save_every}), Says("", "saved")),
       .resume_from = std::filesystem::exists(state) ? state : std::string()}));
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  return session.run([&] {
    if (argc != 3)
      throw core::InvalidArgument("resume_training", "expected FOLDER THREADS, got {} arguments", argc - 1);
    core::set_threads(std::stoi(argv[2]));
    train(argv[1]);
    return 0;
  });
}
