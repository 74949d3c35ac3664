// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace lodestone::core {

/// Philox4x32-10 block: four random 32-bit words from a 128-bit counter and a 64-bit key.
/// source: Salmon et al. 2011, doi:10.1145/2063384.2063405
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// Random numbers addressed by (seed, stream, index): the value does not depend on the order or the rank of evaluation.
class Philox {
 public:
  explicit Philox(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}
  /// Uniform in (0, 1): an odd multiple of 2^-53, so that neither end is ever returned.
  [[nodiscard]] double uniform(std::uint64_t index) const;
  /// Standard normal (Box–Muller on the block that `uniform` of this index uses: take one of the two per index).
  [[nodiscard]] double normal(std::uint64_t index) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

}  // namespace lodestone::core
