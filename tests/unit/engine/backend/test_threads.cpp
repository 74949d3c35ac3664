// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/initial_values.hpp"
#include "engine/ops/attention.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thread_count.hpp"

#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::ThreadCount;

namespace {

Tensor random(const Shape& shape, DType dtype, std::uint64_t seed) {
  return InitialValues(seed, dtype).draw(shape, normal_around(0.0, 1.0)).eval();
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  return {bytes.begin(), bytes.end()};
}

using Work = std::vector<std::pair<const char*, std::function<Tensor()>>>;

void expect_same_bits(const Work& work, DType dtype) {
  for (const auto& [name, f] : work) {
    INFO(name << " of " << core::name_of(dtype));
    std::vector<std::byte> on_one;
    for (const int n : {1, 2, 3}) {
      const ThreadCount threads(n);
      const auto bytes = bytes_of(f());
      if (n == 1) on_one = bytes;
      CHECK((bytes == on_one));      // not printed: megabytes
      const core::CloseLoops close;  // less work is shared, in smaller pieces
      CHECK((bytes_of(f()) == on_one));
    }
  }
}

}  // namespace

TEST_CASE("threads: their number changes no bit of work that they share", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    // Just past what is worth sharing.
    const Tensor plane = random({1500, 400}, dtype, 1), other = random({1500, 400}, dtype, 2),
                 line = random({400}, dtype, 3);
    const Tensor box = random({50, 30, 30, 12}, dtype, 4);
    const Tensor x = random({4, 40, 40, 24}, dtype, 5), w = random({3, 3, 24, 40}, dtype, 6);
    const Linearized conv_at = linearize(
        [](const Tensors& in) -> Tensors {
          return {conv(in[0], in[1], {.stride = {2, 1}, .low = {1, 1}, .high = {1, 1}})};
        },
        {x, w});
    const Tensor slope = random(conv_at.value()[0].shape(), dtype, 7);
    const Tensor a = random({700, 300}, dtype, 8), b = random({300, 500}, dtype, 9);
    const Work work{
        {"contiguous", [&] { return exp(plane) * other; }},
        {"broadcast rows", [&] { return plane * line; }},
        {"transposed", [&] { return transpose(plane) + transpose(other); }},
        {"planes",
         [&] {
           return transpose(box, Axes{2, 0, 3, 1}) * 2.0;
         }},
        {"select", [&] { return select(greater(plane, 0.0), plane, transpose(transpose(other))); }},
        {"convolution",
         [&] {
           return conv(x, w, {.stride = {2, 1}, .low = {1, 1}, .high = {1, 1}});
         }},
        {"convolution, slope in x", [&] { return conv_at.vjp({slope})[0]; }},
        {"convolution, slope in w", [&] { return conv_at.vjp({slope})[1]; }},
        {"product", [&] { return matmul(a, b); }},
        {"update",
         [&] {
           return adam_step(plane, other, square(other), {1e-3, 1.0, 1e-8}) +
                  blend(plane, other, {0.75, 0.25});
         }},
    };
    expect_same_bits(work, dtype);
  }
}

TEST_CASE("threads: their number changes no bit of the work of small steps", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = random({64, 16, 32}, dtype, 1), w = random({3, 32, 32}, dtype, 2),
                 line = random({32}, dtype, 3), one = random({64, 32, 1}, dtype, 4),
                 to_one = random({3, 1, 16}, dtype, 5);
    const auto convolution = [](const Tensor& a, const Tensor& b) {
      return conv(a, b, {.stride = {1}, .low = {1}, .high = {1}});
    };
    const auto slope = [&](const Tensor& a, const Tensor& b, std::size_t k) {
      const Function f = [&](const Tensors& in) -> Tensors { return {convolution(in[0], in[1])}; };
      const Linearized at = linearize(f, {a, b});
      return at.vjp({tanh(at.value()[0])})[k];
    };
    const Work work{
        {"convolution", [&] { return convolution(x, w); }},
        {"convolution, slope in x", [&] { return slope(x, w, 0); }},
        {"convolution, slope in w", [&] { return slope(x, w, 1); }},
        {"convolution of one channel", [&] { return convolution(one, to_one); }},
        {"convolution of one channel, slopes",
         [&] { return sum(slope(one, to_one, 0)) + slope(one, to_one, 1); }},
        {"batch norm",
         [&] {
           return batch_norm(reshape(x, {1024, 32}), line, line).y;
         }},
        {"sums",
         [&] {
           return sum(x, Axes{0, 1}) + max(x, Axes{0, 1}) + sum(x);
         }},
        {"elementwise", [&] { return swish(x) * line; }},
    };
    expect_same_bits(work, dtype);
  }
}

TEST_CASE("threads: their number changes no bit of sums and of what consists of them", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor plane = random({1100, 1000}, dtype, 1), small = random({200, 1000}, dtype, 2);
    const Tensor box = random({60, 50, 30, 12}, dtype, 4), stack = random({300, 30, 30}, dtype, 10);
    const auto slope_of_square = [](const std::function<Tensor(const Tensor&)>& f, const Tensor& at) {
      return grad([&](const Tensor& t) { return sum(square(f(t))); })(at);
    };
    const Work work{
        {"sums of columns", [&] { return sum(plane, Axes{0}) + sum(transpose(plane), Axes{1}); }},
        {"sums of rows", [&] { return sum(plane, Axes{1}) - max(plane, Axes{1}); }},
        {"sum of all", [&] { return sum(plane); }},
        {"sums of outer and inner axes",
         [&] {
           return sum(box, Axes{0, 2}) + sum(sum(box, Axes{2}), Axes{0});
         }},
        {"extrema of columns", [&] { return max(plane, Axes{0}) - min(plane, Axes{0}); }},
        {"softmax", [&] { return softmax(small) + log_softmax(small); }},
        {"pooling",
         [&] {
           return max_pool(box, {.window = {2, 3}, .stride = {1, 2}});
         }},
        {"pooling, slope",
         [&] {
           return slope_of_square(
               [](const Tensor& t) {
                 return max_pool(t, {.window = {2, 3}, .stride = {1, 2}});
               },
               box);
         }},
        {"cumulative sums",
         [&] { return cumulative_sum(small, 0) + cumulative_sum(small, 1, Direction::reverse); }},
        {"recurrence", [&] { return linear_recurrence(small, small, 0); }},
        {"Cholesky factors and solves of a batch",
         [&] {
           const Tensor matrices = matmul(stack, transpose(stack, Axes{0, 2, 1})) + eye(30, dtype) * 3.0,
                        lower = cholesky(matrices);
           return triangular_solve(lower, stack) + lower;
         }},
    };
    expect_same_bits(work, dtype);
  }
}

TEST_CASE("threads: their number changes no bit of normalisations and their slopes", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor plane = random({1100, 1000}, dtype, 1), line = random({1000}, dtype, 3);
    const auto slope_of_square = [](const std::function<Tensor(const Tensor&)>& f, const Tensor& at) {
      return grad([&](const Tensor& t) { return sum(square(f(t))); })(at);
    };
    const Function norm = [](const Tensors& in) -> Tensors { return {batch_norm(in[0], in[1], in[2]).y}; };
    const Work work{
        {"normalisation", [&] { return normalize(plane, {0}) + normalize(plane, {1}); }},
        {"normalisation, slope",
         [&] { return slope_of_square([](const Tensor& t) { return normalize(t, {0}); }, plane); }},
        {"scale and shift, slope",
         [&] { return slope_of_square([&](const Tensor& t) { return scale_shift(plane, t, t); }, line); }},
        {"batch norm",
         [&] {
           const auto [y, mean, variance] = batch_norm(plane, line, line);
           return y + mean * variance;
         }},
        {"batch norm, slopes",
         [&] {
           const Tensors slopes = linearize(norm, {plane, line, line}).vjp({plane * plane});
           return slopes[0] + slopes[1] * slopes[2];
         }},
    };
    expect_same_bits(work, dtype);
  }
}

TEST_CASE("threads: their number changes no bit of attention and its slopes", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor words = random({2, 1100, 3, 40}, dtype, 1);
    const auto seen = [](const Tensor& x) { return attention(x, x * 0.5, x, {.causal = true}); };
    const Work work{
        {"attention", [&] { return seen(words); }},
        {"attention, slopes",
         [&] { return grad([&](const Tensor& x) { return sum(square(seen(x))); })(words); }},
    };
    expect_same_bits(work, dtype);
  }
}

TEST_CASE("threads: random words follow from their index, whoever draws them", "[engine]") {
  const Tensor key = advance(random_key(3, 1), 1000003), keys = split_key(random_key(4), 900);
  for (const DType dtype : {DType::u32, DType::u64}) {
    const Work work{
        {"words of a key", [&] { return random_bits(key, {700001}, dtype); }},
        {"words of many keys",
         [&] {
           return random_bits(keys, {7, 111}, dtype);
         }},
        {"a permutation", [&] { return random_permutation(key, 400003); }},
    };
    expect_same_bits(work, dtype);
  }
}

TEST_CASE("threads: several differentiate functions of the same evaluated tensors at once", "[engine]") {
  const Tensor weights = random({40, 30}, DType::f64, 1);
  const auto f = [&](const Tensor& x) { return sum(tanh(matmul(x, weights))); };
  const Tensor at = random({20, 40}, DType::f64, 2);
  const auto expected = grad(f)(at).to_vector<double>();
  std::vector<int> n_right(3, 0);
  std::vector<std::thread> threads;
  for (int& right : n_right) {
    threads.emplace_back([&, here = default_device()] {
      const DefaultDevice same(here);
      for (int i = 0; i < 30; ++i) right += grad(f)(at).to_vector<double>() == expected ? 1 : 0;
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(n_right == std::vector<int>{30, 30, 30});
}

TEST_CASE("threads: their number changes no bit of products", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [rows, summed, columns] :
         {std::array<Dim, 3>{256, 256, 256}, {1000, 130, 333}, {190, 700, 400}}) {
      const Tensor a = random({rows, summed}, dtype, 1), b = random({summed, columns}, dtype, 2);
      const Tensor c = complex(a, a * 0.5), d = complex(b, b - 1.0);
      std::vector<std::byte> real_on_one, complex_on_one;
      for (const int n : {1, 2, 3}) {
        const ThreadCount threads(n);
        const auto product = bytes_of(matmul(a, b)), of_complex = bytes_of(matmul(c, d));
        if (n == 1) {
          real_on_one = product;
          complex_on_one = of_complex;
        }
        INFO(rows << " x " << summed << " x " << columns << ", " << core::name_of(dtype) << ", " << n
                  << " threads");
        CHECK((product == real_on_one));
        CHECK((of_complex == complex_on_one));
      }
    }
  }
}
