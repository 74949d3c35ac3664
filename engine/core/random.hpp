// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace lodestone::core {

/// Philox4x32-10 block: four random 32-bit words from a 128-bit counter and a 64-bit key. In the header, so
/// that loops over it vectorize. source: Salmon et al. 2011, doi:10.1145/2063384.2063405, section 3.4: round
/// multipliers, and key increments from the golden ratio and √3 − 1.
[[nodiscard, gnu::always_inline]] inline std::array<std::uint32_t, 4> philox4x32(
    std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = std::uint64_t{0xD2511F53} * counter[0],
                        product_1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {high(product_1) ^ counter[1] ^ key[0], low(product_1), high(product_0) ^ counter[3] ^ key[1],
               low(product_0)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}
/// The counter of a block of a stream, and the key of a seed, as words.
[[nodiscard, gnu::always_inline]] inline std::array<std::uint32_t, 4> philox_counter(std::uint64_t block,
                                                                                     std::uint64_t stream) {
  return {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
          static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
}
[[nodiscard, gnu::always_inline]] inline std::array<std::uint32_t, 2> philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// Random numbers addressed by (seed, stream, index): the value does not depend on the order or the rank of
/// evaluation.
class Philox {
 public:
  explicit Philox(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}
  /// Returns a number uniform in (0, 1): an odd multiple of 2^-53, so that neither end is ever returned.
  [[nodiscard]] double uniform(std::uint64_t index) const;
  /// Returns a standard normal number (Box–Muller on the block that `uniform` of this index uses: take one of
  /// the two per index).
  [[nodiscard]] double normal(std::uint64_t index) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

}  // namespace lodestone::core
