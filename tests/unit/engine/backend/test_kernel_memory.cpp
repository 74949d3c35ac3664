// SPDX-License-Identifier: Apache-2.0
// Kernels allocate nothing: every `operator new` of the program is counted while one runs.
#include "engine/backend/cpu/kernels.hpp"
#include "engine/core/parallel.hpp"
#include "engine/dispatch/kernel_table.hpp"
#include "engine/ops/attention.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/counted_memory.hpp"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// While one lives, our own kernels of the processor are counted, and those that allocate are noted. Kernels
/// of oneDNN, which keep lists, are counted where they leave a call to ours.
class Counting {
 public:
  Counting() {
    for (const OpInfo& row : OpTable::global().rows()) {
      OpInfo& counted = op_named(row.name);
      right_.emplace(&row, row.kernels);
      for (const Backend backend : {Backend::processor, Backend::reference}) {
        for (Kernel& each : counted.kernels[static_cast<std::size_t>(backend)])
          each.run = each.run == nullptr ? nullptr : run;
      }
    }
    current_ = this;
  }
  ~Counting() {
    current_ = nullptr;
    for (const auto& [row, kernels] : right_) op_named(row->name).kernels = kernels;
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  [[nodiscard]] std::int64_t n_runs() const { return n_runs_; }
  /// Returns the names of the kernels that have run.
  [[nodiscard]] const std::set<std::string>& seen() const { return seen_; }
  /// Returns the names of the kernels that have allocated memory.
  [[nodiscard]] const std::set<std::string>& allocating() const { return allocating_; }

 private:
  static void run(const KernelCall& call) { current_->count(call); }
  void count(const KernelCall& call) {
    const DType dtype = (call.in.empty() ? call.out : call.in)[0].aval->dtype;
    const Kernel* kernel = nullptr;  // the one that would run
    for (const Backend backend : backends_of(call.out[0].aval->device)) {
      if (backend == Backend::onednn) continue;
      kernel = &right_.at(&call.op)[static_cast<std::size_t>(backend)][static_cast<std::size_t>(dtype)];
      if (kernel->run != nullptr) break;
    }
    if (is_inside_) return kernel->run(call);  // some call the kernels of others
    is_inside_ = true;
    const std::int64_t before = tests::n_allocations(), library_runs = cpu_backend::n_onednn_runs();
    kernel->run(call);
    const bool calls_library = cpu_backend::n_onednn_runs() != library_runs;  // which keeps lists of its own
    const bool has_allocated = !calls_library && tests::n_allocations() != before;
    is_inside_ = false;
    const std::string name = fmt::format("{} {}: {}", call.op.name, core::name_of(dtype), kernel->name);
    ++n_runs_;
    seen_.insert(name);
    if (has_allocated) allocating_.insert(name);
  }

  using Kernels = decltype(OpInfo::kernels);
  inline static Counting* current_ = nullptr;
  std::unordered_map<const OpInfo*, Kernels> right_;
  bool is_inside_ = false;
  std::int64_t n_runs_ = 0;
  std::set<std::string> seen_, allocating_;
};

/// Evaluates a few samples of a row.
void run_samples(const OpInfo& row, DType dtype) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Sampler sampler(dtype, seed);
    const Sample sample = row.sample(sampler);
    const Tensors inputs = sample.prepare ? sample.prepare(sample.inputs) : sample.inputs;
    const Tensor out = record(row, inputs, sample.attrs, std::source_location::current());
    (sample.finish ? sample.finish(out) : out).eval();
  }
}

void run_all_samples() {
  for (const OpInfo& row : OpTable::global().rows()) {
    for (int i = 0; i < core::n_dtypes; ++i) {
      if (row.dtypes.contains(static_cast<DType>(i))) run_samples(row, static_cast<DType>(i));
    }
  }
}

std::string list_of(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& each : names) list += each + "\n";
  return list;
}

Tensor numbers(const Shape& shape, DType dtype, std::uint64_t seed) {
  Sampler sampler(dtype, seed);
  return sampler.tensor(shape, 0.1, 1.0).eval();
}

/// Calls f(x, …) and the gradient of Σ f².
void run_both_ways(const Function& f, const Tensors& at) {
  const auto loss = [&](const Tensors& x) -> Tensors { return {sum(square(f(x)[0]))}; };
  eval(value_and_grad(loss, at).gradients);
}

/// Work that is worth sharing, of every family whose kernels need scratch.
void run_large(DType dtype) {
  const Tensor plane = numbers({1100, 500}, dtype, 1), box = numbers({40, 30, 30, 20}, dtype, 2);
  run_both_ways(
      [](const Tensors& x) -> Tensors {
        return {conv(x[0], x[1], {.stride = {2, 1}, .low = {1, 1}, .high = {1, 1}})};
      },
      {numbers({4, 40, 40, 24}, dtype, 3), numbers({3, 3, 24, 40}, dtype, 4)});
  run_both_ways([](const Tensors& x) -> Tensors { return {matmul(x[0], x[1])}; },
                {numbers({700, 300}, dtype, 5), numbers({300, 500}, dtype, 6)});
  run_both_ways(
      [](const Tensors& x) -> Tensors {
        return {max_pool(x[0], {.window = {2, 3}, .stride = {1, 2}})};
      },
      {box});
  run_both_ways([](const Tensors& x) -> Tensors { return {normalize(x[0], {0}) + normalize(x[0], {1})}; },
                {plane});
  run_both_ways([](const Tensors& x) -> Tensors { return {scale_shift(x[0], x[1], x[1])}; },
                {plane, numbers({500}, dtype, 7)});
  run_both_ways([](const Tensors& x) -> Tensors { return {batch_norm(x[0], x[1], x[1]).y}; },
                {plane, numbers({500}, dtype, 7)});
  run_both_ways([](const Tensors& x) -> Tensors { return {attention(x[0], x[1], x[1], {.causal = true})}; },
                {numbers({3, 400, 2, 40}, dtype, 9), numbers({3, 700, 2, 40}, dtype, 10)});
  eval(Tensors{sum(plane, Axes{0}), sum(plane, Axes{1}), sum(plane), sum(box, Axes{0, 2}),
               max(plane, Axes{0}), cumulative_sum(plane, 0), softmax(plane),
               transpose(box, Axes{2, 0, 3, 1}) * 2.0});
  const Tensor stack = numbers({300, 30, 30}, dtype, 8);
  eval(Tensors{cholesky(matmul(stack, transpose(stack, Axes{0, 2, 1})) + eye(30, dtype) * 3.0)});
}

}  // namespace

TEST_CASE("kernels allocate nothing: all rows, dtypes and both backends of the processor", "[engine]") {
  for (const bool reference : {false, true}) {
    std::optional<ReferenceOnly> only;
    if (reference) only.emplace();
    const Counting counting;
    run_all_samples();
    INFO(list_of(counting.allocating()));
    CHECK(counting.allocating().empty());
    CHECK(counting.seen().size() > 200);
    CHECK(counting.n_runs() > 1000);
  }
}

TEST_CASE("kernels allocate nothing: work that threads share", "[engine]") {
  const int before = core::threads();
  for (const int n_threads : {1, 3}) {
    core::set_threads(n_threads);
    for (const DType dtype : {DType::f32, DType::f64}) {
      run_large(dtype);  // the threads start
      const Counting counting;
      run_large(dtype);
      INFO(n_threads << " threads\n" << list_of(counting.allocating()));
      CHECK(counting.allocating().empty());
    }
  }
  core::set_threads(before);
}

TEST_CASE("kernels allocate nothing: one that does is found", "[engine]") {
  OpInfo& row = op_named("negative");
  const Kernel right = row.kernel(cpu, DType::f64);
  row.with_kernel(Backend::processor, DType::f64,
                  {.name = "planted", .run = [](const KernelCall& call) {
                     const std::vector<double> copy(call.in[0].as<double>(), call.in[0].as<double>() + 1);
                     *call.out[0].as<double>() = -copy[0];
                   }});
  {
    const Counting counting;
    CHECK((-full({1}, 2.0, DType::f64)).item<double>() == -2.0);
    CHECK(counting.allocating() == std::set<std::string>{"negative f64: planted"});
  }
  row.with_kernel(Backend::processor, DType::f64, right);
}
