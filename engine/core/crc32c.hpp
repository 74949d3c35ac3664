// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a checksum without any other part of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lodestone::core {

/// Returns CRC-32C of bytes: finds every error burst of up to 32 bits, and any other damage with probability
/// 1 - 2^-32. `crc` is that of what came before. source: RFC 3720, section 12.1 and appendix B.4
/// (Castagnoli's polynomial, reflected, inverted before and after)
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace lodestone::core
