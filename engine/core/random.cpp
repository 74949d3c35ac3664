// SPDX-License-Identifier: Apache-2.0
#include "engine/core/random.hpp"

#include <cmath>
#include <numbers>

namespace lodestone::core {
namespace {

// Constants of Salmon et al. 2011, section 3.4: round multipliers, and key increments from the golden ratio and √3 − 1.
constexpr std::uint64_t multiplier_0 = 0xD2511F53;
constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
constexpr std::uint32_t weyl_0 = 0x9E3779B9;
constexpr std::uint32_t weyl_1 = 0xBB67AE85;
constexpr int n_rounds = 10;

constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

std::array<std::uint32_t, 4> block(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return philox4x32({low(index), high(index), low(stream), high(stream)}, {low(seed), high(seed)});
}

/// 52 random bits k → (2k + 1)·2^-53.
double open_unit(std::uint32_t first, std::uint32_t second) {
  const std::uint64_t bits = ((static_cast<std::uint64_t>(first) << 32) | second) >> 12;
  return static_cast<double>(2 * bits + 1) * 0x1p-53;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < n_rounds; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter[0];
    const std::uint64_t product_1 = multiplier_1 * counter[2];
    counter = {high(product_1) ^ counter[1] ^ key[0], low(product_1), high(product_0) ^ counter[3] ^ key[1], low(product_0)};
    key = {key[0] + weyl_0, key[1] + weyl_1};
  }
  return counter;
}

double Philox::uniform(std::uint64_t index) const {
  const auto words = block(seed_, stream_, index);
  return open_unit(words[0], words[1]);
}

double Philox::normal(std::uint64_t index) const {
  const auto words = block(seed_, stream_, index);
  const double radius = std::sqrt(-2.0 * std::log(open_unit(words[0], words[1])));
  return radius * std::cos(2.0 * std::numbers::pi * open_unit(words[2], words[3]));
}

}  // namespace lodestone::core
