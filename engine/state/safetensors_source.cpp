// SPDX-License-Identifier: Apache-2.0
#include "engine/core/crc32c.hpp"
#include "engine/core/error.hpp"
#include "engine/core/regular_file.hpp"
#include "engine/state/safetensors.hpp"
#include "engine/state/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lodestone::engine {

using namespace safetensors;

namespace {

constexpr std::size_t verified_at_once = std::size_t{1} << 22;  // bytes

/// A file open for reading; reads name their place, so that threads can share it.
class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(std::string path) : path_(std::move(path)) {
    core::require_regular_file(path_);
    descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) fail(std::strerror(errno));
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~ReadOnlyFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  void read(std::uint64_t at, std::span<std::byte> out) const {
    while (!out.empty()) {
      const ssize_t n = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        throw core::FileError("engine::SafetensorsSource#cannot_read",
                              "{}: expected {} bytes at {}, got: {}; was it changed while it was read?",
                              path_, out.size(), at, n == 0 ? "the end of the file" : std::strerror(errno));
      }
      at += static_cast<std::uint64_t>(n);
      out = out.subspan(static_cast<std::size_t>(n));
    }
  }

 private:
  [[noreturn]] void fail(const char* got) {
    const std::string reason = got;
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
    throw core::FileError("engine::SafetensorsSource#cannot_open",
                          "{}: expected a readable file, got: {}; check the path", path_, reason);
  }

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace

struct SafetensorsSource::Impl {
  explicit Impl(const std::filesystem::path& path) : file(path.string()) {
    std::array<std::byte, 8> length{};
    if (file.size() < length.size())
      fail("file_too_short", fmt::format("at least {} bytes", length.size()), file.size(),
           "the file is cut off");
    file.read(0, length);
    std::uint64_t n_header = 0;
    for (std::size_t i = length.size(); i-- > 0;)
      n_header = (n_header << 8) | std::to_integer<std::uint64_t>(length[i]);
    const std::uint64_t most = std::min(most_header_bytes, file.size() - length.size());
    if (n_header > most)
      fail("wrong_header_length", fmt::format("a header of at most {} bytes", most), n_header,
           "the file is cut off or not safetensors");
    std::string text(n_header, '\0');
    file.read(length.size(), std::as_writable_bytes(std::span(text)));
    data_begin = length.size() + n_header;
    header = parse(text, file.size() - data_begin, file.path());
  }

  template <class Got>
  [[noreturn]] void fail(std::string_view id, const std::string& expected, const Got& got,
                         const char* what) const {
    throw core::FormatError(fmt::format("engine::SafetensorsSource#{}", id), "{}: expected {}, got {}; {}",
                            file.path(), expected, got, what);
  }

  [[nodiscard]] const Entry& entry(const std::string& name) const {
    const auto found = header.arrays.find(name);
    if (found == header.arrays.end())
      fail("no_array", fmt::format("an array \"{}\"", name), "none",
           "was the file written by another program or version?");
    return found->second;
  }

  [[nodiscard]] const std::string* checksum(const std::string& name) const {
    const auto found = header.metadata.find(metadata_key(name, checksum_key));
    return found == header.metadata.end() ? nullptr : &found->second;
  }

  void compare(const std::string& name, std::uint32_t computed) const {
    const std::string* written = checksum(name);
    if (written != nullptr && *written != checksum_text(computed)) {
      fail("wrong_checksum", fmt::format("array \"{}\" with checksum {}", name, *written),
           checksum_text(computed), "the file is damaged; copy or write it again");
    }
  }

  ReadOnlyFile file;
  std::uint64_t data_begin = 0;
  Header header;
};

SafetensorsSource::SafetensorsSource(const std::filesystem::path& path)
    : impl_(std::make_unique<Impl>(path)) {}
SafetensorsSource::~SafetensorsSource() = default;

bool SafetensorsSource::contains(const std::string& name) const {
  return impl_->header.arrays.contains(name);
}

std::vector<std::string> SafetensorsSource::names() const {
  std::vector<std::string> result;
  for (const auto& [name, entry] : impl_->header.arrays) result.push_back(name);
  return result;
}

core::ArrayInfo SafetensorsSource::info(const std::string& name) const { return impl_->entry(name).info; }

void SafetensorsSource::read(const std::string& name, std::int64_t first, std::span<std::byte> out) const {
  const Entry& entry = impl_->entry(name);
  const auto element = static_cast<std::int64_t>(core::size_of(entry.info.dtype));
  const auto n_bytes = static_cast<std::int64_t>(out.size());
  const std::int64_t count = entry.info.count();
  if (n_bytes % element != 0 || first < 0 || first > count || n_bytes / element > count - first) {
    impl_->fail("wrong_range", fmt::format("a range of the {} elements of \"{}\"", count, name),
                fmt::format("{} to {}", first, first + n_bytes / element), "is it another file than it was?");
  }
  impl_->file.read(impl_->data_begin + entry.begin + static_cast<std::uint64_t>(first * element), out);
  if (n_bytes == count * element) impl_->compare(name, core::crc32c(out));
}

std::string SafetensorsSource::attribute(const std::string& object, const std::string& key) const {
  const auto found = impl_->header.metadata.find(metadata_key(object, key));
  if (found == impl_->header.metadata.end()) {
    impl_->fail("no_attribute", fmt::format("an attribute \"{}\"", metadata_key(object, key)), "none",
                "was the file written by another program or version?");
  }
  return found->second;
}

bool SafetensorsSource::has_attribute(const std::string& object, const std::string& key) const {
  return impl_->header.metadata.contains(metadata_key(object, key));
}

std::string SafetensorsSource::location() const { return impl_->file.path(); }

void SafetensorsSource::verify() const {
  std::vector<std::byte> piece;
  for (const auto& [name, entry] : impl_->header.arrays) {
    if (impl_->checksum(name) == nullptr) continue;
    std::uint32_t computed = 0;
    for (std::uint64_t at = entry.begin; at < entry.end; at += piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(verified_at_once, entry.end - at)));
      impl_->file.read(impl_->data_begin + at, piece);
      computed = core::crc32c(piece, computed);
    }
    impl_->compare(name, computed);
  }
}

}  // namespace lodestone::engine
