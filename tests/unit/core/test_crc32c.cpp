// SPDX-License-Identifier: Apache-2.0
#include "engine/core/crc32c.hpp"
#include "tests/support/catch.hpp"

#include <array>

using lodestone::core::crc32c;

TEST_CASE("crc32c: the known answers of RFC 3720 come out, whole or in pieces") {
  std::array<std::byte, 32> zeros{}, ones{}, counting{};
  ones.fill(std::byte{0xFF});
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<std::byte>(i);
  CHECK(crc32c(zeros) == 0x8A9136AA);
  CHECK(crc32c(ones) == 0x62A8AB43);
  CHECK(crc32c(counting) == 0x46DD794E);
  CHECK(crc32c({}) == 0);
  for (std::size_t cut = 0; cut <= counting.size(); ++cut) {
    const std::span all(counting);
    CHECK(crc32c(all.subspan(cut), crc32c(all.first(cut))) == 0x46DD794E);
  }
}
