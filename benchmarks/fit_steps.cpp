// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/fit_steps.hpp"

#include "benchmarks/mt_vae.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/train/guards.hpp"
#include "engine/train/model.hpp"
#include "engine/transform/variables.hpp"

#include <algorithm>
#include <chrono>

namespace lodestone::bench {
namespace {

using namespace engine;
using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr Dim batch = 64, n_batches = 40;
constexpr int n_rounds = 7;

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Notes the time between steps, but for the first of each kind of batch, which records.
class StopWatch final : public Callback {
 public:
  explicit StopWatch(std::vector<double>& seconds) : seconds_(&seconds) {}
  void after_step(Training& training) override {
    const auto now = Clock::now();
    if (training.n_steps() > 1) seconds_->push_back(Seconds(now - last_).count());
    last_ = Clock::now();
  }

 private:
  std::vector<double>* seconds_;
  Clock::time_point last_{};
};

/// A network with its loss, trained on batches of normal numbers.
struct Task {
  std::string name;
  std::function<Model()> model;
  NamedTensors data;
};

Task mt_vae(DType dtype) {
  const auto model = [dtype] {
    InitialValues initial(7, dtype);
    const models::vae::Vae net({}, initial);
    const models::vae::VaeLoss loss({}, std::vector<double>(32, 1.0), 2.0, dtype);
    const BatchLoss of_batch{.values = [net, loss](const NamedTensors& arrays) -> Tensors {
      return {loss(net, arrays.at("cells"), arrays.at("noise")).loss};
    }};
    return Model(net, of_batch, Adam(net, {.learning_rate = 8e-4}));
  };
  return {fmt::format("Model::fit, step of the MT-VAE, {}", core::name_of(dtype)),
          model,
          {{"cells", (3.0 + 0.5 * normals({n_batches * batch, 32}, 0, dtype)).eval()},
           {"noise", normals({n_batches * batch, 16}, 1, dtype)}}};
}

/// Returns twenty layers of 4 × 4, whose 40 parameters have 80 moments.
Sequential small_net() {
  InitialValues initial(7);
  std::vector<Layer> layers;
  for (int i = 0; i < 20; ++i) layers.emplace_back(Linear(4, 4, initial));
  return Sequential(layers);
}

Task small_layers() {
  const auto model = [] {
    const Sequential net = small_net();
    const Loss loss = [](const Tensor& x, const Tensor& y) { return mean_squared_error(x, y); };
    return Model(net, loss, Adam(net));
  };
  const auto numbers = [](std::uint64_t stream) {
    return normals({n_batches * batch, 4}, stream, DType::f32);
  };
  return {"Model::fit, step of 20 layers of 4 x 4", model, {{"input", numbers(2)}, {"target", numbers(3)}}};
}

double step_seconds(const Task& task, std::optional<Level> level, bool is_judged) {
  std::vector<double> seconds;
  Callbacks all = is_judged ? callbacks(NanGuard()) : Callbacks{};
  all.push_back(std::make_shared<StopWatch>(seconds));
  const Loader loader(Dataset(task.data), {.batch_size = batch, .order = Order::stored});
  task.model().fit(loader, {}, {.callbacks = all, .level = level});
  return median(seconds);
}

/// The bare step of the small layers as a compiled function, its loss read.
double bare_step_seconds(const Task& task, Level level) {
  const Sequential net = small_net();
  const Adam adam(net);
  const Compiled step = compile(
      [&](const Tensors& in) -> Tensors {
        const auto loss = [&] { return mean_squared_error(net(in[0]), in[1]); };
        const auto [value, gradients] = value_and_grad(loss, adam.trained());
        adam.step(gradients);
        return {value};
      },
      {.level = level});
  const Loader loader(Dataset(task.data), {.batch_size = batch, .order = Order::stored});
  std::vector<double> seconds;
  while (const auto arrays = loader.next()) {
    const auto begin = Clock::now();
    static_cast<void>(step({arrays->at("input"), arrays->at("target")})[0].item<float>());
    seconds.push_back(Seconds(Clock::now() - begin).count());
  }
  return median(seconds);
}

}  // namespace

void measure_fit(Results& results) {
  const std::vector<std::pair<const char*, std::optional<Level>>> ways{
      {"op by op", {}}, {"O0", Level::O0}, {"O1", Level::O1}};
  const Task small = small_layers();
  for (const Task& task : {mt_vae(DType::f32), mt_vae(DType::f64), small}) {
    std::map<std::string, std::vector<double>> seconds;
    for (int round = 0; round < n_rounds; ++round) {  // in turn, since the machine changes its pace
      for (const auto& [name, level] : ways) {
        for (const bool is_judged : {false, true})
          seconds[fmt::format("{}{}", name, is_judged ? ", judged" : "")].push_back(
              step_seconds(task, level, is_judged));
      }
      if (task.name == small.name) seconds["bare function, O1"].push_back(bare_step_seconds(task, Level::O1));
    }
    for (const auto& [name, each] : seconds) results.add({task.name, name, "s", median(each), {}, {}, {}});
  }
}

}  // namespace lodestone::bench
