// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::core {

/// Named arrays in memory: a sink and a source in one.
class MemoryArrays final : public ArraySink, public ArraySource {
 public:
  /// Stores a copy of an array. errors: ShapeError when bytes and shape disagree.
  void write(const std::string& name, const ArrayInfo& info, std::span<const std::byte> bytes) override;
  void attribute(const std::string& object, const std::string& key, const std::string& text) override;

  [[nodiscard]] bool contains(const std::string& name) const override { return arrays_.contains(name); }
  [[nodiscard]] std::vector<std::string> names() const override;
  [[nodiscard]] ArrayInfo info(const std::string& name) const override { return at(name).first; }
  void read(const std::string& name, std::int64_t first, std::span<std::byte> out) const override;
  [[nodiscard]] std::string attribute(const std::string& object, const std::string& key) const override;
  [[nodiscard]] bool has_attribute(const std::string& object, const std::string& key) const override;

 private:
  using Array = std::pair<ArrayInfo, std::vector<std::byte>>;
  [[nodiscard]] const Array& at(const std::string& name) const;

  std::map<std::string, Array> arrays_;
  std::map<std::pair<std::string, std::string>, std::string> attributes_;
};

/// A place that keeps one set of arrays, such as the checkpoint of a run. Call on one rank.
class Store {
 public:
  virtual ~Store() = default;
  /// Returns the name of the place for messages, a file for example.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns true when something has been saved and not been removed.
  [[nodiscard]] virtual bool exists() const = 0;
  /// Replaces what is stored by the arrays that `write` hands to the sink, as a whole. After an exception, or
  /// the end of the process on the way, the place keeps what it had. errors: those of `write`; FileError.
  virtual void save(const std::function<void(ArraySink&)>& write) = 0;
  /// Returns what was saved last; a later `save` does not change it. errors: FileError when nothing is
  /// stored.
  [[nodiscard]] virtual std::unique_ptr<ArraySource> load() const = 0;
  /// Empties the place, which may be empty already. errors: FileError.
  virtual void remove() = 0;
};

using StorePtr = std::shared_ptr<Store>;

/// Returns a store that lives as long as the object, for tests and for programs that resume in one process.
[[nodiscard]] StorePtr memory_store(std::string name = "memory");

}  // namespace lodestone::core
