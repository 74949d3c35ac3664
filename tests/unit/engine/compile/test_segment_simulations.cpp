// SPDX-License-Identifier: Apache-2.0
// Simulations inside of functions that read values.
#include "engine/core/map_algebra.hpp"
#include "engine/transform/external.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/segments_of.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::number;
using tests::row;
using tests::same_bits;
using tests::wave;

TEST_CASE("segments: simulations run once each, in the order of the calls", "[engine]") {
  std::string taken;
  const auto noting = [&](const std::string& name) {
    return core::pointwise(
        name, 2, [&taken, name](double t) { return taken += name, 2.0 * t; }, [](double) { return 2.0; });
  };
  const core::MapPtr a = noting("a"), b = noting("b");
  const Function f = [&](const Tensors& x) -> Tensors {
    const Tensor y = wave(external(a, wave(x[0])));
    static_cast<void>(external(b, y));  // nobody needs its result
    if (number(y) > 0.0) return {wave(external(a, y)), y};
    return {external(b, wave(y)), y};
  };
  const Compiled compiled = compile(f);
  for (int i = 0; i < 6; ++i) {
    const Tensors x{row({i % 2 == 0 ? 2.0 : -2.0, 1})};
    taken.clear();
    const Tensors right = f(x);
    eval(right);
    const std::string expected = std::exchange(taken, {});
    CHECK(same_bits(compiled(x), right));
    CHECK(taken == expected);
    CHECK(taken == (number(right[1]) > 0.0 ? "aabbaa" : "aabbbb"));
  }
  CHECK(compiled.stats().n_segments > 5);
}

TEST_CASE("segments: a simulation may read, and drop, values that the plan is to give", "[engine]") {
  Tensors captured;
  std::vector<double> seen;
  const core::MapPtr map = core::pointwise(
      "m", 2,
      [&](double x) {
        if (!captured.empty()) {
          seen = captured[1].to_vector<double>();
          const auto looked_at = captured[0].data<double>();
          seen.insert(seen.end(), looked_at.begin(), looked_at.end());
          captured.clear();
        }
        return 2.0 * x;
      },
      [](double) { return 2.0; });
  const Function f = [&](const Tensors& x) -> Tensors {
    {
      const Tensor a = wave(x[0]);
      captured = {a * 2.0, a * 3.0};
    }
    const Tensor y = external(map, captured[0]);
    return {y, wave(y) * number(y)};
  };
  const Compiled compiled = compile(f);
  for (int i = 0; i < 5; ++i) {
    const Tensors x{row({1.0 + i, 2.0})};
    const Tensors right = f(x);
    eval(right);
    const std::vector<double> expected = std::exchange(seen, {});
    CHECK(same_bits(compiled(x), right));
    CHECK(seen == expected);
  }
  CHECK(compiled.stats().n_segments > 3);
}

TEST_CASE("segments: values that a simulation has read stay where it looks", "[engine]") {
  Tensor captured;
  std::span<const double> looked_at;
  const core::MapPtr map = core::pointwise(
      "m", 2,
      [&](double x) {
        looked_at = captured.data<double>();
        return 2.0 * x;
      },
      [](double) { return 2.0; });
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    captured = wave(x[0]) * 3.0;
    const Tensor y = external(map, captured);
    return {y * number(y)};
  });
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(compiled({row({1.0 + i, 2.0})}));
    CHECK(looked_at.data() == captured.data<double>().data());
  }
  CHECK(compiled.stats().n_segments > 1);
}
