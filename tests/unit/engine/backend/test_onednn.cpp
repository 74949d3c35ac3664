// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/compile/compile.hpp"
#include "engine/core/random.hpp"
#include "engine/dispatch/kernel_table.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/nn/initial_values.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/variable.hpp"
#include "engine/testing/difference.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/thread_count.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using cpu_backend::n_onednn_runs;

namespace {

/// Whole numbers that only the seed decides.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : random_(seed, 0) {}
  Dim between(Dim low, Dim high) {
    return low + static_cast<Dim>(random_.uniform(n_++) * static_cast<double>(high - low + 1));
  }

 private:
  core::Philox random_;
  std::uint64_t n_ = 0;
};

/// Calls f on 1, 2 and 3 threads, and compiled. → what it gives, the same bits in all of them.
Tensors on_threads(const Function& f, const Tensors& in) {
  const auto values = [&] {
    Tensors result = f(in);
    eval(result);
    return result;
  };
  const Tensors on_one = values();
  for (const int n : {1, 2, 3}) {
    const tests::ThreadCount threads(n);
    CHECK(tests::same_bits(values(), on_one));
    CHECK(tests::same_bits(compile(f)(in), on_one));
  }
  return on_one;
}

/// Returns the largest relative difference to plain loops.
double gap_to_reference(const Function& f, const Tensors& in) {
  const Tensors fast = on_threads(f, in);
  const ReferenceOnly reference;
  double gap = 0.0;
  const Tensors slow = f(in);
  for (std::size_t i = 0; i < fast.size(); ++i) gap = std::max(gap, difference(fast[i], slow[i]));
  return gap;
}

/// Returns whether this build asks oneDNN first on the device of the tests; cpu:1 goes without it.
bool is_tried() { return cpu_backend::uses_onednn() && backends_of(default_device())[0] == Backend::onednn; }

}  // namespace

TEST_CASE("oneDNN: convolutions of any stride, dilation and padding agree with plain loops", "[engine]") {
  Numbers numbers(17);
  for (int n = 0; n < 40; ++n) {
    const int n_axes = 1 + n % 3;
    InitialValues initial(static_cast<std::uint64_t>(n));
    Shape x{numbers.between(1, 9)}, w;
    ConvOptions options;
    for (int axis = 0; axis < n_axes; ++axis) {
      x.push_back(numbers.between(5, n_axes == 1 ? 60 : 9));
      w.push_back(numbers.between(1, 3));
      options.stride.push_back(numbers.between(axis == 0 ? 2 : 1, 3));
      options.dilation.push_back(numbers.between(1, 2));
      options.low.push_back(numbers.between(0, 2));
      options.high.push_back(numbers.between(0, 2));
    }
    x.push_back(numbers.between(8, 40));
    w.push_back(x.back());
    w.push_back(numbers.between(8, 70));
    if (n % 5 == 0) x[0] *= 8;  // work of several pieces
    const auto draw = [&](const Shape& shape) { return initial.draw(shape, normal_around(0.0, 1.0)); };
    const Tensors in{draw(x), draw(w)};
    const Function f = [&](const Tensors& at) -> Tensors { return {conv(at[0], at[1], options)}; };
    const Tensor back = draw(f(in)[0].shape());
    INFO(in[0].aval().text() << " " << in[1].aval().text());
    CHECK(gap_to_reference(f, in) < 2e-6);
    CHECK(gap_to_reference([&](const Tensors& at) { return Tensors{linearize(f, at).vjp({back})[1]}; }, in) <
          5e-6);
  }
  if (is_tried() && cpu_backend::isa() == cpu_backend::Isa::avx512) CHECK(n_onednn_runs() > 200);
}

TEST_CASE("oneDNN: convolutions of many items in pieces agree with plain loops", "[engine]") {
  InitialValues initial(3);
  const auto draw = [&](const Shape& shape) { return initial.draw(shape, normal_around(0.0, 1.0)); };
  const Tensors in{draw({61, 20, 20, 16}), draw({3, 3, 16, 32})};  // the last piece has fewer items
  for (const Dim stride : {1, 2}) {
    const Function f = [&](const Tensors& at) -> Tensors {
      return {conv(at[0], at[1], {.stride = {stride, stride}})};
    };
    const Tensor back = draw(f(in)[0].shape());
    CHECK(gap_to_reference(f, in) < 2e-6);
    CHECK(gap_to_reference([&](const Tensors& at) { return Tensors{linearize(f, at).vjp({back})[1]}; }, in) <
          5e-6);
  }
}

TEST_CASE("oneDNN: no cell is written in its place before a run that the library may refuse", "[engine]") {
  InitialValues initial(3);
  const auto draw = [&](const Shape& shape) { return initial.draw(shape, normal_around(0.0, 1.0)).eval(); };
  const Tensors in{draw({8, 20, 20, 16}), draw({3, 3, 16, 32})};
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensors inputs{cast(in[0], dtype).eval(), cast(in[1], dtype).eval()};
    const Variable cell("cell", cast(draw({100}), dtype).eval(), Variable::Role::state);
    const Compiled compiled = compile([&](const Tensors& at) -> Tensors {
      cell.assign(cell.value() * 2.0);
      return {conv(at[0], at[1], {.stride = {2, 2}})};
    });
    static_cast<void>(compiled(inputs));
    const std::int64_t n_before = n_onednn_runs(), n_undonated = compiled.stats().n_undonated;
    static_cast<void>(compiled(inputs));
    if (n_onednn_runs() > n_before) CHECK(compiled.stats().n_undonated == n_undonated + 1);
    if (dtype == DType::f64) CHECK(compiled.stats().n_undonated == 0);
  }
}

TEST_CASE("oneDNN: products of whole numbers are exact, those of bf16 add in f32", "[engine]") {
  Numbers numbers(5);
  const std::int64_t before = n_onednn_runs();
  int n_taken = 0;
  for (int n = 0; n < 60; ++n) {
    const std::pair<DType, DType> dtypes = n % 3 == 0   ? std::pair{DType::bf16, DType::bf16}
                                           : n % 3 == 1 ? std::pair{DType::i8, DType::i8}
                                                        : std::pair{DType::u8, DType::i8};
    const bool is_large = n % 10 == 0;
    const Dim batch = n % 4 == 0 ? numbers.between(2, 5) : 1, rows = numbers.between(1, is_large ? 700 : 90),
              summed = numbers.between(1, is_large ? 600 : 120),
              columns = numbers.between(1, is_large ? 500 : 90);
    InitialValues initial(static_cast<std::uint64_t>(n));
    const auto draw = [&](const Shape& shape, DType dtype) {
      const Tensor normal = initial.draw(shape, normal_around(0.0, 1.0));
      return cast(dtype == DType::bf16 ? normal
                  : dtype == DType::u8 ? abs(normal * 60.0)
                                       : normal * 40.0,
                  dtype)
          .eval();
    };
    // Summed axes in front or behind, and operands that are looks at others.
    const bool a_behind = n % 2 == 0, b_front = n % 3 != 0;
    Tensor a = draw(a_behind ? Shape{batch, rows, summed} : Shape{batch, summed, rows}, dtypes.first);
    Tensor b = draw(b_front ? Shape{batch, summed, columns} : Shape{batch, columns, summed}, dtypes.second);
    if (n % 7 == 0) a = flip(a, 1);
    const Function f = [&](const Tensors& in) -> Tensors {
      return {widening_dot_general(in[0], in[1], {{a_behind ? 2 : 1}, {b_front ? 1 : 2}, {0}, {0}})};
    };
    INFO(a.aval().text() << " " << b.aval().text());
    const std::int64_t runs = n_onednn_runs();
    const Tensor got = on_threads(f, {a, b})[0];
    n_taken += n_onednn_runs() > runs ? 1 : 0;
    CHECK(got.dtype() == (n % 3 == 0 ? DType::f32 : DType::i32));
    const Tensor exact = dot_general(cast(a, DType::f64), cast(b, DType::f64),
                                     {{a_behind ? 2 : 1}, {b_front ? 1 : 2}, {0}, {0}});
    const double gap = difference(cast(got, DType::f64), exact);
    if (n % 3 == 0) CHECK(gap < 1e-6 * std::sqrt(static_cast<double>(summed)));
    if (n % 3 != 0) CHECK(gap == 0.0);
  }
  WARN(n_taken << " of 60 products ran in oneDNN, by " << n_onednn_runs() - before << " primitives");
}

TEST_CASE("widening products: slopes and batches are those of f32 but for the digits of bf16", "[engine]") {
  InitialValues initial(3);
  const auto draw = [&](const Shape& shape) { return initial.draw(shape, normal_around(0.0, 1.0)); };
  const Tensor x = draw({48, 64}), w = draw({64, 32});
  const auto narrow = [](const Tensor& of) { return cast(of, DType::bf16); };
  const DotAxes axes{{1}, {0}, {}, {}};
  const auto loss = [&](const Tensors& in) {
    return sum(square(widening_dot_general(narrow(in[0]), narrow(in[1]), axes)));
  };
  const auto plain = [&](const Tensors& in) { return sum(square(matmul(in[0], in[1]))); };
  const Tensors slopes =
      value_and_grad([&](const Tensors& in) { return Tensors{loss(in)}; }, {x, w}).gradients;
  const Tensors expected =
      value_and_grad([&](const Tensors& in) { return Tensors{plain(in)}; }, {x, w}).gradients;
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(slopes[i].dtype() == DType::f32);
    CHECK(difference(slopes[i], expected[i]) < 2e-2);
    CHECK(difference(slopes[i], expected[i]) > 1e-4);  // so that the narrow product is what runs
  }
}

TEST_CASE("widening products refuse operands that are not narrow, or of two kinds", "[engine]") {
  const Tensor f = ones({2, 2}), h = cast(f, DType::bf16), i = cast(f, DType::i8), u = cast(f, DType::u8);
  const DotAxes axes{{1}, {0}, {}, {}};
  const auto refused = [&](const Tensor& a, const Tensor& b) {
    return tests::error_of<core::InvalidArgument>(
        [&] { static_cast<void>(widening_dot_general(a, b, axes)); });
  };
  CHECK_THAT(refused(f, f), tests::HasId("wrong_dtype", {"[widening_dot_general]", "f32[2, 2]"}));
  CHECK_THAT(refused(h, i), tests::HasId("unequal_dtypes", {"bf16[2, 2] and i8[2, 2]"}));
  CHECK_THAT(refused(i, u), tests::HasId("unequal_dtypes", {"i8[2, 2] and u8[2, 2]"}));
  CHECK(widening_dot_general(u, i, axes).to_vector<std::int32_t>() == std::vector<std::int32_t>(4, 2));
}
