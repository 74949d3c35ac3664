// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/digest.hpp"

#include "io/text/text_file.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace lodestone::mt_invert::method {

std::string digest_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

std::string digest_of_file(const std::string& path) { return digest_of(io::text::read_bytes(path)); }

}  // namespace lodestone::mt_invert::method
