// SPDX-License-Identifier: Apache-2.0
#include "engine/core/parallel.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

namespace {

bool is_ready = true;

/// (x in the opposite order, its sum): the first output may lie where x lies, which is why x is copied first.
void reverse_and_sum(const KernelCall& call) {
  if (!is_ready) throw core::ShapeError("a library#not_ready", "expected to be called later");
  const auto* x = call.in[0].as<double>();
  const std::int64_t n = call.in[0].count();
  auto* copy = Layout(call.scratch.shared()).array<double>(n);
  std::copy_n(x, n, copy);
  std::reverse_copy(copy, copy + n, call.out[0].as<double>());
  *call.out[1].as<double>() = std::accumulate(copy, copy + n, 0.0);
}

Workspace copy_of_input(const KernelCall& call) {
  Layout layout;
  static_cast<void>(layout.array<double>(call.in[0].count()));
  return {.shared = layout.bytes()};
}

OpInfo row_with_two_results() {
  OpInfo op;
  op.name = "reverse_and_sum";
  op.dtypes = DTypes{DType::f64};
  op.infer = [](const InferArgs& args) { return tuple_aval(args.aval(0).device); };
  op.results = [](const InferArgs& args) {
    return std::vector{args.aval(0), Aval{{}, DType::f64, args.aval(0).device}};
  };
  op.derivative.why_none = "it is not needed";
  op.with_kernel(Backend::reference, DType::f64,
                 {.name = "reference",
                  .run = reverse_and_sum,
                  .contiguous_inputs = true,
                  .in_place = true,
                  .workspace = copy_of_input});
  return op;
}

Tensor reversed(const Tensor& x) {
  static const OpInfo op = row_with_two_results();  // nodes point at it
  return record(op, {x}, {}, std::source_location::current());
}

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("kernel: several outputs are the elements of a tuple, and work is done in the scratch it asked for",
          "[engine]") {
  const Tensor both = reversed(row({1, 2, 5}));
  CHECK(get(both, 1).item<double>() == 8.0);
  CHECK(get(both, 0).to_vector<double>() == Numbers{5, 2, 1});
  CHECK(reversed(row({})).eval().is_valid());
  CHECK((get(reversed(get(both, 0)), 0) + get(reversed(row({3})), 1)).to_vector<double>() ==
        Numbers{4, 5, 8});
}

TEST_CASE("kernel: its first output lies in the buffer of an input that nobody else needs", "[engine]") {
  Tensor x = (row({1, 2, 5}) + 0.0).eval();
  const double* const where = x.data<double>().data();
  const Tensor kept = get(reversed(x), 0).eval();
  CHECK(kept.data<double>().data() != where);
  const Tensor both = reversed(x);
  x = Tensor();
  const Tensor first = get(both, 0).eval();
  CHECK(first.data<double>().data() == where);
  CHECK(first.to_vector<double>() == Numbers{5, 2, 1});
}

TEST_CASE("kernel: one that fails leaves its node to be run again, and no memory in use", "[engine]") {
  const Tensor x = row({1, 2, 5});
  const std::size_t before = Arena::of(x.device()).stats().in_use;
  {
    const Tensor both = reversed(x);
    is_ready = false;
    CHECK_THAT(error_of<core::ShapeError>([&] { both.eval(); }),
               HasId("not_ready", {"[a library]", "reverse_and_sum", "(test_kernel_run.cpp:"}));
    is_ready = true;
    CHECK(Arena::of(x.device()).stats().in_use == before);
    CHECK(get(both, 1).item<double>() == 8.0);
  }
  CHECK(Arena::of(x.device()).stats().in_use == before);
}

TEST_CASE("kernel: without memory for a workspace or for the copy of an input there is no value",
          "[engine]") {
  const Device second{Device::Kind::cpu, 1};
  Arena& arena = Arena::of(second);
  const Dim n = 1024;  // 8192 bytes: a size class of the arena
  Numbers numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const Tensor x = Tensor::from(numbers, {2, n / 2}, second);
  const auto in_budget_of_one_more = [&](const Tensor& wanted) {
    arena.set_budget(arena.stats().in_use + 8192 + 256);
    const core::Error error = error_of<core::DeviceError>([&] { wanted.eval(); });
    arena.set_budget(0);
    return error;
  };
  const Tensor flat = reversed(reshape(x, {n}));
  CHECK_THAT(in_budget_of_one_more(flat),
             HasId("over_budget", {"the workspace of reverse_and_sum", "(test_kernel_run.cpp:"}));
  CHECK(get(flat, 0).to_vector<double>()[0] == static_cast<double>(n - 1));
  const Tensor turned = get(reversed(transpose(x)), 0);  // x is copied first, row by row
  CHECK_THAT(in_budget_of_one_more(turned), HasId("over_budget", {"(test_kernel_run.cpp:"}));
  CHECK(turned.to_vector<double>()[1] == static_cast<double>(n / 2 - 1));
}

TEST_CASE("scratch: every thread has a block of its own behind the shared one", "[engine]") {
  const Workspace workspace{.shared = 65, .per_thread = 8};
  CHECK(Scratch::bytes_of(workspace, 1) == 128 + 8);
  CHECK(Scratch::bytes_of(workspace, 3) == 128 + 64 + 64 + 8);
  CHECK(Scratch::bytes_of({.shared = 65}, 3) == 65);
  alignas(Scratch::alignment) std::array<std::byte, 512> memory{};
  const Scratch scratch(memory.data(), workspace, 2);
  CHECK(scratch.shared() == memory.data());
  const int before = core::threads();
  core::set_threads(2);
  std::array<std::byte*, 2> blocks{};
  std::atomic<int> n_here{0};
  const auto on_both = [&](const Scratch& of) {
    n_here = 0;
    core::parallel_for(2, [&](std::ptrdiff_t) {
      for (++n_here; n_here < 2;) std::this_thread::yield();  // so that each thread has one
      blocks[static_cast<std::size_t>(core::thread_index())] = of.of_this_thread();
    });
  };
  on_both(scratch);
  CHECK(blocks == std::array{memory.data() + 128, memory.data() + 192});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { on_both(Scratch(memory.data(), workspace, 1)); }),
             HasId("more_threads", {"1"}));
  core::set_threads(before);
}
