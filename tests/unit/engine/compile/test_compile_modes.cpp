// SPDX-License-Identifier: Apache-2.0
// Which modes of modules decide on the plan of a compiled function.
#include "engine/compile/compile.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone::engine;
using lodestone::tests::same_bits;

TEST_CASE("compile: the modes that a function asks or sets decide, those of other modules do not",
          "[engine]") {
  InitialValues initial(1);
  const Linear linear(3, 3, initial);
  const BatchNorm norm(3, initial), other(3, initial);
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 5, 7, 11}, {2, 3});
  const Compiled asks = compile([&](const Tensors& in) -> Tensors { return {norm(linear(in[0]))}; });
  const Compiled sets = compile([&](const Tensors& in) -> Tensors {
    const InMode evaluation(norm, Mode::evaluation);
    return {norm(in[0])};
  });
  const Compiled sets_then_asks = compile([&](const Tensors& in) -> Tensors {
    static_cast<void>(InMode(norm, Mode::evaluation));
    return {norm(in[0])};
  });
  for (int i = 0; i < 3; ++i) {
    for (const Compiled& each : {asks, sets, sets_then_asks}) static_cast<void>(each({x}));
    other.set_mode(i == 0 ? Mode::evaluation : Mode::training);
  }
  for (const Compiled& each : {asks, sets, sets_then_asks}) CHECK(each.stats().n_traces == 1);
  norm.set_mode(Mode::evaluation);
  CHECK(same_bits(sets_then_asks({x})[0], norm(x)));
  CHECK(sets_then_asks.stats().n_traces == 2);
  // Read from a value, so it runs op by op in either mode, and finds that out once in each.
  int n_calls = 0;
  const Compiled reads = compile([&](const Tensors& in) -> Tensors {
    ++n_calls;
    const Tensor y = norm(in[0]);
    return {sum(y).item<float>() > 0.0F ? y : -y};
  });
  for (int i = 0; i < 3; ++i) {
    for (const Mode mode : {Mode::training, Mode::evaluation}) {
      norm.set_mode(mode);
      static_cast<void>(reads({x}));
    }
  }
  REQUIRE(reads.stats().breaks.size() == 1);
  CHECK(reads.stats().breaks[0].n == 6);
  CHECK(n_calls == 6 + 2);
}
