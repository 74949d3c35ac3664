// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/file_digest.hpp"

#include "io/text/text_file.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace lodestone::mt_invert {

std::string digest_of_file(const std::string& path) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : io::read_bytes(path)) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace lodestone::mt_invert
