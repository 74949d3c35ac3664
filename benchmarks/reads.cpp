// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/reads.hpp"

#include "benchmarks/mt_vae.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/op_by_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace lodestone::bench {
namespace {

using namespace engine;

constexpr int n_rounds = 21;
constexpr double least_seconds = 0.02;  // of a turn

using Call = std::function<void()>;

double seconds_of(const Call& f, int n) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / n;
}

/// Returns the median of each, turn by turn.
std::vector<double> medians(const std::vector<Call>& calls) {
  for (const Call& each : calls) {
    for (int i = 0; i < 3; ++i) each();  // plans are made
  }
  std::vector<std::vector<double>> seconds(calls.size());
  const int n = std::max(1, static_cast<int>(least_seconds / seconds_of(calls[0], 1)));
  for (int round = 0; round < n_rounds; ++round) {
    for (std::size_t i = 0; i < calls.size(); ++i) seconds[i].push_back(seconds_of(calls[i], n));
  }
  std::vector<double> result;
  for (auto& each : seconds) {
    std::nth_element(each.begin(), each.begin() + n_rounds / 2, each.end());
    result.push_back(each[n_rounds / 2]);
  }
  return result;
}

std::int64_t n_kernels(const Call& f) {
  std::int64_t n = 0;
  const ExecutionObserver observer([&](const Node& node) { n += is_view(node) ? 0 : 1; });
  f();
  return n;
}

/// `reads` and `reads_too` do the same on other cells, and so does `without`, which reads nothing.
void measure(Results& results, const std::string& name, const Function& reads, const Function& reads_too,
             const Function& without, const Tensors& in) {
  const Compiled segments = compile(reads), by_text = compile(reads),
                 interpreted = compile(reads, {.by_text = false}), whole = compile(without);
  const Call op_by_op = [&] { static_cast<void>(run_op_by_op(reads_too, in)); };
  const std::vector<double> seconds =
      medians({op_by_op, [&] { interpreted(in); }, [&] { by_text(in); }, [&] { whole(in); }});
  results.add({name, "segments", "s", seconds[1], {}, "op by op", seconds[0]});
  results.add({name, "segments, by text", "s", seconds[2], {}, "op by op", seconds[0]});
  results.add({name, "one plan without the read, by text", "s", seconds[3], {}, "op by op", seconds[0]});
  for (int i = 0; i < 4; ++i) static_cast<void>(segments(in));
  const CompileStats before = segments.stats();
  static_cast<void>(segments(in));
  const CompileStats after = segments.stats();
  const auto add = [&](const char* what, std::int64_t n) {
    results.add({name, what, "", static_cast<double>(n), {}, {}, {}});
  };
  results.add({name,
               "launches",
               "",
               static_cast<double>(after.n_launches - before.n_launches),
               {},
               "kernels op by op",
               static_cast<double>(n_kernels(op_by_op))});
  add("segments of a call", after.n_segments - before.n_segments);
  add("plans", after.n_plans);
}

Tensor eight_ops(const Tensor& x) {
  return engine::maximum(-(engine::abs(0.5 - x * 1.5) + 0.25) * 0.75, -4.0) * x - 2.0;
}

}  // namespace

void measure_reads(Results& results) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const MtVaeStep step(dtype), other(dtype), without(dtype);
    measure(results, fmt::format("MT-VAE step that reads its loss, {}", core::name_of(dtype)),
            step.step_that_reads(), other.step_that_reads(), without.step(), {});
  }
  const Function reads = [](const Tensors& in) -> Tensors {
    const Tensor y = eight_ops(in[0]);
    return {sum(y).item<float>() > 0.0F ? eight_ops(y) : eight_ops(-y)};
  };
  const Function without = [](const Tensors& in) -> Tensors {
    const Tensor y = eight_ops(in[0]);
    return {eight_ops(-y), sum(y)};
  };
  for (const auto& [n, size] : {std::pair{Dim{16}, "16"}, {Dim{1} << 14, "16 K"}, {Dim{1} << 22, "4 M"}})
    measure(results, fmt::format("8 ops, a read, 8 ops on {}, f32", size), reads, reads, without,
            {(ones({n}, DType::f32) * 0.3).eval()});
}

}  // namespace lodestone::bench
