// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/two_threads.hpp"

#include "benchmarks/mt_vae.hpp"
#include "engine/compile/compile.hpp"
#include "engine/core/parallel.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace lodestone::bench {
namespace {

using engine::Tensor;
using engine::Tensors;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Does `work(thread)` on two threads at once.
void on_both(const std::function<void(std::ptrdiff_t)>& work) {
  std::atomic<int> n_here = 0;
  core::parallel_for(2, [&](std::ptrdiff_t) {
    ++n_here;
    while (n_here < 2) std::this_thread::yield();
    work(core::thread_index());
  });
}

/// Median seconds from the call of a loop until both threads have met in it and left.
double seconds_of_loop() {
  std::vector<double> all;
  for (int i = 0; i < 2000; ++i) all.push_back(seconds_of([] { on_both([](std::ptrdiff_t) {}); }));
  return median(all);
}

/// Median seconds in which one thread writes 128 kB that both hold in their caches.
double seconds_of_rewriting() {
  std::vector<float> shared(1 << 15, 1.0F);
  std::vector<double> all;
  std::atomic<float> sum = 0.0F;
  for (int i = 0; i < 200; ++i) {
    all.push_back(seconds_of([&] {
      for (float& each : shared) each = each * 0.5F + 1.0F;
    }));
    on_both([&](std::ptrdiff_t thread) {
      if (thread == 0) return;
      float here = 0.0F;
      for (const float each : shared) here += each;
      sum = here;
    });
  }
  return median(all);
}

/// Adds a compiled function on one thread and on two, in turns of 16 calls. The first three of each turn do
/// not count.
void add_in_turns(Results& results, const std::string& name, const engine::Function& f, const Tensors& in) {
  const std::array<engine::Compiled, 2> compiled{engine::compile(f, {.by_text = false}),
                                                 engine::compile(f, {.by_text = false})};
  std::array<std::vector<double>, 2> seconds;
  for (int turn = 0; turn < 12; ++turn) {
    for (const int other : {0, 1}) {
      const auto k = static_cast<std::size_t>(other);
      core::set_threads(1 + other);
      for (int call = 0; call < 16; ++call) {
        const double took = seconds_of([&] { compiled[k](in); });
        if (call > 2) seconds[k].push_back(took);
      }
    }
  }
  results.add({name, "2 threads", "s", median(seconds[1]), {}, "1 thread", median(seconds[0])});
}

void add_decoder(Results& results, core::DType dtype) {
  engine::InitialValues initial(7, dtype);
  const models::vae::VaeDecoderNet decoder({}, initial);
  decoder.set_mode(engine::Mode::evaluation);
  const auto of_one = [&](const Tensor& one) { return squeeze(decoder(expand_dims(one, 0)), 0); };
  const auto columns = engine::vmap(
      [&](const Tensor& code) { return engine::jacobian(of_one, code, engine::JacobianMode::forward); });
  const Tensors codes{normals({40, 16}, 3, dtype)};
  const std::string name = fmt::format("MT decoder, 40 columns, {}", core::name_of(dtype));
  add_in_turns(
      results, name + ", values", [&](const Tensors& x) -> Tensors { return {decoder(x[0])}; }, codes);
  add_in_turns(
      results, name + ", Jacobian", [&](const Tensors& x) -> Tensors { return {columns(x[0])}; }, codes);
}

/// Adds the slopes of a convolution in x and in w: each shared by two threads, and each on its own thread.
void add_slopes(Results& results, const engine::Shape& x, const engine::Shape& w) {
  constexpr core::DType dtype = core::DType::f32;
  const auto slope = [](std::size_t k) {
    return engine::compile([k](const Tensors& in) -> Tensors {
      const engine::ConvOptions options{.stride = {1}, .low = {1}, .high = {1}};
      const auto at = engine::linearize(
          [&](const Tensors& of) -> Tensors { return {conv(of[0], of[1], options)}; }, {in[0], in[1]});
      return {at.vjp({in[2]})[k]};
    });
  };
  const std::array<engine::Compiled, 2> slopes{slope(0), slope(1)};
  const Tensors in{normals(x, 0, dtype), normals(w, 1, dtype), normals({x[0], x[1], w[2]}, 2, dtype)};
  std::vector<double> shared, apart;
  const core::CloseLoops close;
  for (int i = 0; i < 400; ++i) {
    shared.push_back(seconds_of([&] {
      for (const engine::Compiled& each : slopes) each(in);
    }));
    apart.push_back(seconds_of(
        [&] { core::parallel_for(2, [&](std::ptrdiff_t k) { slopes[static_cast<std::size_t>(k)](in); }); }));
  }
  results.add({fmt::format("slopes in x and in w, 3, {} x {} x {} to {}, f32", x[0], x[1], x[2], w[2]),
               "one after the other, shared",
               "s",
               median(shared),
               {},
               "side by side",
               median(apart)});
}

}  // namespace

void measure_two_threads(Results& results) {
  const int before = core::threads();
  core::set_threads(2);
  {
    const core::CloseLoops close;
    results.add({"loop of two threads", "call, meet, return", "s", seconds_of_loop(), {}, {}, {}});
    results.add({"128 kB that both threads hold", "written", "s", seconds_of_rewriting(), {}, {}, {}});
  }
  add_slopes(results, {64, 8, 64}, {3, 64, 64});
  add_slopes(results, {64, 32, 16}, {3, 16, 16});
  for (const core::DType dtype : {core::DType::f32, core::DType::f64}) {
    const MtVaeStep step(dtype);
    add_in_turns(results, fmt::format("MT-VAE training step, {}", core::name_of(dtype)), step.step(), {});
    add_decoder(results, dtype);
  }
  core::set_threads(before);
}

}  // namespace lodestone::bench
