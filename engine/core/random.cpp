// SPDX-License-Identifier: Apache-2.0
#include "engine/core/random.hpp"

#include <cmath>
#include <numbers>

namespace lodestone::core {
namespace {

std::array<std::uint32_t, 4> block(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return philox4x32(philox_counter(index, stream), philox_key(seed));
}

/// 52 random bits k → (2k + 1)·2^-53.
double open_unit(std::uint32_t first, std::uint32_t second) {
  const std::uint64_t bits = ((static_cast<std::uint64_t>(first) << 32) | second) >> 12;
  return static_cast<double>(2 * bits + 1) * 0x1p-53;
}

}  // namespace

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
