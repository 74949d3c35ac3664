// SPDX-License-Identifier: Apache-2.0
#include "engine/generate/kernel_cache.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/crc32c.hpp"
#include "engine/core/error.hpp"
#include "engine/core/file_lock.hpp"
#include "engine/core/log.hpp"
#include "engine/core/private_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace lodestone::engine {
namespace {

namespace fs = std::filesystem;
using core::log::Id;

constexpr mode_t file_of_owner = 0600;

/// Returns the last line of a library: loaders do not read it.
std::string seal_of(std::string_view bytes) {
  return fmt::format("\nlodestone kernel {:08x}\n", core::crc32c(std::as_bytes(std::span(bytes))));
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_sealed(std::string_view bytes) {
  static const std::size_t length = seal_of("").size();
  return bytes.size() > length &&
         bytes.substr(bytes.size() - length) == seal_of(bytes.substr(0, bytes.size() - length));
}

/// Returns why a file must not be loaded; nothing where it may.
std::string objection(const fs::path& path) {
  std::string why = core::objection_to(path);
  if (why.empty() && !is_sealed(bytes_of(path))) why = "its checksum is wrong";
  return why;
}

}  // namespace

std::string KernelCache::name_of(std::initializer_list<std::string_view> parts) {
  // FNV-1a of 128 bits.
  __extension__ using Hash = unsigned __int128;
  constexpr Hash prime = Hash{1} << 88 | 0x13B;
  Hash hash = Hash{0x6c62272e07bb0142} << 64 | 0x62b821756295c58d;
  for (const std::string_view part : parts) {
    for (const char letter : part) hash = (hash ^ static_cast<unsigned char>(letter)) * prime;
    hash = (hash ^ 0x100) * prime;  // no letter: where a part ends counts
  }
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(hash >> 64),
                     static_cast<std::uint64_t>(hash));
}

KernelCache::KernelCache(const fs::path& folder, std::uintmax_t limit) : limit_(limit) {
  try {
    use(folder);
  } catch (const core::FileError& error) {
    use_own_folder(error.what());
  }
}

KernelCache::~KernelCache() {
  std::error_code ignored;
  if (is_temporary_) fs::remove_all(folder_, ignored);
}

void KernelCache::use(const fs::path& folder) {
  const core::FolderWas was = core::close_folder(folder);
  folder_ = folder;
  if (was == core::FolderWas::closed) return;
  for (const auto& each : fs::directory_iterator(folder))
    reject(each.path(), "others could write its folder");
}

void KernelCache::use_own_folder(const std::string& why) {
  std::string name = fs::temp_directory_path() / "lodestone_kernels_XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw core::FileError("engine::KernelCache#no_folder", "{}, and {} cannot be made: {}", why, name,
                          std::strerror(errno));
  core::log::warning(Id("engine::KernelCache#unusable"),
                     "{}; generated kernels are kept until this process ends", why);
  folder_ = name;
  is_temporary_ = true;
}

/// Removes a file that is not to be trusted. One warning stands for all.
void KernelCache::reject(const fs::path& path, const std::string& why) {
  if (!has_warned_)
    core::log::warning(Id("engine::KernelCache#rebuilt"),
                       "{}: {}; this generated kernel, and others like it, are made again", path.string(),
                       why);
  has_warned_ = true;
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

void KernelCache::discard(const std::string& name) { reject(path_of(name), "it cannot be loaded"); }

bool KernelCache::has(const std::string& name) {
  const fs::path path = path_of(name);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return false;
  if (const std::string why = objection(path); !why.empty()) {
    reject(path, why);
    return false;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // the oldest are the least used
  return true;
}

std::optional<std::string> KernelCache::get(const std::string& name,
                                            const std::function<bool(const std::string&)>& make,
                                            const std::stop_token& stop) {
  using namespace std::chrono_literals;
  while (!has(name)) {
    const fs::path lock_file = folder_ / (name + ".lock");
    const auto lock = core::FileLock::take(lock_file);
    if (stop.stop_requested()) return {};
    if (!lock) {
      std::this_thread::sleep_for(2ms);
      continue;
    }
    const bool is_made = has(name) || make_file(name, make);
    std::error_code ignored;
    fs::remove(lock_file, ignored);
    if (!is_made) return {};
  }
  return path_of(name);
}

bool KernelCache::make_file(const std::string& name, const std::function<bool(const std::string&)>& make) {
  core::AtomicFile file(path_of(name));
  const std::string& path = file.temporary_path();
  if (!make(path)) return false;
  const std::string bytes = bytes_of(path);
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << seal_of(bytes);
  out.close();
  if (!out || ::chmod(path.c_str(), file_of_owner) != 0)
    throw core::FileError("engine::KernelCache#unwritable", "cannot write {}: {}", path,
                          std::strerror(errno));
  file.commit();
  trim();
  return true;
}

/// Removes the files that were not used for longest until all fit, and what killed processes left.
void KernelCache::trim() const {
  struct File {
    fs::file_time_type time;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::uintmax_t bytes = 0;
  std::error_code failed;
  for (const auto& each : fs::directory_iterator(folder_, failed)) {
    File file{each.last_write_time(failed), each.file_size(failed), each.path()};
    if (failed) continue;  // another process has removed it
    const bool is_old = fs::file_time_type::clock::now() - file.time > std::chrono::hours(1);
    if (each.path().extension() == ".so" && !core::is_temporary_name(each.path().filename())) {
      bytes += file.bytes;
      files.push_back(std::move(file));
    } else if (is_old) {
      fs::remove(each.path(), failed);
    }
  }
  std::ranges::sort(files, {}, &File::time);
  for (auto file = files.begin(); file != files.end() && bytes > limit_; ++file) {
    fs::remove(file->path, failed);
    bytes -= file->bytes;
  }
}

}  // namespace lodestone::engine
