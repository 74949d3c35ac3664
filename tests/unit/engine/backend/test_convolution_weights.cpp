// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/initial_values.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thread_count.hpp"

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// A convolution with a window of 2 × 1, steps of 1 × 2 and a line of padding before the first.
struct Problem {
  Dim items, height, width, channels, k;
  int groups;
  [[nodiscard]] ConvOptions options() const {
    return {.stride = {1, 2}, .low = {1, 0}, .high = {0, 0}, .groups = groups};
  }
  [[nodiscard]] Dim positions() const { return (width + 1) / 2; }
};

/// The slopes in the weights, one product after the other.
std::vector<double> plain_slopes(const Problem& p, const std::vector<double>& x,
                                 const std::vector<double>& y) {
  const Dim of_group = p.channels / p.groups, k_group = p.k / p.groups;
  std::vector<double> slopes(static_cast<std::size_t>(2 * of_group * p.k));
  for (Dim tap = 0; tap < 2; ++tap) {
    for (Dim line = 1 - tap; line < p.items * p.height; ++line) {
      if (line % p.height + tap == 0) continue;  // before the first line of an item
      for (Dim i = 0; i < p.positions(); ++i) {
        const double* from = x.data() + ((line + tap - 1) * p.width + 2 * i) * p.channels;
        const double* back = y.data() + (line * p.positions() + i) * p.k;
        for (Dim c = 0; c < of_group; ++c) {
          double* to = slopes.data() + (tap * of_group + c) * p.k;
          for (Dim j = 0; j < p.k; ++j) to[j] += from[j / k_group * of_group + c] * back[j];
        }
      }
    }
  }
  return slopes;
}

void check_slopes(const Problem& p, DType dtype) {
  InitialValues initial(1, dtype);
  const auto draw = [&](const Shape& shape) { return initial.draw(shape, normal_around(0.0, 1.0)); };
  const Tensor x = draw({p.items, p.height, p.width, p.channels}),
               w = draw({2, 1, p.channels / p.groups, p.k}),
               back = draw({p.items, p.height, p.positions(), p.k});
  const Linearized at =
      linearize([&](const Tensors& in) -> Tensors { return {conv(in[0], in[1], p.options())}; }, {x, w});
  const auto doubles = [](const Tensor& of) { return cast(of, DType::f64).to_vector<double>(); };
  const std::vector<double> expected = plain_slopes(p, doubles(x), doubles(back));
  std::vector<double> on_one;
  for (const int n : {1, 2, 3}) {
    const tests::ThreadCount threads(n);
    const std::vector<double> got = doubles(at.vjp({back})[1]);
    REQUIRE(got.size() == expected.size());
    if (n == 1) on_one = got;
    CHECK((got == on_one));        // not printed: thousands
    const core::CloseLoops close;  // less work is shared
    CHECK((doubles(at.vjp({back})[1]) == on_one));
    double largest = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) largest = std::max(largest, std::abs(got[i] - expected[i]));
    const auto n_terms = static_cast<double>(p.items * p.height * p.positions());
    CHECK(largest < std::sqrt(n_terms) * (dtype == DType::f32 ? 1e-4 : 1e-13));
  }
}

}  // namespace

TEST_CASE("convolution weights: items of several rounds, items of several chunks, blocks with few columns",
          "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    check_slopes({5, 60, 150, 36, 44, 2}, dtype);  // an item has several chunks, the last is cut short
    check_slopes({300, 7, 31, 20, 70, 1}, dtype);  // a chunk has several items, a round several chunks
    check_slopes({40, 30, 40, 33, 32, 1}, dtype);  // y has one block of columns with some instruction sets
  }
}

TEST_CASE("convolution weights: little work is added up in two pieces of the items", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    check_slopes({83, 7, 15, 8, 20, 2}, dtype);
    check_slopes({2, 60, 30, 6, 44, 2}, dtype);
    check_slopes({1, 60, 60, 6, 44, 2}, dtype);  // one item, one piece
  }
}
