// SPDX-License-Identifier: Apache-2.0
// Weights that a compiled function only reads are packed once, and again when they are assigned. No bit
// depends on that.
#include "engine/compile/compile.hpp"
#include "engine/inspect/dry_run.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/variable.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::drawn;
using tests::same_bits;

namespace {

/// Two convolutions with what usually stands between them, forward and back, with weights in cells.
struct Network {
  DType dtype;
  Variable first{"first", drawn({3, 3, 4, 16}, 1, dtype)}, second{"second", drawn({2, 2, 8, 10}, 2, dtype)};

  [[nodiscard]] Tensors operator()(const Tensors& x) const {
    const Tensor inner = tanh(conv(x[0], first.value(), {.low = {1, 1}, .high = {1, 1}}) + 0.5);
    const Tensor narrow = conv(inner, second.value(), {.stride = {2, 2}, .groups = 2});
    return {narrow, conv_transpose(inner * 2.0, first.value(), {8, 8}, {.low = {1, 1}, .high = {1, 1}})};
  }
  [[nodiscard]] Compiled compiled(CompileOptions options = {}) const {
    return compile([this](const Tensors& x) { return (*this)(x); }, options);
  }
  [[nodiscard]] Tensors images(std::uint64_t seed, Dim n = 2) const {
    return {drawn({n, 8, 8, 4}, seed, dtype)};
  }
};

}  // namespace

TEST_CASE("packing: weights in cells are packed by the second run, and when they are assigned", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Level level : {Level::O0, Level::O1}) {
      const Network network{dtype};
      const Compiled f = network.compiled({.level = level});
      std::vector<std::int64_t> n_packed;
      const auto run = [&](std::uint64_t seed) {
        const Tensors x = network.images(seed);
        CHECK(same_bits(f(x), network(x)));
        n_packed.push_back(f.stats().n_packed);
      };
      for (std::uint64_t seed = 0; seed < 4; ++seed) run(seed);
      CHECK(n_packed == std::vector<std::int64_t>{0, 3, 3, 3});
      network.second.assign(drawn({2, 2, 8, 10}, 3, dtype));
      for (std::uint64_t seed = 0; seed < 3; ++seed) run(seed);
      CHECK(std::vector(n_packed.begin() + 4, n_packed.end()) == std::vector<std::int64_t>{3, 4, 4});
      for (std::uint64_t seed = 0; seed < 4; ++seed) {  // what changes in every run is never packed
        network.second.assign(drawn({2, 2, 8, 10}, 4 + seed, dtype));
        run(seed);
      }
      CHECK(n_packed.back() == 4);
    }
  }
}

TEST_CASE("packing: constants and arguments that come again are packed, what is computed is not",
          "[engine]") {
  const Tensor w = drawn({3, 3, 4, 6}, 1), other = drawn({3, 3, 4, 6}, 2);
  const auto n_packed = [&](const Compiled& f, const std::vector<Tensors>& calls) {
    for (const Tensors& each : calls) CHECK(same_bits(f(each), Tensors{conv(each[0], each[1])}));
    return f.stats().n_packed;
  };
  const auto by_argument = [](const Tensors& x) -> Tensors { return {conv(x[0], x[1])}; };
  const Tensor a = drawn({1, 6, 6, 4}, 3), b = drawn({1, 6, 6, 4}, 4);
  CHECK(n_packed(compile(by_argument), {{a, w}, {b, w}, {a, w}}) == 1);
  CHECK(n_packed(compile(by_argument), {{a, w}, {a, other}, {a, w}, {b, other}}) == 0);
  CHECK(n_packed(compile(by_argument), {{a, w}, {b, w}, {a, other}, {b, other}, {a, other}}) == 2);
  const Compiled by_constant = compile([&](const Tensors& x) -> Tensors { return {conv(x[0], w)}; });
  CHECK(n_packed(by_constant, {{a, w}, {b, w}, {a, w}}) == 1);
  const auto computed = [](const Tensors& x) -> Tensors { return {conv(x[0], x[1] * 1.0 + 0.0)}; };
  CHECK(n_packed(compile(computed, {.level = Level::O0}), {{a, w}, {b, w}, {a, w}}) == 0);
  const auto turned = [](const Tensors& x) -> Tensors { return {conv(x[0], flip(x[1], 0))}; };
  const Compiled f = compile(turned);
  for (int i = 0; i < 3; ++i) CHECK(same_bits(f({a, w}), turned({a, w})));
  CHECK(f.stats().n_packed == 0);
}

TEST_CASE("packing: functions that change their weights, or have a budget, do without", "[engine]") {
  const Network network{DType::f64};
  const Compiled step = compile([&](const Tensors& x) -> Tensors {
    const Tensor y = conv(x[0], network.first.value());
    network.first.assign(network.first.value() * 0.5);
    return {y};
  });
  const Compiled infer = network.compiled();
  for (std::uint64_t i = 0; i < 4; ++i) {
    // The cell's new value may lie in the memory of the old one, which was packed.
    for (std::uint64_t again = 0; again < 3; ++again)
      CHECK(same_bits(infer(network.images(again)), network(network.images(again))));
    const Tensor before = conv(network.images(i)[0], network.first.value()).eval();
    CHECK(same_bits(step(network.images(i))[0], before));
  }
  CHECK(step.stats().n_packed == 0);
  CHECK(infer.stats().n_packed == 3 + 3 * 2);
  const Compiled within = network.compiled({.budget = std::size_t{1} << 30});
  for (std::uint64_t i = 0; i < 3; ++i)
    CHECK(same_bits(within(network.images(i)), network(network.images(i))));
  CHECK(within.stats().n_packed == 0);
}

TEST_CASE("packing: each run at a time has what it packed", "[engine]") {
  const Function both = [](const Tensors& x) -> Tensors { return {tanh(conv(x[0], x[1]))}; };
  const Tensors in{drawn({2, 8, 8, 4}, 1), drawn({3, 3, 4, 16}, 2)}, others{in[0], drawn({3, 3, 4, 16}, 3)};
  const std::array<Tensors, 2> expected{both(in), both(others)};
  for (const Tensors& each : expected) eval(each);
  const Compiled f = compile(both);
  std::vector<std::thread> threads;
  std::atomic<int> n_right{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int run = 0; run < 40; ++run) {
        const bool is_other = run % 20 >= 10;
        n_right += same_bits(f(is_other ? others : in), expected[is_other ? 1 : 0]) ? 1 : 0;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(n_right == 120);
  CHECK(f.stats().n_packed >= 1);
}

TEST_CASE("packing: the memory is announced", "[engine]") {
  const Network network{DType::f32};
  const Compiled f = network.compiled();
  static_cast<void>(f(network.images(1)));
  CHECK(f.text(Stage::planned).find("finds array 1 packed") != std::string::npos);
  const Compiled without = network.compiled({.budget = std::size_t{1} << 30});
  static_cast<void>(without(network.images(1)));
  const std::size_t packed = f.stats().block_bytes - without.stats().block_bytes;
  CHECK(packed >= (2 * 3 * 3 * 4 * 16 + 2 * 2 * 8 * 10) * sizeof(float));
  const auto announced = [&](std::size_t budget) {
    return dry_run([&](const Tensors& x) { return network(x); }, avals_of(network.images(1)),
                   {.budget = budget})
        .peak.block;
  };
  CHECK(announced(0) >= announced(std::size_t{1} << 30) + packed);
}

TEST_CASE("packing: extents of a batch in turn find their own weights", "[engine]") {
  const Network network{DType::f32};
  const Compiled f = network.compiled({.symbolic = {{.input = 0, .axis = 0, .bound = 16}}});
  for (int round = 0; round < 3; ++round) {
    for (const Dim n : {2, 3, 5, 16, 7, 5}) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const Tensors x = network.images(seed, n);
        CHECK(same_bits(f(x), network(x)));
      }
    }
  }
  CHECK(f.stats().n_resized > 0);
  CHECK(f.stats().n_packed > 0);
}
