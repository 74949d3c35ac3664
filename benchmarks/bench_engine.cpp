// SPDX-License-Identifier: Apache-2.0
// The engine on one thread: what recording, running and differentiating a small op costs, and a training step of the MT-VAE.
// Sample run: bench_engine
#include "benchmarks/mt_vae.hpp"
#include "benchmarks/results.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

#include <algorithm>
#include <chrono>

using namespace lodestone;
using engine::Tensor;

namespace {

constexpr int n_repeats = 21;
constexpr int chain_length = 1000;

/// Median wall seconds of a call, after one that is not counted.
double median_seconds(const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i <= n_repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    if (i > 0) seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + n_repeats / 2, seconds.end());
  return seconds[n_repeats / 2];
}

enum class Evaluate { at_end, each };

Tensor chain(Tensor x, const Tensor& other, Evaluate evaluate) {
  for (int i = 0; i < chain_length; ++i) {
    x = x + other;
    if (evaluate == Evaluate::each) x.eval();
  }
  return x;
}

void measure_dispatch(bench::Results& results) {
  const Tensor start = (engine::ones({16}) + 0.0).eval(), other = (engine::ones({16}) + 0.0).eval();
  const auto per_op = [](double seconds) { return 1e9 * seconds / chain_length; };
  const std::string name = "chain of 1000 additions of 16 f32";
  results.add({name,
               "record, run, free; per op",
               "ns",
               per_op(median_seconds([&] { chain(start, other, Evaluate::at_end).eval(); })),
               400.0,
               {},
               {}});
  results.add(
      {name, "the same, evaluated one by one", "ns", per_op(median_seconds([&] { chain(start, other, Evaluate::each); })), {}, {}, {}});
  const auto slope = engine::grad([&](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < chain_length; ++i) y = y * other;
    return engine::sum(y);
  });
  results.add({"chain of 1000 products of 16 f32",
               "value and gradient, per op",
               "ns",
               per_op(median_seconds([&] { slope(start).eval(); })),
               {},
               {},
               {}});
}

void measure_training(bench::Results& results) {
  for (const auto& [name, dtype, target] :
       {std::tuple{"MT-VAE training step, f32", engine::DType::f32, 3e-3}, {"MT-VAE training step, f64", engine::DType::f64, 6e-3}}) {
    bench::MtVaeStep step(dtype);
    results.add({name, "parameters", "", static_cast<double>(step.n_parameters()), {}, {}, {}});
    results.add({name, "loss, gradients, Adam", "s", median_seconds([&] { step.run(); }), target, {}, {}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  return session.run([&] {
    bench::Results results;
    measure_dispatch(results);
    measure_training(results);
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=engine");
    return 0;
  });
}
