// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace lodestone::core {
namespace {

[[noreturn]] void throw_unwritable(const std::string& path, int error) {
  throw FileError("core::AtomicFile#unwritable",
                  "cannot write {}: {}; check the folder, its permissions and the free space", path,
                  std::strerror(error));
}

std::string temporary_name(const std::filesystem::path& path) {
  return (path.parent_path() /
          fmt::format(".{}.{}.tmp{}", path.stem().string(), getpid(), path.extension().string()))
      .string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  // Created here, so that an unwritable folder is reported before any work is done.
  const int file = open(temporary_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0666);
  if (file < 0) throw_unwritable(path_, errno);
  close(file);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void AtomicFile::commit() {
  const int file = open(temporary_.c_str(), O_RDONLY);
  if (file < 0) throw_unwritable(path_, errno);
  const int sync_error = fsync(file) == 0 ? 0 : errno;
  close(file);
  // Some file systems cannot sync; only a real write error counts.
  if (sync_error != 0 && sync_error != EINVAL && sync_error != EROFS) throw_unwritable(path_, sync_error);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw_unwritable(path_, errno);
  temporary_.clear();
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(bytes));
  write_file(path, std::span(&piece, 1));
}

void write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  AtomicFile file(path);
  std::FILE* stream = std::fopen(file.temporary_path().c_str(), "wb");
  if (stream == nullptr) throw_unwritable(path, errno);
  const auto write = [&](std::span<const std::byte> piece) {
    return piece.empty() || std::fwrite(piece.data(), 1, piece.size(), stream) == piece.size();
  };
  const bool written = std::ranges::all_of(pieces, write);
  const int write_error = errno;
  const bool closed = std::fclose(stream) == 0;
  if (!written || !closed) throw_unwritable(path, written ? errno : write_error);
  file.commit();
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  std::error_code ignored;
  if (error || !std::filesystem::is_directory(path, ignored)) {
    throw FileError(
        "core::make_folder",
        "{}: expected to be able to make this folder, got: {}; check the path and its permissions",
        path.string(), error ? error.message() : "a file of that name stands there");
  }
}

void remove_leftovers(const std::string& given) {
  const std::filesystem::path path(given);
  const std::string head = fmt::format(".{}.", path.stem().string()),
                    tail = fmt::format(".tmp{}", path.extension().string());
  std::error_code ignored;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail))
      continue;
    pid_t process = 0;
    const char* last = name.data() + name.size() - tail.size();
    const auto [end, error] = std::from_chars(name.data() + head.size(), last, process);
    const bool is_ours = error == std::errc() && end == last && process > 0;
    if (is_ours && kill(process, 0) != 0 && errno == ESRCH) std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace lodestone::core
