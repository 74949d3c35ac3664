// SPDX-License-Identifier: Apache-2.0
#include "engine/core/store.hpp"

#include "engine/core/error.hpp"

#include <cstring>

namespace lodestone::core {
namespace {

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool exists() const override { return arrays_ != nullptr; }
  void save(const std::function<void(ArraySink&)>& write) override {
    auto arrays = std::make_unique<MemoryArrays>();
    write(*arrays);
    arrays_ = std::move(arrays);
  }
  [[nodiscard]] std::unique_ptr<ArraySource> load() const override {
    if (!arrays_)
      throw FileError("core::Store#nothing_stored",
                      "{}: expected stored arrays, found none; save before loading, or check `exists` first",
                      name_);
    return std::make_unique<MemoryArrays>(*arrays_);
  }
  void remove() override { arrays_.reset(); }

 private:
  std::string name_;
  std::unique_ptr<const MemoryArrays> arrays_;
};

}  // namespace

void MemoryArrays::write(const std::string& name, const ArrayInfo& info, std::span<const std::byte> bytes) {
  const std::size_t expected = static_cast<std::size_t>(info.count()) * size_of(info.dtype);
  if (bytes.size() != expected)
    throw ShapeError("core::MemoryArrays#wrong_size", "array \"{}\": expected {} bytes for its shape, got {}",
                     name, expected, bytes.size());
  arrays_[name] = {info, std::vector<std::byte>(bytes.begin(), bytes.end())};
}

void MemoryArrays::attribute(const std::string& object, const std::string& key, const std::string& text) {
  attributes_[{object, key}] = text;
}

std::vector<std::string> MemoryArrays::names() const {
  std::vector<std::string> result;
  for (const auto& [name, array] : arrays_) result.push_back(name);
  return result;
}

void MemoryArrays::read(const std::string& name, std::int64_t first, std::span<std::byte> out) const {
  const auto& [array_info, bytes] = at(name);
  const auto begin = static_cast<std::size_t>(first) * size_of(array_info.dtype);
  if (first < 0 || begin > bytes.size() || out.size() > bytes.size() - begin)
    throw FormatError("core::MemoryArrays#outside",
                      "array \"{}\": expected a range within its {} elements, got {} bytes from element {}",
                      name, array_info.count(), out.size(), first);
  if (!out.empty()) std::memcpy(out.data(), bytes.data() + begin, out.size());
}

std::string MemoryArrays::attribute(const std::string& object, const std::string& key) const {
  const auto found = attributes_.find({object, key});
  if (found == attributes_.end())
    throw FormatError("core::MemoryArrays#missing_attribute",
                      "expected an attribute \"{}\" of \"{}\", found none", key, object);
  return found->second;
}

bool MemoryArrays::has_attribute(const std::string& object, const std::string& key) const {
  return attributes_.contains({object, key});
}

const MemoryArrays::Array& MemoryArrays::at(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end())
    throw FormatError("core::MemoryArrays#missing_array", "expected an array \"{}\", found none", name);
  return found->second;
}

StorePtr memory_store(std::string name) { return std::make_shared<MemoryStore>(std::move(name)); }

}  // namespace lodestone::core
