// SPDX-License-Identifier: Apache-2.0
#include "engine/core/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace lodestone::core {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // 0x1EDC6F41 with its bits in the order they travel
constexpr std::size_t n_slices = 8;               // bytes taken in one step
using Tables = std::array<std::array<std::uint32_t, 256>, n_slices>;

/// tables[k][b]: what byte b, followed by k zero bytes, leaves in the register.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? polynomial : 0);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < n_slices; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}
constexpr Tables tables = make_tables();

}  // namespace

static_assert(std::endian::native == std::endian::little,
              "eight bytes are taken as one little-endian number");

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
  std::uint32_t rest = ~crc;
  const std::byte* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= n_slices; n -= n_slices, p += n_slices) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    word ^= rest;
    rest = 0;
    for (std::size_t k = 0; k < n_slices; ++k) rest ^= tables[n_slices - 1 - k][(word >> (8 * k)) & 0xFF];
  }
  for (; n > 0; --n, ++p) rest = (rest >> 8) ^ tables[0][(rest ^ std::to_integer<std::uint32_t>(*p)) & 0xFF];
  return ~rest;
}

}  // namespace lodestone::core
