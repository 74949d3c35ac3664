// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/arena.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <thread>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

bool share(const Tensor& a, const Tensor& b) { return a.node().buffer == b.node().buffer; }

/// The second operand, as it was recorded.
Tensor second_operand(const Tensor& result) { return Tensor(result.node().inputs[1]); }

}  // namespace

TEST_CASE("constant: a number in an expression has its value at once, and attributes that stay", "[engine]") {
  const Tensor x = Tensor::from(std::vector<double>{3}, {}), product = x * 0.5;
  const Tensor half = second_operand(product);
  CHECK(half.node().is_evaluated());
  CHECK(product.item<double>() == 1.5);
  REQUIRE(half.node().op == &op_named("constant"));
  const auto& attrs = attrs_as<ConstantAttrs>(*half.node().attrs);
  double number = 0.0;
  std::memcpy(&number, attrs.bytes.data(), sizeof number);
  CHECK(number == 0.5);
  CHECK(attrs.dtype == DType::f64);
  CHECK(attrs.device == default_device());
  CHECK(half.node().attrs->equals(*second_operand(x + 0.5).node().attrs));
}

TEST_CASE("constant: equal numbers share memory, other bits, dtypes and devices have their own", "[engine]") {
  const Device there{Device::Kind::cpu, static_cast<std::uint8_t>(1 - default_device().index)};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(share(scalar(0.5, DType::f64), scalar(0.5, DType::f64)));
  CHECK(share(scalar(nan, DType::f64), scalar(nan, DType::f64)));
  CHECK(share(zeros({2, 3}), zeros({7})));
  CHECK_FALSE(share(scalar(0.0, DType::f64), scalar(-0.0, DType::f64)));
  CHECK_FALSE(share(scalar(0.0, DType::f64), scalar(0.0, DType::i64)));
  CHECK_FALSE(share(scalar(0.5, DType::f64), scalar(0.5, DType::f64, there)));
  CHECK(scalar(0.5, DType::f64, there).device() == there);
  for (const DType dtype : {DType::i8, DType::f32, DType::c128, DType::b8})
    CHECK(std::ranges::equal(scalar(1.0, dtype).bytes(), cast(scalar(1.0, DType::f64), dtype).bytes()));
}

TEST_CASE("constant: recorded from attributes it is the same number", "[engine]") {
  const Tensor half = scalar(0.5, DType::f64);
  const Tensor again = record(op_named("constant"), std::span<const Tensor>(), half.node().attrs,
                              std::source_location::current());
  CHECK(again.item<double>() == 0.5);
  CHECK(share(half, again));
}

TEST_CASE("constant: a kernel that works in place leaves it alone", "[engine]") {
  const Tensor e = exp(scalar(1.0, DType::f64)), one = exp(zeros({1}, DType::f64));  // hold the only nodes
  CHECK(e.item<double>() > 2.7);
  CHECK(one.item<double>() == 1.0);
  CHECK(scalar(1.0, DType::f64).item<double>() == 1.0);
  CHECK(zeros({1}, DType::f64).item<double>() == 0.0);
}

TEST_CASE("constant: numbers that no tensor holds give their memory back", "[engine]") {
  const Arena& arena = Arena::of(default_device());
  const Tensor held = scalar(0.25, DType::f64);
  const std::size_t before = arena.stats().in_use;
  for (int i = 0; i < 20000; ++i) CHECK(scalar(1e-3 * i, DType::f64).item<double>() == 1e-3 * i);
  CHECK(arena.stats().in_use < before + 2000 * Arena::alignment);
  CHECK(share(held, scalar(0.25, DType::f64)));
}

TEST_CASE("constant: threads make the same numbers side by side", "[engine]") {
  std::vector<std::thread> threads;
  std::atomic<int> n_wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        if (scalar(i % 700, DType::i64).item<std::int64_t>() != i % 700) ++n_wrong;
      }
    });
  for (std::thread& each : threads) each.join();
  CHECK(n_wrong == 0);
}
