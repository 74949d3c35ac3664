// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/trailer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace lodestone::io::hdf5 {

using hdf5::Handle;

namespace {

constexpr std::size_t max_attribute_bytes =
    60000;  // HDF5 keeps attributes in object headers of at most 64 KiB
constexpr std::size_t growth_bytes = std::size_t{1} << 20;
constexpr hsize_t chunk_elements = 1 << 15;

Handle dataspace(const std::vector<hsize_t>& shape) {
  return {shape.empty() ? H5Screate(H5S_SCALAR)
                        : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
          H5Sclose};
}

/// Returns whole rows of about `chunk_elements` elements.
std::vector<hsize_t> chunk_shape(const std::vector<hsize_t>& shape) {
  std::vector<hsize_t> chunk = shape;
  hsize_t budget = chunk_elements;
  for (std::size_t k = shape.size(); k-- > 0;) {
    chunk[k] = std::clamp<hsize_t>(budget, 1, shape[k]);
    budget /= chunk[k];
  }
  return chunk;
}

}  // namespace

// The file is built in memory and written by ourselves at commit: when the disk is full, HDF5 1.10 leaves
// identifiers that cannot be closed and crash the process at its end.
struct Hdf5Sink::Impl {
  Impl(const std::filesystem::path& given_path, const Hdf5Options& given)
      : path(given_path.string()), options(given) {
    const core::AtomicFile probe(path);  // an unwritable folder is reported before any work is done
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access.get(), growth_bytes, false);
    file = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
    if (!file.valid()) {
      fail("", "creating the file");
    }
    link_creation = Handle(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(link_creation.get(), 1);
  }

  [[noreturn]] void fail(const std::string& object, const char* doing) const {
    throw core::FileError("io::hdf5::Hdf5Sink#not_written", "{}: {} '{}' failed: {}", path, doing, object,
                          hdf5::last_error());
  }

  void require_open() const {
    if (!file.valid()) {
      throw core::InvalidArgument("io::hdf5::Hdf5Sink#committed", "{}: nothing can be written after commit",
                                  path);
    }
  }

  /// Returns true when every link of the path exists.
  [[nodiscard]] bool exists(const std::string& name) const {
    for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
      if (end > 0 && H5Lexists(file.get(), name.substr(0, end).c_str(), H5P_DEFAULT) <= 0) {
        return false;
      }
    }
    return H5Lexists(file.get(), name.c_str(), H5P_DEFAULT) > 0;
  }

  [[nodiscard]] Handle creation(const std::vector<hsize_t>& shape, std::int64_t bytes) const {
    Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties.get(), false);  // the same arrays, the same bytes
    if (!shape.empty() && bytes > 0 && options.compress_from_bytes >= 0 &&
        bytes >= options.compress_from_bytes) {
      const std::vector<hsize_t> chunk = chunk_shape(shape);
      H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
      H5Pset_shuffle(properties.get());
      H5Pset_deflate(properties.get(), static_cast<unsigned>(options.gzip_level));
    }
    return properties;
  }

  void write_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
                     std::span<const std::byte> bytes) {
    require_open();
    if (name.empty() || exists(name)) {
      throw core::InvalidArgument("io::hdf5::Hdf5Sink#name_not_new",
                                  "{}: expected a new array name, got '{}' again; write each array once",
                                  path, name);
    }
    const Handle space = dataspace(shape);
    const Handle properties = creation(shape, static_cast<std::int64_t>(bytes.size()));
    const Handle dataset(H5Dcreate2(file.get(), name.c_str(), type, space.get(), link_creation.get(),
                                    properties.get(), H5P_DEFAULT),
                         H5Dclose);
    if (!dataset.valid()) {
      fail(name, "creating array");
    }
    if (!bytes.empty() && H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
      fail(name, "writing array");
    }
  }

  [[nodiscard]] Handle open_object(const std::string& object) {
    if (object.empty() || object == "/") {
      return {H5Oopen(file.get(), "/", H5P_DEFAULT), H5Oclose};
    }
    if (!exists(object)) {
      return {H5Gcreate2(file.get(), object.c_str(), link_creation.get(), H5P_DEFAULT, H5P_DEFAULT),
              H5Gclose};
    }
    return {H5Oopen(file.get(), object.c_str(), H5P_DEFAULT), H5Oclose};
  }

  std::string path;
  Hdf5Options options;
  Handle file, link_creation;
};

Hdf5Sink::Hdf5Sink(const std::filesystem::path& path, const Hdf5Options& options) {
  const hdf5::QuietErrors quiet;
  impl_ = std::make_unique<Impl>(path, options);
}

Hdf5Sink::~Hdf5Sink() {
  const hdf5::QuietErrors quiet;
  impl_.reset();
}

void Hdf5Sink::write(const std::string& name, const core::ArrayInfo& info, std::span<const std::byte> bytes) {
  const hdf5::QuietErrors quiet;
  const std::size_t expected = static_cast<std::size_t>(info.count()) * core::size_of(info.dtype);
  if (bytes.size() != expected) {
    throw core::ShapeError("io::hdf5::Hdf5Sink#wrong_bytes",
                           "array '{}': expected {} bytes for its shape, got {}", name, expected,
                           bytes.size());
  }
  const std::vector<hsize_t> shape(info.shape.begin(), info.shape.end());
  impl_->write_dataset(name, hdf5::memory_type(info.dtype).get(), shape, bytes);
}

void Hdf5Sink::texts(const std::string& name, const std::vector<std::string>& texts) {
  const hdf5::QuietErrors quiet;
  std::size_t width = 1;
  for (const std::string& text : texts) {
    width = std::max(width, text.size());
  }
  std::vector<std::byte> bytes(width * texts.size());
  for (std::size_t k = 0; k < texts.size(); ++k) {
    std::memcpy(bytes.data() + k * width, texts[k].data(), texts[k].size());
  }
  impl_->write_dataset(name, hdf5::text_type(width).get(), {texts.size()}, bytes);
}

void Hdf5Sink::attribute(const std::string& object, const std::string& key, const std::string& text) {
  const hdf5::QuietErrors quiet;
  impl_->require_open();
  if (text.size() > max_attribute_bytes) {
    throw core::InvalidArgument(
        "io::hdf5::Hdf5Sink#long_attribute",
        "attribute '{}' of '{}': expected at most {} bytes, got {}; write a text array instead", key, object,
        max_attribute_bytes, text.size());
  }
  const Handle at = impl_->open_object(object);
  if (at.valid() && H5Aexists(at.get(), key.c_str()) > 0) {
    H5Adelete(at.get(), key.c_str());
  }
  const Handle type = hdf5::text_type(text.size());
  const Handle space = dataspace({});
  const Handle attribute(H5Acreate2(at.get(), key.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  const std::string padded = text.empty() ? std::string(1, '\0') : text;
  if (!attribute.valid() || H5Awrite(attribute.get(), type.get(), padded.data()) < 0) {
    impl_->fail(object + "@" + key, "writing attribute");
  }
}

void Hdf5Sink::commit() {
  const hdf5::QuietErrors quiet;
  impl_->require_open();
  if (H5Fflush(impl_->file.get(), H5F_SCOPE_GLOBAL) < 0) {
    impl_->fail("/", "flushing");
  }
  const ssize_t size = H5Fget_file_image(impl_->file.get(), nullptr, 0);
  std::vector<char> image(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (size <= 0 || H5Fget_file_image(impl_->file.get(), image.data(), image.size()) != size) {
    impl_->fail("/", "taking the image of");
  }
  impl_->file.reset();
  const std::string trailer = trailer_of(image);
  const std::array pieces{std::as_bytes(std::span(image)), std::as_bytes(std::span(trailer))};
  core::write_file(impl_->path, pieces);
}

}  // namespace lodestone::io::hdf5
