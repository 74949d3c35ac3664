// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "engine/core/error.hpp"

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::tests {

/// Named arrays in memory: a sink and a source in one, for tests of everything that is written or read as
/// arrays.
class MemoryArrays final : public core::ArraySink, public core::ArraySource {
 public:
  void write(const std::string& name, const core::ArrayInfo& info,
             std::span<const std::byte> bytes) override {
    arrays_[name] = {info, std::vector<std::byte>(bytes.begin(), bytes.end())};
  }
  void attribute(const std::string& object, const std::string& key, const std::string& text) override {
    attributes_[{object, key}] = text;
  }

  [[nodiscard]] bool contains(const std::string& name) const override { return arrays_.contains(name); }
  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto& [name, array] : arrays_) result.push_back(name);
    return result;
  }
  [[nodiscard]] core::ArrayInfo info(const std::string& name) const override { return at(name).first; }
  void read(const std::string& name, std::int64_t first, std::span<std::byte> out) const override {
    const auto& [array_info, bytes] = at(name);
    const std::size_t begin = static_cast<std::size_t>(first) * core::size_of(array_info.dtype);
    if (begin + out.size() > bytes.size())
      throw core::FormatError("tests::MemoryArrays", "range outside array \"{}\"", name);
    if (!out.empty()) std::memcpy(out.data(), bytes.data() + begin, out.size());
  }
  [[nodiscard]] std::string attribute(const std::string& object, const std::string& key) const override {
    const auto found = attributes_.find({object, key});
    if (found == attributes_.end())
      throw core::FormatError("tests::MemoryArrays", "no attribute \"{}\" of \"{}\"", key, object);
    return found->second;
  }
  [[nodiscard]] bool has_attribute(const std::string& object, const std::string& key) const override {
    return attributes_.contains({object, key});
  }

 private:
  using Array = std::pair<core::ArrayInfo, std::vector<std::byte>>;
  [[nodiscard]] const Array& at(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) throw core::FormatError("tests::MemoryArrays", "no array \"{}\"", name);
    return found->second;
  }

  std::map<std::string, Array> arrays_;
  std::map<std::pair<std::string, std::string>, std::string> attributes_;
};

}  // namespace lodestone::tests
