// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/trailer.hpp"

#include "engine/core/crc32c.hpp"
#include "engine/core/error.hpp"

#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

namespace lodestone::io::hdf5 {
namespace {

constexpr std::string_view opening = "\nlodestone crc32c ";
constexpr std::size_t trailer_bytes = opening.size() + 8 + 1;  // eight hexadecimal digits, end of line
constexpr std::size_t piece_bytes = std::size_t{1} << 22;      // read at once

std::string text_of(std::uint32_t checksum) { return fmt::format("{}{:08x}\n", opening, checksum); }

/// A file at its end: the bytes before a trailer, and the trailer; "" when there is none.
struct Ended {
  std::ifstream file;
  std::int64_t n_before = 0;
  std::string trailer{};
};

Ended opened(const std::string& path) {
  Ended out{std::ifstream(path, std::ios::binary | std::ios::ate)};
  out.n_before = static_cast<std::int64_t>(out.file.tellg()) - static_cast<std::int64_t>(trailer_bytes);
  if (out.n_before < 0) return out;
  std::string trailer(trailer_bytes, '\0');
  out.file.seekg(out.n_before);
  out.file.read(trailer.data(), static_cast<std::streamsize>(trailer.size()));
  if (out.file && trailer.starts_with(opening)) out.trailer = std::move(trailer);
  return out;
}

}  // namespace

std::string trailer_of(std::span<const char> bytes) { return text_of(core::crc32c(std::as_bytes(bytes))); }

void require_unchanged(const std::string& path) {
  Ended ended = opened(path);
  if (ended.trailer.empty()) return;
  std::vector<char> piece(piece_bytes);
  std::uint32_t checksum = 0;
  std::int64_t rest = ended.n_before;
  for (ended.file.seekg(0); ended.file && rest > 0;) {
    const auto n = std::min<std::int64_t>(rest, std::ssize(piece));
    ended.file.read(piece.data(), n);
    checksum = core::crc32c(std::as_bytes(std::span(piece).first(static_cast<std::size_t>(n))), checksum);
    rest -= n;
  }
  if (!ended.file) throw core::FileError("io::hdf5#unreadable", "{}: cannot read the whole file", path);
  if (text_of(checksum) != ended.trailer)
    throw core::FormatError(
        "io::hdf5#damaged",
        "{}: expected bytes with the checksum that the file states at its end, got others; the file is "
        "damaged: copy it again from where it was written, or write it again",
        path);
}

void require_trailer(const std::string& path) {
  if (opened(path).trailer.empty())
    throw core::FormatError(
        "io::hdf5#changed",
        "{}: expected a file with a checksum at its end, as this program writes them, "
        "got one without; it was cut off, changed by another program or written by an older "
        "version: start anew without it",
        path);
}

}  // namespace lodestone::io::hdf5
