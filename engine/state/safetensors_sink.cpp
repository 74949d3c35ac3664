// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "engine/core/crc32c.hpp"
#include "engine/core/error.hpp"
#include "engine/state/safetensors.hpp"
#include "engine/state/safetensors_header.hpp"

#include <algorithm>
#include <array>

namespace lodestone::engine {

using namespace safetensors;

// Arrays are kept until commit: where each one lies depends on all of them.
struct SafetensorsSink::Impl {
  explicit Impl(const std::filesystem::path& given) : path(given.string()) {
    const core::AtomicFile probe(path);  // an unwritable folder is reported before any work is done
  }

  void require_open() const {
    if (is_committed)
      throw core::InvalidArgument("engine::SafetensorsSink#written_after_commit",
                                  "{}: nothing can be written after commit", path);
  }

  std::string path;
  Header header;
  std::map<std::string, std::vector<std::byte>> bytes;
  bool is_committed = false;
};

SafetensorsSink::SafetensorsSink(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
SafetensorsSink::~SafetensorsSink() = default;

void SafetensorsSink::write(const std::string& name, const core::ArrayInfo& info,
                            std::span<const std::byte> bytes) {
  impl_->require_open();
  const std::size_t expected = static_cast<std::size_t>(info.count()) * core::size_of(info.dtype);
  if (bytes.size() != expected) {
    throw core::ShapeError("engine::SafetensorsSink#wrong_byte_count",
                           "{}: array \"{}\": expected {} bytes for its shape, got {}", impl_->path, name,
                           expected, bytes.size());
  }
  if (name.empty() || name == metadata_name ||
      !impl_->bytes.emplace(name, std::vector(bytes.begin(), bytes.end())).second) {
    throw core::InvalidArgument("engine::SafetensorsSink#array_exists",
                                "{}: expected a new array name, got \"{}\"; write each array once",
                                impl_->path, name);
  }
  impl_->header.arrays[name].info = info;
  impl_->header.metadata[metadata_key(name, checksum_key)] = checksum_text(core::crc32c(bytes));
  if (core::is_complex(info.dtype))
    impl_->header.metadata[metadata_key(name, dtype_key)] = core::name_of(info.dtype);
}

void SafetensorsSink::attribute(const std::string& object, const std::string& key, const std::string& text) {
  impl_->require_open();
  if (key.empty() || key == checksum_key || key == dtype_key || key.find('@') != std::string::npos) {
    throw core::InvalidArgument(
        "engine::SafetensorsSink#reserved_attribute",
        "{}: expected an attribute other than crc32c and dtype and without '@', got \"{}\"; rename it",
        impl_->path, key);
  }
  impl_->header.metadata[metadata_key(object, key)] = text;
}

void SafetensorsSink::commit() {
  impl_->require_open();
  place(impl_->header);
  const std::string text = compose(impl_->header, impl_->path);
  std::array<std::byte, 8> length;
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<std::byte>(text.size() >> (8 * i));
  std::vector<std::span<const std::byte>> pieces{length, std::as_bytes(std::span(text))};
  std::vector<std::pair<std::uint64_t, std::span<const std::byte>>> data;
  for (const auto& [name, entry] : impl_->header.arrays) data.emplace_back(entry.end, impl_->bytes.at(name));
  std::sort(data.begin(), data.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [end, bytes] : data) pieces.push_back(bytes);
  core::write_file(impl_->path, pieces);
  core::remove_leftovers(impl_->path);
  impl_->is_committed = true;
  impl_->bytes.clear();
}

}  // namespace lodestone::engine
