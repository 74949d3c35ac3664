// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/hdf5_text.hpp"

#include "io/text/scan.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

namespace lodestone::tests::fuzz {
namespace {

constexpr hsize_t most_written = 65536;
constexpr std::size_t most_axes = 6;

/// A type in memory and in the file; texts of any length are pointers.
struct Type {
  hid_t id = -1;
  std::size_t bytes = 0;
  char kind = 'f';
  bool is_compressed = false;
};

struct Close {
  hid_t id;
  herr_t (*close)(hid_t);
  ~Close() {
    if (id >= 0) close(id);
  }
};

std::string unescaped(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '\\' || i + 1 == word.size()) {
      out += word[i];
      continue;
    }
    const char c = word[++i];
    if (c != '0') out += c == 's' ? ' ' : c == 'n' ? '\n' : c;
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == ' ')
      out += "\\s";
    else if (c == '\n')
      out += "\\n";
    else if (c != '\r' && c != '\t' && c != '\0')
      out += c;
  }
  return out.empty() ? "\\0" : out;
}

hid_t complex_type(std::size_t bytes) {
  const hid_t part = bytes == 8 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  const hid_t id = H5Tcreate(H5T_COMPOUND, bytes);
  H5Tinsert(id, "r", 0, part);
  H5Tinsert(id, "i", bytes / 2, part);
  return id;
}

hid_t boolean_type() {
  const hid_t id = H5Tenum_create(H5T_NATIVE_INT8);
  for (const std::int8_t value : {std::int8_t{0}, std::int8_t{1}})
    H5Tenum_insert(id, value == 0 ? "FALSE" : "TRUE", &value);
  return id;
}

hid_t text_type(std::size_t bytes) {
  const hid_t id = H5Tcopy(H5T_C_S1);
  H5Tset_size(id, bytes);
  H5Tset_cset(id, H5T_CSET_UTF8);
  H5Tset_strpad(id, H5T_STR_NULLPAD);
  return id;
}

hid_t number_type(char kind, std::size_t bytes) {
  const bool is_signed = kind == 'i';
  switch (bytes) {
    case 1:
      return is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
    case 2:
      return is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
    case 4:
      return is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
    default:
      return is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
  }
}

/// Returns the type of a word, which the caller closes; none for another word.
std::optional<Type> type_of(std::string_view word) {
  if (word.size() < 2) return {};
  Type type;
  type.is_compressed = word.ends_with('~');
  if (type.is_compressed) word.remove_suffix(1);
  type.kind = word[0];
  if (word == "sv") {
    type.bytes = sizeof(char*);
    type.kind = 'v';
    type.id = text_type(H5T_VARIABLE);
    return type;
  }
  const int n = io::text::integer(word.substr(1)).value_or(0);
  const auto is_one_of = [n](std::initializer_list<int> sizes) { return std::ranges::count(sizes, n) > 0; };
  type.bytes = static_cast<std::size_t>(std::max(n, 0));
  if (type.kind == 'f' && is_one_of({4, 8}))
    type.id = H5Tcopy(n == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE);
  else if ((type.kind == 'i' || type.kind == 'u') && is_one_of({1, 2, 4, 8}))
    type.id = H5Tcopy(number_type(type.kind, type.bytes));
  else if (type.kind == 'b' && n == 1)
    type.id = boolean_type();
  else if (type.kind == 'c' && is_one_of({8, 16}))
    type.id = complex_type(type.bytes);
  else if (type.kind == 's' && n > 0 && n <= 4096)
    type.id = text_type(type.bytes);
  return type.id < 0 ? std::nullopt : std::optional(type);
}

/// Returns the lengths of the axes; none for a word that is no shape.
std::optional<std::vector<hsize_t>> shape_of(std::string_view word) {
  std::vector<hsize_t> shape;
  if (word == "-") return shape;
  while (!word.empty()) {
    const std::size_t end = std::min(word.find('x'), word.size());
    const std::string digits(word.substr(0, end));
    if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos || digits.size() > 18 ||
        shape.size() == most_axes)
      return {};
    shape.push_back(std::strtoull(digits.c_str(), nullptr, 10));
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return shape;
}

double number_in(std::string_view word) { return io::text::number(word).value_or(0.0); }

/// Puts a number into the bytes of an element, or of half of a complex one.
void put_number(char* to, char kind, std::size_t bytes, std::string_view word) {
  if (kind == 'f') {
    const double value = number_in(word);
    const auto narrow = static_cast<float>(value);
    bytes == 8 ? std::memcpy(to, &value, 8) : std::memcpy(to, &narrow, 4);
    return;
  }
  const std::string digits(word);
  const long long value = std::strtoll(digits.c_str(), nullptr, 10);
  std::memcpy(to, &value, bytes);  // lowest bytes first, as on all machines that the project runs on
}

/// The values of a line as bytes in memory, with the texts that pointers among them point to.
struct Values {
  std::vector<char> bytes;
  std::vector<std::string> texts;
};

Values values_of(const Type& type, std::size_t n, std::span<const std::string_view> words) {
  Values values{std::vector<char>(n * type.bytes), {}};
  values.texts.resize(n);  // their places stay
  const std::size_t n_parts = type.kind == 'c' ? 2 : 1, part_bytes = type.bytes / n_parts;
  for (std::size_t i = 0; i < n; ++i) {
    char* to = values.bytes.data() + i * type.bytes;
    const std::string_view word = i < words.size() ? words[i] : "\\0";
    if (type.kind == 's' || type.kind == 'v') values.texts[i] = unescaped(word);
    if (type.kind == 's') {
      std::memcpy(to, values.texts[i].data(), std::min(values.texts[i].size(), type.bytes));
    } else if (type.kind == 'v') {
      const char* text = values.texts[i].c_str();
      std::memcpy(to, &text, sizeof text);
    } else {
      for (std::size_t part = 0; part < n_parts; ++part) {
        const std::size_t at = i * n_parts + part;
        put_number(to + part * part_bytes, type.kind == 'c' ? 'f' : type.kind, part_bytes,
                   at < words.size() ? words[at] : std::string_view());
      }
    }
  }
  return values;
}

/// Returns the number of elements; none where it is more than is written.
std::optional<std::size_t> count_of(const std::vector<hsize_t>& shape) {
  hsize_t n = 1;
  for (const hsize_t each : shape) {
    if (each > most_written || (n *= each) > most_written) return {};
  }
  return static_cast<std::size_t>(n);
}

hid_t space_of(std::string_view word, const std::vector<hsize_t>& shape) {
  if (word == "null") return H5Screate(H5S_NULL);
  return shape.empty() ? H5Screate(H5S_SCALAR)
                       : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
}

void set_chunks(hid_t properties, std::vector<hsize_t> shape) {
  for (hsize_t& n : shape) n = std::clamp<hsize_t>(n, 1, 16);
  H5Pset_chunk(properties, static_cast<int>(shape.size()), shape.data());
  H5Pset_deflate(properties, 1);
}

/// Writes the object of a line whose words begin with its type.
void write_object(hid_t file, const std::string& object, const std::optional<std::string>& key,
                  std::span<const std::string_view> words) {
  if (words.size() < 2) return;
  const auto type = type_of(words[0]);
  if (!type) return;
  const Close close_type{type->id, H5Tclose};
  const auto shape = words[1] == "null" ? std::vector<hsize_t>{} : shape_of(words[1]);
  if (!shape) return;
  const Close space{space_of(words[1], *shape), H5Sclose};
  const auto n = count_of(*shape);
  const bool is_written = n && words[1] != "null" && (key || !type->is_compressed || words.size() > 2);
  const Values values = values_of(*type, is_written ? *n : 0, words.subspan(2));
  if (key) {
    const Close at{H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose};
    const Close attribute{H5Acreate2(at.id, key->c_str(), type->id, space.id, H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose};
    if (attribute.id >= 0 && is_written) H5Awrite(attribute.id, type->id, values.bytes.data());
    return;
  }
  const Close links{H5Pcreate(H5P_LINK_CREATE), H5Pclose},
      properties{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  H5Pset_create_intermediate_group(links.id, 1);
  if (type->is_compressed && !shape->empty()) set_chunks(properties.id, *shape);
  const Close dataset{
      H5Dcreate2(file, object.c_str(), type->id, space.id, links.id, properties.id, H5P_DEFAULT), H5Dclose};
  if (dataset.id >= 0 && is_written)
    H5Dwrite(dataset.id, type->id, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.bytes.data());
}

/// Makes the group that attributes are written beside, where the object is not there.
void make_group(hid_t file, const std::string& name) {
  const Close links{H5Pcreate(H5P_LINK_CREATE), H5Pclose};
  H5Pset_create_intermediate_group(links.id, 1);
  const Close there{H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose};
  if (there.id >= 0) return;
  const Close group{H5Gcreate2(file, name.c_str(), links.id, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

}  // namespace

void write_hdf5(std::string_view text, const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Close file{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = io::text::words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.size() < 4) continue;
    const std::string object = unescaped(words[1]);
    if (object.find('\0') != object.npos) continue;
    if (words[0] == "attribute") make_group(file.id, object);
    if (words[0] == "array")
      write_object(file.id, object, {}, std::span(words).subspan(2));
    else if (words[0] == "attribute" && words.size() > 4)
      write_object(file.id, object, unescaped(words[2]), std::span(words).subspan(3));
  }
}

namespace {

/// Returns the word of a stored type; empty for one that texts do not have.
std::string word_of(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}{}", H5Tget_sign(type) == H5T_SGN_2 ? 'i' : 'u', bytes);
    case H5T_FLOAT:
      return bytes == 4 || bytes == 8 ? fmt::format("f{}", bytes) : "";
    case H5T_ENUM:
      return bytes == 1 ? "b1" : "";
    case H5T_COMPOUND:
      return H5Tget_nmembers(type) == 2 && (bytes == 8 || bytes == 16) ? fmt::format("c{}", bytes) : "";
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? "sv" : fmt::format("s{}", bytes);
    default:
      return "";
  }
}

std::string word_of_number(const char* from, char kind, std::size_t bytes) {
  if (kind == 'f') {
    double value = 0.0;
    float narrow = 0.0F;
    std::memcpy(bytes == 8 ? static_cast<void*>(&value) : static_cast<void*>(&narrow), from, bytes);
    return bytes == 8 ? fmt::format("{}", value) : fmt::format("{}", narrow);
  }
  long long value = 0;
  std::memcpy(&value, from, bytes);
  if (kind == 'i' && bytes < 8 && value >> (8 * bytes - 1) != 0) value -= 1LL << (8 * bytes);
  return std::to_string(value);
}

std::string values_text(const Type& type, std::size_t n, const std::vector<char>& bytes) {
  std::string out;
  const std::size_t n_parts = type.kind == 'c' ? 2 : 1, part_bytes = type.bytes / n_parts;
  for (std::size_t i = 0; i < n; ++i) {
    const char* from = bytes.data() + i * type.bytes;
    if (type.kind == 's') {
      out += " " + escaped({from, strnlen(from, type.bytes)});
    } else if (type.kind == 'v') {
      const char* text = nullptr;
      std::memcpy(&text, from, sizeof text);
      out += " " + escaped(text == nullptr ? "" : text);
    } else {
      for (std::size_t part = 0; part < n_parts; ++part)
        out += " " + word_of_number(from + part * part_bytes, type.kind == 'c' ? 'f' : type.kind, part_bytes);
    }
  }
  return out;
}

/// Returns type, shape and values of a dataset or an attribute; empty for what texts do not have.
std::string content(hid_t object, bool is_array, std::size_t most) {
  const Close stored{is_array ? H5Dget_type(object) : H5Aget_type(object), H5Tclose};
  const Close space{is_array ? H5Dget_space(object) : H5Aget_space(object), H5Sclose};
  const std::string word = word_of(stored.id);
  const auto type = type_of(word);
  if (!type) return {};
  const Close close_type{type->id, H5Tclose};
  if (H5Sget_simple_extent_type(space.id) == H5S_NULL) return word + " null";
  std::array<hsize_t, H5S_MAX_RANK> lengths{};
  const int rank = H5Sget_simple_extent_dims(space.id, lengths.data(), nullptr);
  std::string shape = rank == 0 ? "-" : "";
  for (int axis = 0; axis < rank; ++axis)
    shape += fmt::format("{}{}", axis == 0 ? "" : "x", lengths[static_cast<std::size_t>(axis)]);
  const auto n = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id));
  if (n > most) return {};
  std::vector<char> bytes(n * type->bytes);
  const herr_t status = is_array ? H5Dread(object, type->id, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data())
                                 : H5Aread(object, type->id, bytes.data());
  if (status < 0) return {};
  std::string text = word + " " + shape + values_text(*type, n, bytes);
  if (type->kind == 'v') H5Dvlen_reclaim(type->id, space.id, H5P_DEFAULT, bytes.data());
  return text;
}

struct Visit {
  std::string text;
  std::size_t most;
};

herr_t visit_object(hid_t file, const char* name, const H5O_info_t* info, void* data) {
  Visit& visit = *static_cast<Visit*>(data);
  const std::string object = std::string_view(name) == "." ? "/" : name;
  const Close opened{H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose};
  if (info->type == H5O_TYPE_DATASET) {
    const std::string values = content(opened.id, true, visit.most);
    if (values.empty()) return 0;
    visit.text += fmt::format("array {} {}\n", escaped(object), values);
  }
  const int n = static_cast<int>(info->num_attrs);
  for (int i = 0; i < n; ++i) {
    const Close attribute{H5Aopen_by_idx(opened.id, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(i),
                                         H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose};
    std::array<char, 256> key{};
    H5Aget_name(attribute.id, key.size(), key.data());
    const std::string values = content(attribute.id, false, visit.most);
    if (!values.empty())
      visit.text += fmt::format("attribute {} {} {}\n", escaped(object), escaped(key.data()), values);
  }
  return 0;
}

}  // namespace

std::string text_of_hdf5(const std::string& path, std::size_t most) {
  const Close file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  Visit visit{{}, most};
  H5Ovisit2(file.id, H5_INDEX_NAME, H5_ITER_INC, visit_object, &visit, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS);
  return visit.text;
}

}  // namespace lodestone::tests::fuzz
