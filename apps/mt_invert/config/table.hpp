// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/options.hpp"

#include <string>
#include <vector>

namespace lodestone::mt_invert::config {

/// A table of the configuration with the values in force, defaults included, of the keys that were read.
class ConfigTable {
 public:
  /// `folder`: relative paths in the configuration start here.
  ConfigTable(core::Options given, std::string folder);

  [[nodiscard]] bool has(std::string_view key) const { return given_.has(key); }
  [[nodiscard]] const core::Options& given() const { return given_; }
  /// Stores the value in force of a key.
  void keep(std::string_view key, core::Options::Value value) { effective_.set(key, std::move(value)); }

  [[nodiscard]] ConfigTable table(std::string_view key) const;
  [[nodiscard]] std::vector<ConfigTable> tables(std::string_view key) const;

  /// Returns a path as the program opens it; an empty one stays empty.
  [[nodiscard]] std::string resolved(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> resolved(std::vector<std::string> paths) const;
  /// Returns "file:line: " of a key (or of the table where the key is absent) and its dotted name, for
  /// messages.
  [[nodiscard]] std::string place(std::string_view key) const;
  /// Throws a ConfigError when more than one of the keys is given.
  void allow_one_of(const std::vector<std::string>& keys) const;
  /// Throws a ConfigError when the key is given although the setting it needs is not chosen.
  void refuse_unless(const std::string& needed, std::string_view key) const;
  /// Throws a ConfigError with this id and text at the key.
  [[noreturn]] void refuse(std::string_view key, std::string_view id, const std::string& text) const;

  /// Returns the values in force as TOML.
  [[nodiscard]] std::string effective_toml() const { return effective_.to_toml(); }

 private:
  ConfigTable(core::Options given, core::Options effective, std::string folder);

  core::Options given_, effective_;
  std::string folder_;
};

}  // namespace lodestone::mt_invert::config
