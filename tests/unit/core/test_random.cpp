// SPDX-License-Identifier: Apache-2.0
#include "engine/core/random.hpp"
#include "tests/support/catch.hpp"

#include <Random123/philox.h>
#undef philox4x32  // a macro of the C interface with the name of our function

#include <cmath>
#include <set>

using namespace lodestone::core;

TEST_CASE("Philox: the published known answers of Philox4x32-10", "[core]") {
  // source: kat_vectors of the Random123 distribution, version 1.14 (counter, key, result).
  using Block = std::array<std::uint32_t, 4>;
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("Philox: agrees with Random123 on a thousand blocks", "[core]") {
  r123::Philox4x32 reference;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::array<std::uint32_t, 4> counter{i, i * 2654435761U, ~i, i ^ 0xdeadbeefU};
    const std::array<std::uint32_t, 2> key{i * 40503U, 7U + i};
    const auto expected = reference({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
    const auto ours = philox4x32(counter, key);
    REQUIRE(std::equal(ours.begin(), ours.end(), expected.begin()));
  }
}

TEST_CASE("Philox: a number depends on seed, stream and index, not on order", "[core]") {
  const Philox random(42, 3);
  const double at_seven = random.uniform(7);
  for (std::uint64_t i = 0; i < 100; ++i) (void)random.uniform(i);
  CHECK(random.uniform(7) == at_seven);
  CHECK(Philox(42, 4).uniform(7) != at_seven);
  CHECK(Philox(43, 3).uniform(7) != at_seven);
  CHECK(random.uniform(8) != at_seven);
}

TEST_CASE("Philox: uniform numbers fill (0, 1) evenly and never touch its ends", "[core]") {
  const Philox random(1);
  constexpr int n = 100000;
  double sum = 0.0, sum_of_squares = 0.0;
  bool inside = true;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform(static_cast<std::uint64_t>(i));
    inside = inside && u > 0.0 && u < 1.0;
    sum += u;
    sum_of_squares += u * u;
  }
  CHECK(inside);
  // Five standard errors: 5/√(12 n) and 5·√(4/45/n).
  CHECK(std::abs(sum / n - 0.5) < 5.0 / std::sqrt(12.0 * n));
  CHECK(std::abs(sum_of_squares / n - 1.0 / 3.0) < 5.0 * std::sqrt(4.0 / 45.0 / n));
}

TEST_CASE("Philox: normal numbers have mean 0, variance 1 and no skew", "[core]") {
  const Philox random(2);
  constexpr int n = 100000;
  double first = 0.0, second = 0.0, third = 0.0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal(static_cast<std::uint64_t>(i));
    first += x;
    second += x * x;
    third += x * x * x;
  }
  CHECK(std::abs(first / n) < 5.0 / std::sqrt(n));
  CHECK(std::abs(second / n - 1.0) < 5.0 * std::sqrt(2.0 / n));
  CHECK(std::abs(third / n) < 5.0 * std::sqrt(15.0 / n));
}
