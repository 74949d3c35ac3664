// SPDX-License-Identifier: Apache-2.0
// What this shows: a loss has a value, but a gradient of NaN; a search names the op that gives the first
// number which is not finite, and a small number under the root mends it.
//
// Equation: sum of distances |p_i − q_i|, where one of the pairs is one point: d√s/ds is infinite at s = 0
//
// Sample run: 13_find_nan
#include "engine/core/log.hpp"
#include "engine/inspect/not_finite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

using namespace lodestone;
using namespace lodestone::engine;

int main() {
  const Tensor q = Tensor::from(std::vector<double>{0, 0, 3, 4}, {2, 2});
  const Tensor p = Tensor::from(std::vector<double>{1, 1, 3, 4}, {2, 2});  // the second point is that of q
  const auto squares = [&](const Tensor& x) { return sum(square(x - q), Axes{1}); };
  const auto distance = [&](const Tensor& x) { return sum(sqrt(squares(x))); };

  core::log::info("the loss is {}, its gradient is {}", distance(p).item<double>(),
                  all_finite({grad(distance)(p)}) ? "finite" : "not");
  const auto origin = first_not_finite([&] { grad(distance)(p).eval(); });
  core::log::info("the first number that is not finite: {}", origin.value_or("none"));

  const auto smooth = [&](const Tensor& x) { return sum(sqrt(squares(x) + 1e-12)); };
  const auto none = first_not_finite([&] { grad(smooth)(p).eval(); });
  core::log::info("with a small number under the root: {}", none.value_or("all are finite"));
  return origin && !none ? 0 : 1;
}
