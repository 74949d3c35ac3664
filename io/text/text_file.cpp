// SPDX-License-Identifier: Apache-2.0
#include "io/text/text_file.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "engine/core/regular_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

namespace lodestone::io::text {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using FilePointer = std::unique_ptr<std::FILE, CloseFile>;

constexpr std::size_t largest_text_file = std::size_t{1} << 30;

/// Hands on the bytes of a file piece by piece, `limit` of them at most.
template <class Take>
void read_at_most(const std::string& path, std::uint64_t limit, Take&& take) {
  core::require_regular_file(path);
  const FilePointer file(std::fopen(path.c_str(), "rb"));
  if (!file)
    throw core::FileError("io#not_opened", "{}: cannot be opened ({}); check its permissions", path,
                          std::strerror(errno));
  std::string buffer(std::size_t{1} << 16, '\0');
  while (limit > 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), limit));
    const std::size_t n = std::fread(buffer.data(), 1, wanted, file.get());
    if (n == 0) break;
    take(std::string_view(buffer).substr(0, n));
    limit -= n;
  }
  if (std::ferror(file.get()) != 0)
    throw core::FileError("io#not_read", "{}: cannot be read ({})", path, std::strerror(errno));
}

std::string bytes_of(const std::string& path, std::size_t limit) {
  std::string bytes;
  read_at_most(path, limit, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

std::uint64_t continued_hash(std::uint64_t hash, std::string_view bytes) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return hash;
}
constexpr std::uint64_t first_hash = 0xcbf29ce484222325ULL;
std::string digits_of(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace

std::string read_bytes(const std::string& path) {
  const auto refuse = [&] {
    throw core::FileError("io#too_large", "{}: expected a text file of at most 1 GiB; is it the right one?",
                          path);
  };
  if (core::require_regular_file(path) > largest_text_file) refuse();
  std::string bytes = bytes_of(path, largest_text_file + 1);  // it may grow meanwhile
  if (bytes.size() > largest_text_file) refuse();
  return bytes;
}

std::string read_text(const std::string& path) { return core::clean_text(read_bytes(path)); }

std::string read_bytes_up_to(const std::string& path, std::size_t n) { return bytes_of(path, n); }

void write_bytes_atomically(const std::string& path, std::string_view bytes) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty())
    std::filesystem::create_directories(folder, error);  // what fails here is reported by the writer
  core::write_file(path, bytes);
}

std::string digest_of(std::string_view bytes) { return digits_of(continued_hash(first_hash, bytes)); }

std::string digest_of_file(const std::string& path) {
  std::uint64_t hash = first_hash;
  read_at_most(path, std::numeric_limits<std::uint64_t>::max(),
               [&](std::string_view piece) { hash = continued_hash(hash, piece); });
  return digits_of(hash);
}

std::vector<std::string_view> split_lines(std::string_view bytes) {
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF") bytes.remove_prefix(3);
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != '\n' && bytes[i] != '\r') continue;
    lines.push_back(bytes.substr(begin, i - begin));
    if (bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n') ++i;
    begin = i + 1;
  }
  if (begin < bytes.size()) lines.push_back(bytes.substr(begin));
  return lines;
}

}  // namespace lodestone::io::text
