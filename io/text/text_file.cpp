// SPDX-License-Identifier: Apache-2.0
#include "io/text/text_file.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace lodestone::io::text {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using FilePointer = std::unique_ptr<std::FILE, CloseFile>;

constexpr std::size_t largest_text_file = std::size_t{1} << 31;

void check_is_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    throw core::FileError("io#no_file", "{}: expected a file, but there is none; check the path", path);
  if (std::filesystem::is_directory(status))
    throw core::FileError("io#is_a_folder", "{}: expected a file, got a folder; name a file inside it", path);
}

std::string read_at_most(const std::string& path, std::size_t limit) {
  check_is_file(path);
  const FilePointer file(std::fopen(path.c_str(), "rb"));
  if (!file)
    throw core::FileError("io#not_opened", "{}: cannot be opened ({}); check its permissions", path,
                          std::strerror(errno));
  std::string bytes;
  std::string buffer(std::size_t{1} << 16, '\0');
  while (bytes.size() < limit) {
    const std::size_t n =
        std::fread(buffer.data(), 1, std::min(buffer.size(), limit - bytes.size()), file.get());
    if (n == 0) break;
    bytes.append(buffer, 0, n);
  }
  if (std::ferror(file.get()) != 0)
    throw core::FileError("io#not_read", "{}: cannot be read ({})", path, std::strerror(errno));
  return bytes;
}

}  // namespace

std::string read_bytes(const std::string& path) {
  std::string bytes = read_at_most(path, largest_text_file + 1);
  if (bytes.size() > largest_text_file)
    throw core::FileError("io#too_large", "{}: expected a file of less than 2 GiB; is it the right one?",
                          path);
  return bytes;
}

std::string read_bytes_up_to(const std::string& path, std::size_t n) { return read_at_most(path, n); }

void write_bytes_atomically(const std::string& path, std::string_view bytes) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty())
    std::filesystem::create_directories(folder, error);  // what fails here is reported by the writer
  core::write_file(path, bytes);
}

std::string digest_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

std::string digest_of_file(const std::string& path) { return digest_of(read_bytes(path)); }

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
