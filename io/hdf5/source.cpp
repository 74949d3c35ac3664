// SPDX-License-Identifier: Apache-2.0
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "engine/core/regular_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/trailer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <unistd.h>

namespace lodestone::io::hdf5 {

using hdf5::Handle;

namespace {

constexpr std::uint64_t largest_deflation = 1032;  // of bytes by deflate, the filter of our files

/// The presentation of a stored array: its dtype and shape, and the memory type of one stored element.
struct Presented {
  core::ArrayInfo info;
  Handle memory_type;
  std::size_t stored_element_bytes = 0;  ///< differs from the dtype's size for texts
};

/// Returns true where the members of a compound lie within it, one behind the other. HDF5 does not check this
/// of a damaged file, and reads beyond its buffers.
bool has_room_for_members(hid_t type) {
  std::size_t end = 0;
  for (unsigned member = 0; member < 2; ++member) {
    const Handle each(H5Tget_member_type(type, member), H5Tclose);
    const std::size_t size = H5Tget_size(each.get()), offset = H5Tget_member_offset(type, member);
    if ((size != 4 && size != 8) || offset < end || offset + size > H5Tget_size(type)) return false;
    end = offset + size;
  }
  return true;
}

bool is_complex(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) {
    return false;
  }
  for (unsigned member = 0; member < 2; ++member) {
    char* name = H5Tget_member_name(type, member);
    const bool named = name != nullptr && std::strcmp(name, member == 0 ? "r" : "i") == 0;
    H5free_memory(name);
    if (!named || H5Tget_member_class(type, member) != H5T_FLOAT) {
      return false;
    }
  }
  return has_room_for_members(type);
}

core::DType present_integer(hid_t type) {
  const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  switch (H5Tget_size(type)) {
    case 1:
      return is_signed ? core::DType::i8 : core::DType::u8;
    case 4:
      return is_signed ? core::DType::i32 : core::DType::u32;
    case 8:
      return is_signed ? core::DType::i64 : core::DType::u64;
    default:
      return core::DType::i64;  // has room for 16 bits
  }
}

bool present_as(hid_t type, core::DType& dtype) {
  const std::size_t size = H5Tget_size(type);
  const auto is_stored_as = [&](core::DType candidate) {
    return H5Tequal(type, hdf5::memory_type(candidate).get()) > 0;
  };
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      dtype = present_integer(type);
      return true;
    case H5T_ENUM:
      dtype = core::DType::b8;
      return is_stored_as(dtype);
    case H5T_FLOAT:
      dtype = size <= 4 ? core::DType::f32 : core::DType::f64;
      for (const core::DType half : {core::DType::bf16, core::DType::f16}) {
        if (is_stored_as(half)) dtype = half;
      }
      return true;
    case H5T_COMPOUND:
      dtype = size <= 8 ? core::DType::c64 : core::DType::c128;
      return is_complex(type);
    default:
      return false;
  }
}

}  // namespace

struct Hdf5Source::Impl {
  explicit Impl(const std::filesystem::path& given) : path(given.string()) {
    n_bytes = core::require_regular_file(path);
    if (::access(path.c_str(), R_OK) != 0) {
      throw core::FileError("io::hdf5::Hdf5Source#unreadable",
                            "{}: expected a readable HDF5 file, got: {}; check its permissions", path,
                            std::strerror(errno));
    }
    if (H5Fis_hdf5(path.c_str()) <= 0) {
      throw core::FormatError(
          "io::hdf5::Hdf5Source#not_hdf5",
          "{}: expected an HDF5 file, got something else (no HDF5 signature); is it the right file?", path);
    }
    require_unchanged(path);
    file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.valid()) {
      throw core::FormatError(
          "io::hdf5::Hdf5Source#damaged",
          "{}: expected a whole HDF5 file, got one that is cut off or damaged ({}); copy or write it again",
          path, hdf5::last_error());
    }
  }

  [[noreturn]] void fail(const char* id, const std::string& object, const std::string& got) const {
    throw core::FormatError(fmt::format("io::hdf5::Hdf5Source#{}", id), "{}: expected to read '{}', got: {}",
                            path, object, got);
  }

  [[nodiscard]] bool exists(const std::string& name) const {
    if (name.empty()) {
      return false;
    }
    for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
      if (end > 0 && H5Lexists(file.get(), name.substr(0, end).c_str(), H5P_DEFAULT) <= 0) {
        return false;
      }
    }
    return H5Lexists(file.get(), name.c_str(), H5P_DEFAULT) > 0;
  }

  [[nodiscard]] bool is_array(const std::string& name) const {
    H5O_info_t info;
    return exists(name) &&
           H5Oget_info_by_name2(file.get(), name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
           info.type == H5O_TYPE_DATASET;
  }

  [[nodiscard]] Handle open_array(const std::string& name) const {
    if (!is_array(name)) {
      fail("no_array", name, "no array of that name; was the file written by another program or version?");
    }
    Handle dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) {
      fail("unreadable_array", name, hdf5::last_error());
    }
    return dataset;
  }

  /// Refuses an array that the bytes of the file cannot hold, before memory is taken for it.
  void require_room(const std::string& name, hid_t dataset, const std::vector<hsize_t>& shape,
                    std::size_t element_bytes) const {
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    const bool is_filtered = properties.valid() && H5Pget_nfilters(properties.get()) > 0;
    const std::uint64_t most = n_bytes * (is_filtered ? largest_deflation : 1);
    if (std::ranges::count(shape, hsize_t{0}) > 0) return;
    std::uint64_t rest = most / std::max<std::uint64_t>(1, element_bytes);
    for (const hsize_t n : shape) rest /= n;  // no product that could overflow
    if (rest == 0)
      fail("too_many_elements", name,
           fmt::format("an array of shape [{}], which a file of {} bytes cannot hold; the file is damaged",
                       fmt::join(shape, ", "), n_bytes));
  }

  [[nodiscard]] Presented present(const std::string& name, hid_t dataset) const {
    Presented result;
    const Handle space(H5Dget_space(dataset), H5Sclose);
    std::vector<hsize_t> shape(
        static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get()))));
    H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
    result.info.shape.assign(shape.begin(), shape.end());
    const Handle type(H5Dget_type(dataset), H5Tclose);
    require_room(name, dataset, shape, H5Tget_size(type.get()));
    if (H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0) {
      result.stored_element_bytes = H5Tget_size(type.get());
      result.info.dtype = core::DType::u8;
      result.info.shape.push_back(static_cast<std::int64_t>(result.stored_element_bytes));
      result.memory_type = Handle(H5Tcopy(type.get()), H5Tclose);
      return result;
    }
    if (!present_as(type.get(), result.info.dtype)) {
      fail("unknown_elements", name,
           "elements that are neither integer, boolean, real, complex {r, i} nor fixed-length text");
    }
    result.memory_type = hdf5::memory_type(result.info.dtype);
    result.stored_element_bytes = core::size_of(result.info.dtype);
    return result;
  }

  void read_rows(const std::string& name, const Handle& dataset, const Presented& array, std::int64_t first,
                 std::int64_t n, std::byte* out) const {
    const Handle space(H5Dget_space(dataset.get()), H5Sclose);
    Handle memory(H5Scopy(space.get()), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank > 0) {
      std::vector<hsize_t> start(static_cast<std::size_t>(rank), 0), size(static_cast<std::size_t>(rank), 0);
      H5Sget_simple_extent_dims(space.get(), size.data(), nullptr);
      start[0] = static_cast<hsize_t>(first);
      size[0] = static_cast<hsize_t>(n);
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
      memory = Handle(H5Screate_simple(rank, size.data(), nullptr), H5Sclose);
    }
    if (H5Dread(dataset.get(), array.memory_type.get(), memory.get(), space.get(), H5P_DEFAULT, out) < 0) {
      fail("unreadable_array", name, hdf5::last_error());
    }
  }

  /// Returns an attribute of an object; an invalid handle where there is none.
  [[nodiscard]] Handle attribute(const std::string& object, const std::string& key) const {
    const std::string where = object.empty() ? "/" : object;
    const Handle at(object.empty() || exists(object) ? H5Oopen(file.get(), where.c_str(), H5P_DEFAULT) : -1,
                    H5Oclose);
    const bool is_there = at.valid() && H5Aexists(at.get(), key.c_str()) > 0;
    return {is_there ? H5Aopen(at.get(), key.c_str(), H5P_DEFAULT) : -1, H5Aclose};
  }

  /// Returns the class of an attribute that holds one element; H5T_NO_CLASS for another.
  static H5T_class_t class_of(const Handle& attribute) {
    if (!attribute.valid()) return H5T_NO_CLASS;
    const Handle space(H5Aget_space(attribute.get()), H5Sclose), type(H5Aget_type(attribute.get()), H5Tclose);
    return H5Sget_simple_extent_npoints(space.get()) == 1 ? H5Tget_class(type.get()) : H5T_NO_CLASS;
  }

  [[nodiscard]] std::string attribute_text(const std::string& shown, const Handle& attribute) const {
    const Handle type(H5Aget_type(attribute.get()), H5Tclose);
    const Handle space(H5Aget_space(attribute.get()), H5Sclose);
    if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1) {
      fail("not_a_text", shown, "an attribute that is not one text");
    }
    if (H5Tis_variable_str(type.get()) > 0) {
      char* text = nullptr;
      if (H5Aread(attribute.get(), type.get(), &text) < 0 || text == nullptr) {
        fail("unreadable_attribute", shown, hdf5::last_error());
      }
      std::string result = core::clean_text(text);
      H5free_memory(text);
      return result;
    }
    if (H5Tget_size(type.get()) > n_bytes) fail("unreadable_attribute", shown, "a text longer than the file");
    std::string result(H5Tget_size(type.get()), '\0');
    if (H5Aread(attribute.get(), type.get(), result.data()) < 0) {
      fail("unreadable_attribute", shown, hdf5::last_error());
    }
    return core::clean_text(result.c_str());
  }

  std::string path;
  std::uint64_t n_bytes = 0;  ///< size of the whole file
  Handle file;
};

Hdf5Source::Hdf5Source(const std::filesystem::path& path) {
  const hdf5::QuietErrors quiet;
  impl_ = std::make_unique<Impl>(path);
}

Hdf5Source::~Hdf5Source() {
  const hdf5::QuietErrors quiet;
  impl_.reset();
}

bool Hdf5Source::contains(const std::string& name) const {
  const hdf5::QuietErrors quiet;
  return impl_->is_array(name);
}

std::vector<std::string> Hdf5Source::names() const {
  const hdf5::QuietErrors quiet;
  std::vector<std::string> links;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  };
  if (H5Lvisit(impl_->file.get(), H5_INDEX_NAME, H5_ITER_INC, collect, &links) < 0) {
    impl_->fail("unreadable_names", "/", hdf5::last_error());
  }
  std::erase_if(links, [&](const std::string& name) { return !impl_->is_array(name); });
  std::sort(links.begin(), links.end());
  return links;
}

core::ArrayInfo Hdf5Source::info(const std::string& name) const {
  const hdf5::QuietErrors quiet;
  const Handle dataset = impl_->open_array(name);
  return impl_->present(name, dataset.get()).info;
}

std::string Hdf5Source::location() const { return impl_->path; }

void Hdf5Source::read(const std::string& name, std::int64_t first, std::span<std::byte> out) const {
  const hdf5::QuietErrors quiet;
  const Handle dataset = impl_->open_array(name);
  const Presented array = impl_->present(name, dataset.get());
  const std::size_t element = core::size_of(array.info.dtype);
  const auto count = static_cast<std::int64_t>(out.size() / element);
  if (out.size() % element != 0 || first < 0 || count > array.info.count() - first) {
    impl_->fail(
        "outside_array", name,
        fmt::format("a request for elements {} to {} of {}", first, first + count, array.info.count()));
  }
  if (count == 0) {
    return;
  }
  // Whole rows of the first dimension that cover the range are read; the range is cut out of them.
  const std::int64_t n_rows_stored = array.info.shape.empty() ? 1 : array.info.shape[0];
  const std::int64_t per_row = array.info.count() / n_rows_stored;
  const std::int64_t first_row = first / per_row;
  const std::int64_t n_rows = (first + count - 1) / per_row - first_row + 1;
  const std::size_t bytes = static_cast<std::size_t>(n_rows * per_row) * element;
  if (bytes == out.size()) {
    impl_->read_rows(name, dataset, array, first_row, n_rows, out.data());
    return;
  }
  std::vector<std::byte> rows(bytes);
  impl_->read_rows(name, dataset, array, first_row, n_rows, rows.data());
  std::memcpy(out.data(), rows.data() + static_cast<std::size_t>(first - first_row * per_row) * element,
              out.size());
}

std::string Hdf5Source::attribute(const std::string& object, const std::string& key) const {
  const hdf5::QuietErrors quiet;
  const std::string shown = (object.empty() ? "/" : object) + "@" + key;
  const Handle attribute = impl_->attribute(object, key);
  if (!attribute.valid()) {
    impl_->fail("no_attribute", shown, "no attribute of that name");
  }
  return impl_->attribute_text(shown, attribute);
}

bool Hdf5Source::has_attribute(const std::string& object, const std::string& key) const {
  const hdf5::QuietErrors quiet;
  const std::string where = object.empty() ? "/" : object;
  return (object.empty() || impl_->exists(object)) &&
         H5Aexists_by_name(impl_->file.get(), where.c_str(), key.c_str(), H5P_DEFAULT) > 0;
}

bool Hdf5Source::has_text(const std::string& object, const std::string& key) const {
  const hdf5::QuietErrors quiet;
  return Impl::class_of(impl_->attribute(object, key)) == H5T_STRING;
}

std::optional<double> Hdf5Source::number(const std::string& object, const std::string& key) const {
  if (has_text(object, key)) {
    const std::string text = attribute(object, key);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number ? std::optional(value) : std::nullopt;
  }
  const hdf5::QuietErrors quiet;
  const Handle attribute = impl_->attribute(object, key);
  const H5T_class_t kind = Impl::class_of(attribute);
  double value = 0.0;
  if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) < 0)
    return {};
  return value;
}

}  // namespace lodestone::io::hdf5
