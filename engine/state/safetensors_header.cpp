// SPDX-License-Identifier: Apache-2.0
#include "engine/state/safetensors_header.hpp"

#include "engine/core/crc32c.hpp"
#include "engine/core/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace lodestone::engine::safetensors {
namespace {

using core::DType;
using Json = nlohmann::json;

constexpr std::string_view opening =
    R"({"__metadata__":{"crc32c":")";  // of our headers; the checksum follows
constexpr std::string_view no_checksum = "00000000";
constexpr int deepest = 3;  // {name: {data_offsets: [

/// Names of the format, in the order of `DType`; complex numbers are pairs of their real type.
constexpr std::array<std::string_view, core::n_dtypes> format_names{
    "BOOL", "I8", "U8", "I32", "U32", "I64", "U64", "BF16", "F16", "F32", "F64", "F32", "F64"};
std::string_view format_name(DType dtype) { return format_names[static_cast<std::size_t>(dtype)]; }

std::optional<DType> dtype_of_format(std::string_view name) {
  const auto found = std::find(format_names.begin(), format_names.end(), name);  // the first: the real one
  if (found == format_names.end()) return {};
  return static_cast<DType>(found - format_names.begin());
}

std::string quoted(const std::string& text, const std::string& path) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    throw core::InvalidArgument("engine::Safetensors#not_utf8",
                                "{}: expected names and texts in UTF-8, got \"{}\"", path, text);
  }
}

std::string entry_text(const Entry& entry) {
  std::vector<std::int64_t> shape = entry.info.shape;
  if (core::is_complex(entry.info.dtype)) shape.push_back(2);
  return fmt::format(R"({{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", format_name(entry.info.dtype),
                     fmt::join(shape, ","), entry.begin, entry.end);
}

/// Checks and reads one header; every error names the file.
class Parser {
 public:
  Parser(std::string_view text, std::uint64_t n_data, const std::string& path)
      : text_(text), n_data_(n_data), path_(path) {}

  Header header() {
    if (!text_.starts_with('{')) fail("no_object", "a header that begins with {", "something else");
    check_checksum();
    const Json json = parsed();
    Header result;
    if (const auto found = json.find(metadata_name); found != json.end()) result.metadata = metadata(*found);
    for (const auto& [name, value] : json.items()) {
      if (name != metadata_name) result.arrays.emplace(name, entry(name, value));
    }
    check_places(result);
    for (auto& [name, array] : result.arrays) declare_complex(name, array, result.metadata);
    return result;
  }

 private:
  template <class Expected, class Got>
  [[noreturn]] void fail(std::string_view id, const Expected& expected, const Got& got) const {
    throw core::FormatError(fmt::format("engine::Safetensors#{}", id),
                            "{}: expected {}, got {}; the file is damaged or of another kind", path_,
                            expected, got);
  }

  /// The JSON tree, refused where a key comes twice: parsers disagree about which one counts.
  [[nodiscard]] Json parsed() const {
    std::array<std::set<std::string>, deepest + 1> keys;
    const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
      if (depth > deepest) fail("too_deep", "a header of three levels", "a deeper one");
      const auto level = static_cast<std::size_t>(depth);
      if (event == Json::parse_event_t::object_start && level < deepest) keys[level + 1].clear();
      if (event == Json::parse_event_t::key && !keys[level].insert(value.get<std::string>()).second) {
        fail("name_twice", "every name once", fmt::format("\"{}\" twice", value.get<std::string>()));
      }
      return true;
    };
    try {
      return Json::parse(text_.begin(), text_.end(), look);
    } catch (const Json::exception& error) {
      fail("no_json", "a JSON header", std::string_view(error.what()));
    }
  }

  [[nodiscard]] std::map<std::string, std::string> metadata(const Json& json) const {
    if (!json.is_object()) fail("wrong_metadata", "__metadata__ as an object of texts", "something else");
    std::map<std::string, std::string> result;
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string())
        fail("wrong_metadata", "texts in __metadata__", fmt::format("\"{}\" with something else", key));
      result.emplace(key, value.get<std::string>());
    }
    return result;
  }

  /// Our headers begin with their checksum, which was computed while zeros stood in its place.
  void check_checksum() const {
    if (!text_.starts_with(opening)) return;
    std::string blanked(text_);
    const std::string written = blanked.substr(opening.size(), no_checksum.size());
    blanked.replace(opening.size(), no_checksum.size(), no_checksum);
    const std::string computed = checksum_text(core::crc32c(std::as_bytes(std::span(blanked))));
    if (computed != written)
      fail("wrong_header_checksum", fmt::format("a header with checksum {}", written), computed);
  }

  [[nodiscard]] std::vector<std::uint64_t> integers(const std::string& name, const Json& object,
                                                    const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array())
      fail("no_list", fmt::format("array \"{}\" with {}", name, key), "none");
    std::vector<std::uint64_t> result;
    for (const Json& value : *found) {
      if (!value.is_number_unsigned())
        fail("wrong_whole_number", fmt::format("whole numbers as {} of \"{}\"", key, name), "something else");
      result.push_back(value.get<std::uint64_t>());
    }
    return result;
  }

  [[nodiscard]] Entry entry(const std::string& name, const Json& json) const {
    if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string()) {
      fail("wrong_entry", fmt::format("array \"{}\" with dtype, shape and data_offsets", name),
           "something else");
    }
    const std::string dtype_name = json["dtype"].get<std::string>();
    const std::optional<DType> dtype = dtype_of_format(dtype_name);
    if (!dtype) {
      throw core::FormatError("engine::Safetensors#unknown_dtype",
                              "{}: expected array \"{}\" as BOOL, I8, U8, I32, U32, I64, U64, BF16, F16, F32 "
                              "or F64, got {}; convert it",
                              path_, name, dtype_name);
    }
    Entry result;
    result.info.dtype = *dtype;
    std::uint64_t bytes = core::size_of(*dtype);
    for (const std::uint64_t extent : integers(name, json, "shape")) {
      constexpr std::uint64_t most = std::uint64_t{1} << 62;
      if (extent > most || (bytes != 0 && extent > most / bytes))
        fail("too_many_elements", fmt::format("a possible shape of \"{}\"", name), "too many elements");
      bytes *= extent;
      result.info.shape.push_back(static_cast<std::int64_t>(extent));
    }
    const std::vector<std::uint64_t> offsets = integers(name, json, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] - offsets[0] != bytes) {
      fail("wrong_span", fmt::format("data_offsets of \"{}\" that span {} bytes", name, bytes),
           fmt::format("[{}]", fmt::join(offsets, ", ")));
    }
    result.begin = offsets[0];
    result.end = offsets[1];
    return result;
  }

  /// One after the other, all of the data.
  void check_places(const Header& header) const {
    std::vector<std::pair<const Entry*, const std::string*>> order;
    for (const auto& [name, array] : header.arrays) order.emplace_back(&array, &name);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first->begin, a.first->end) < std::pair(b.first->begin, b.first->end);
    });
    std::uint64_t end = 0;
    for (const auto& [array, name] : order) {
      if (array->begin != end) {
        fail("wrong_place", fmt::format("array \"{}\" at byte {}, where the one before ends", *name, end),
             array->begin);
      }
      end = array->end;
    }
    if (end != n_data_) {
      throw core::FormatError("engine::Safetensors#wrong_data_size",
                              "{}: expected {} bytes of data, got {}; {}", path_, end, n_data_,
                              end > n_data_ ? "the file is cut off" : "there are bytes of no array");
    }
  }

  void declare_complex(const std::string& name, Entry& array,
                       const std::map<std::string, std::string>& metadata) const {
    const auto declared = metadata.find(metadata_key(name, dtype_key));
    if (declared == metadata.end()) return;
    const DType dtype = array.info.dtype == DType::f32 ? DType::c64 : DType::c128;
    const bool pairs =
        core::real_of(dtype) == array.info.dtype && !array.info.shape.empty() && array.info.shape.back() == 2;
    if (!pairs || declared->second != core::name_of(dtype)) {
      fail("wrong_pairs",
           fmt::format("array \"{}\", declared as {}, as pairs of reals", name, declared->second),
           fmt::format("{} of shape ({})", core::name_of(array.info.dtype),
                       fmt::join(array.info.shape, ", ")));
    }
    array.info.dtype = dtype;
    array.info.shape.pop_back();
  }

  std::string_view text_;
  std::uint64_t n_data_;
  const std::string& path_;
};

}  // namespace

std::string metadata_key(const std::string& object, std::string_view key) {
  return object.empty() ? std::string(key) : fmt::format("{}@{}", object, key);
}

std::string checksum_text(std::uint32_t checksum) { return fmt::format("{:08x}", checksum); }

std::string compose(const Header& header, const std::string& path) {
  std::string text = fmt::format("{}{}\"", opening, no_checksum);
  for (const auto& [key, value] : header.metadata)
    text += fmt::format(",{}:{}", quoted(key, path), quoted(value, path));
  text += '}';
  for (const auto& [name, entry] : header.arrays)
    text += fmt::format(",{}:{}", quoted(name, path), entry_text(entry));
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > most_header_bytes) {
    throw core::InvalidArgument("engine::Safetensors#header_too_long",
                                "{}: expected names, shapes and attributes of at most {} bytes, got {}; "
                                "write fewer arrays into one file",
                                path, most_header_bytes, text.size());
  }
  return text.replace(opening.size(), no_checksum.size(),
                      checksum_text(core::crc32c(std::as_bytes(std::span(text)))));
}

Header parse(std::string_view text, std::uint64_t n_data, const std::string& path) {
  return Parser(text, n_data, path).header();
}

void place(Header& header) {
  const auto width = [](const Entry& entry) { return core::size_of(core::real_of(entry.info.dtype)); };
  std::vector<Entry*> order;
  for (auto& [name, entry] : header.arrays) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(),
                   [&](const Entry* a, const Entry* b) { return width(*a) > width(*b); });
  std::uint64_t end = 0;
  for (Entry* entry : order) {
    entry->begin = end;
    end += static_cast<std::uint64_t>(entry->info.count()) * core::size_of(entry->info.dtype);
    entry->end = end;
  }
}

}  // namespace lodestone::engine::safetensors
