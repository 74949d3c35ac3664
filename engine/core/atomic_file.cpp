// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <regex>
#include <system_error>
#include <unistd.h>

namespace lodestone::core {
namespace {

[[noreturn]] void throw_unwritable(const std::string& path, int error) {
  throw FileError("core::AtomicFile#unwritable",
                  "cannot write {}: {}; check the folder, its permissions and the free space", path,
                  std::strerror(error));
}

/// Returns the file that a name stands for: a link is followed, so that it stays and its target is written.
/// errors: FileError where the name is taken by something that is no regular file, which a new file must not
/// replace.
std::string target_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw FileError("core::AtomicFile#not_a_regular_file",
                    "cannot write {}: a {} has this name; give another one", path,
                    fs::is_directory(status) ? "folder" : "device, pipe or socket");
  if (!fs::is_symlink(fs::symlink_status(path, ignored))) return path;
  std::error_code failed;
  const fs::path target = fs::weakly_canonical(path, failed);
  return failed ? path : target.string();
}

std::string temporary_name(const std::filesystem::path& path) {
  return (path.parent_path() /
          fmt::format(".{}.{}.tmp{}", path.stem().string(), getpid(), path.extension().string()))
      .string();
}

/// The parts of what `temporary_name` makes.
struct TemporaryName {
  std::string stem, extension;
  pid_t process;
  /// Returns the parts of a name (without folders), nothing for another one.
  static std::optional<TemporaryName> of(const std::string& name) {
    static const std::regex form(R"(\.(.+)\.([0-9]{1,9})\.tmp(\.[^.]*)?)");
    std::smatch part;
    if (!std::regex_match(name, part, form)) return {};
    return TemporaryName{part[1], part[3], std::stoi(part[2])};
  }
};

template <class Which>
void remove_leftovers_that(const std::filesystem::path& folder, Which which) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const auto name = TemporaryName::of(entry.path().filename().string());
    const bool is_left =
        name && name->process > 0 && which(*name) && kill(name->process, 0) != 0 && errno == ESRCH;
    if (is_left) std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(target_of(path)), temporary_(temporary_name(path_)) {
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

void check_room(const std::string& path, std::size_t bytes) {
  const AtomicFile probe(path);
  const int file = open(probe.temporary_path().c_str(), O_WRONLY);
  if (file < 0) throw_unwritable(path, errno);
  const int error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  close(file);
  if (error != 0) throw_unwritable(path, error);
}

void make_folder(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code error, ignored;
  fs::create_directories(path, error);
  if (!error && fs::is_directory(path, ignored)) return;
  for (fs::path at = path; !at.empty() && at != at.parent_path(); at = at.parent_path()) {
    if (fs::exists(at, ignored) && !fs::is_directory(at, ignored))
      throw FileError("core::make_folder#taken_by_file",
                      "{}: expected a folder, or the name of a new one, but {} is a file; give another name",
                      path.string(), at == path ? "this" : at.string());
  }
  throw FileError("core::make_folder",
                  "{}: expected to be able to make this folder, got: {}; check the path and its permissions",
                  path.string(), error.message());
}

void remove_leftovers(const std::string& given) {
  const std::filesystem::path path(given);
  remove_leftovers_that(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."),
                        [&](const TemporaryName& name) {
                          return name.stem == path.stem() && name.extension == path.extension();
                        });
}

bool is_temporary_name(const std::string& name) { return TemporaryName::of(name).has_value(); }

void remove_all_leftovers(const std::filesystem::path& folder) {
  remove_leftovers_that(folder, [](const TemporaryName&) { return true; });
}

}  // namespace lodestone::core
