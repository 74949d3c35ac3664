// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/dispatch/kernel_table.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

TEST_CASE("tensor: elements go in and come out row-major", "[engine]") {
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(x.aval().text() == "f64[2, 3]");
  CHECK(transpose(x).to_vector<double>() == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(slice(x, 1, 1, 3).to_vector<double>() == std::vector<double>{2, 3, 5, 6});
  CHECK(flip(x, -1).to_vector<double>() == std::vector<double>{3, 2, 1, 6, 5, 4});
  CHECK(sum(x).item<double>() == 21.0);
}

TEST_CASE("tensor: nothing runs before a value is asked for", "[engine]") {
  const Tensor x = Tensor::from(std::vector<float>{1, 2}, {2});
  const Tensor y = x + 1.0;
  CHECK_FALSE(y.node().is_evaluated());
  CHECK(y.to_vector<float>() == std::vector<float>{2, 3});
  CHECK(y.node().is_evaluated());
  CHECK(y.node().inputs.size() == 0);
}

TEST_CASE(
    "tensor: a chain that nobody else holds runs in one buffer, and buffers are freed after their last use",
    "[engine]") {
  Arena& arena = Arena::of(default_device());
  Tensor x = full({1000}, 1.0, DType::f64);
  x = x + 0.0;
  x.eval();
  arena.reset_peak();
  const std::size_t before = arena.stats().in_use;
  Tensor y = x * 2.0;
  for (int i = 0; i < 100; ++i) y = y * 1.5 + 1.0;
  y.eval();
  CHECK(arena.stats().peak - before < 2 * 1000 * sizeof(double) + 300 * Arena::alignment);
  CHECK(x.to_vector<double>()[999] == 1.0);
}

TEST_CASE("tensor: views keep what they look at unchanged", "[engine]") {
  Tensor x = full({4}, 1.0, DType::f64) + 0.0;
  const Tensor view = reshape(x, {2, 2});
  view.eval();
  const Tensor y = x + 1.0;
  x = Tensor();
  CHECK(y.to_vector<double>()[0] == 2.0);
  CHECK(view.to_vector<double>()[3] == 1.0);
}

TEST_CASE(
    "tensor: one of static lifetime is freed after the lists of its thread (the address sanitizer watches "
    "the end of the program)",
    "[engine]") {
  static const Tensor last = (full({3}, 1.0, DType::f64) + 1.0).eval();
  static const Tensor never_run = last * 2.0;
  CHECK(last.to_vector<double>()[2] == 2.0);
  CHECK_FALSE(never_run.node().is_evaluated());
}

TEST_CASE("tensor: a loop that never asks for a value stays small", "[engine]") {
  Tensor x = full({1}, 0.0, DType::f64);
  for (int i = 0; i < 3 * most_pending; ++i) x = x + 1.0;
  CHECK(x.item<double>() == 3.0 * most_pending);
}

TEST_CASE("tensor: elements that were read stay where they are while the tensor or a copy of it lives",
          "[engine]") {
  Tensor view = transpose(Tensor::from(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3}));
  const Tensor copy = view;
  const auto elements = view.data<double>();
  CHECK(copy.data<double>().data() == elements.data());
  CHECK(copy.node_pointer() == view.node_pointer());
  view = Tensor();
  CHECK(elements[1] == 4.0);
}

TEST_CASE("tensor: threads may read one tensor at once (the thread sanitizer watches)", "[engine]") {
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  for (int trial = 0; trial < 20; ++trial) {
    const Tensor view = transpose(x).eval();
    std::array<const double*, 3> seen{};
    std::vector<std::thread> readers;
    for (const double*& each : seen) readers.emplace_back([&] { each = view.data<double>().data(); });
    for (std::thread& reader : readers) reader.join();
    CHECK(std::all_of(seen.begin(), seen.end(), [&](const double* each) { return each == seen[0]; }));
    CHECK(seen[0][1] == 4.0);
  }
}

TEST_CASE("tensor: a recorded tensor of another thread is refused, an evaluated one is not", "[engine]") {
  const Tensor pending = full({2}, 1.0, DType::f64) + 1.0;
  core::Error error(core::ExitCode::ok, "no thread ran");
  std::thread([&] {
    error = error_of<core::InvalidArgument>([&] { static_cast<void>(pending.to_vector<double>()); });
  }).join();
  CHECK_THAT(error, HasId("recorded_on_another_thread", {"[add]", "(test_tensor.cpp:"}));
  pending.eval();
  double there = 0.0;
  std::thread([&] { there = (pending + 1.0).to_vector<double>()[0]; }).join();
  CHECK(there == 3.0);
}

TEST_CASE("tensor: errors name the op, both shapes and the line", "[engine]") {
  const Tensor a = zeros({3}), b = zeros({4});
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(a + b); }),
             HasId("does_not_broadcast", {"[add]", "f32[3]", "f32[4]", "(test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(a + zeros({3}, DType::f64)); }),
             HasId("unequal_dtypes", {"f32[3]", "f64[3]", "(test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(sum(a, Axes{1})); }),
             HasId("axis_out_of_range", {"[sum]", "-1", "0", "1 (test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(a.item<float>()); }),
             HasId("not_one_element", {"f32[3]", "(test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(scalar(1.0).item<double>()); }),
             HasId("wrong_dtype", {"f32", "f64", "(test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(Tensor().item<double>()); }),
             HasId("empty_tensor", {"(test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(Tensor::from(std::vector<double>{1, 2}, {3}));
             }),
             HasId("wrong_byte_count", {"24", "f64[3]", "16", "(test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(ones({-1, -3}));
             }),
             HasId("negative_extent", {"[-1, -3]", "(test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(Tensor::from(std::vector<double>{1, 2, 3}, {-1, -3}));
             }),
             HasId("negative_extent", {"[-1, -3]", "(test_tensor.cpp:"}));
}

TEST_CASE("tensor: what a kernel's library refuses is told with the op, its result and the line",
          "[engine]") {
  static OpInfo row;  // nodes point at it
  row.name = "refused";
  row.dtypes = real_floats;
  row.infer = infer_alike;
  row.derivative.why_none = "it gives nothing";
  row.op_class = OpClass::elementwise;
  row.with_kernel(Backend::reference, DType::f64,
                  {"reference.loop", [](const KernelCall& call) {
                     if (call.out[0].count() == 2)
                       throw core::ShapeError("a library#not_three", "expected three");
                     throw core::ShapeError("refused#not_two", "expected two {}", at_line(call.where));
                   }});
  const auto of = [&](Dim n) {
    return record(row, {full({n}, 1.0, DType::f64)}, {}, std::source_location::current()).eval();
  };
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(of(2)); }),
             HasId("not_three", {"[a library]", "refused", "f64[2]", "(test_tensor.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(of(3)); }),
             HasId("not_two", {"[refused]", "(test_tensor.cpp:"}) && !HasId("not_two", {"f64[3]"}));
}

TEST_CASE("device: tensors live in its arena only, meet others by copy_to only, and derivatives follow them",
          "[engine]") {
  const Device here = default_device(), there{Device::Kind::cpu, static_cast<std::uint8_t>(1 - here.index)};
  const std::size_t before = Arena::of(here).stats().requests,
                    before_there = Arena::of(there).stats().requests;
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3}, {3}, there);
  CHECK(sum(exp(x) * 2.0 + reshape(x, {3})).eval().device() == there);
  CHECK(Arena::of(here).stats().requests == before);
  CHECK(Arena::of(there).stats().requests > before_there);

  const Tensor y = zeros({3}, DType::f64);
  CHECK_THAT(error_of<core::DeviceError>([&] { static_cast<void>(x + y); }),
             HasId("two_devices", {"[add]", there.text(), "input 1", here.text(), "(test_tensor.cpp:"}));
  const Tensor moved = copy_to(x, here);
  CHECK((moved + y).to_vector<double>() == std::vector<double>{1, 2, 3});
  const Tensor slope = grad([&](const Tensor& t) { return sum(square(copy_to(t, here))); })(x);
  CHECK(slope.device() == there);
  CHECK(slope.to_vector<double>() == std::vector<double>{2, 4, 6});
}

TEST_CASE("device: a scope says where new tensors of its thread live, until it ends", "[engine]") {
  const Device here = default_device(), there{Device::Kind::cpu, static_cast<std::uint8_t>(1 - here.index)};
  {
    const DefaultDevice outer(there);
    CHECK(zeros({2}).device() == there);
    CHECK(Tensor::from(std::vector<double>{1, 2}, {2}).device() == there);
    CHECK((iota(3) + 1).eval().device() == there);
    CHECK(zeros({2}).aval().text() == "f32[2]");
    {
      const DefaultDevice inner(here);
      CHECK(zeros({2}).device() == here);
    }
    CHECK(zeros({2}).device() == there);
    CHECK_THROWS_AS(DefaultDevice({Device::Kind::cuda, 7}), core::DeviceError);
    CHECK(default_device() == there);
    Device of_thread = there;
    std::thread([&] { of_thread = zeros({2}).device(); }).join();
    CHECK(of_thread == cpu);
    CHECK_THROWS_AS(
        [] {
          const DefaultDevice left_by_an_error({Device::Kind::cpu, 1});
          throw core::InvalidArgument("test", "expected to leave the scope");
        }(),
        core::InvalidArgument);
    CHECK(default_device() == there);
  }
  CHECK(zeros({2}).device() == here);
}

namespace {

/// A kernel that fills its output with one number, of which it is known by.
template <int number>
void fill(const KernelCall& call) {
  std::fill_n(call.out[0].as<double>(), call.out[0].count(), number);
}

OpInfo row_with_three_kernels() {
  OpInfo row;
  row.name = "numbered";
  row.dtypes = floats;
  row.infer = infer_alike;
  row.derivative.why_none = "it gives a number";
  row.op_class = OpClass::elementwise;
  row.with_kernel(Backend::reference, DType::f64, {"reference.one", fill<1>});
  row.with_kernel(Backend::processor, DType::f64, {"processor.two", fill<2>});
  row.with_kernel(Backend::onednn, DType::f16, {"onednn.five", fill<5>});
  row.with_kernel(Backend::reference, DType::f16, {"reference.six", fill<6>});
  row.with_kernel(Backend::cuda, DType::f64, {"cuda.three", fill<3>});
  row.with_kernel(Backend::reference, DType::f32, {"reference.four", fill<4>});
  return row;
}

}  // namespace

TEST_CASE("kernel: is found by op, device and dtype", "[engine]") {
  static const OpInfo row = row_with_three_kernels();  // nodes point at it
  constexpr Device second{Device::Kind::cpu, 1}, cuda{Device::Kind::cuda, 0};
  CHECK(row.kernel(cpu, DType::f64).name == "processor.two");
  CHECK(row.kernel(cpu, DType::f32).name == "reference.four");
  CHECK(row.kernel(cpu, DType::f16).name == "onednn.five");
  CHECK(row.kernel(second, DType::f16).name == "reference.six");
  CHECK(row.kernel(second, DType::f64).name == "processor.two");
  CHECK(row.kernel(cuda, DType::f64).name == "cuda.three");
  const auto value = [] {
    const Tensor x = full({1}, 0.0, DType::f64);
    return record(row, {x}, {}, std::source_location::current()).item<double>();
  };
  CHECK(value() == 2.0);
  {
    const ReferenceOnly reference;
    CHECK(row.kernel(cpu, DType::f64).name == "reference.one");
    CHECK(row.kernel(cuda, DType::f64).name == "cuda.three");
    CHECK(value() == 1.0);
  }
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(row.kernel(cuda, DType::f32)); }),
             HasId("no_kernel_for_dtype", {"[numbered]", "cuda", "(f64)", "f32"}));
  CHECK_THAT(
      error_of<core::DeviceError>([&] { static_cast<void>(op_named("add").kernel(cuda, DType::f32)); }),
      HasId("no_kernel_on_device", {"[add]", "cuda"}));
}
