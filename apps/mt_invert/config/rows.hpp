// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::mt_invert::config {

/// A table of the configuration that remembers the value in force for every key it was asked for, defaults
/// included.
class ConfigTable {
 public:
  /// `folder`: relative paths in the configuration start here.
  ConfigTable(core::Options given, std::string folder);

  [[nodiscard]] bool has(std::string_view key) const { return given_.has(key); }
  [[nodiscard]] bool flag(std::string_view key, std::optional<bool> fallback = {});
  /// errors of the numbers: ConfigError below `least` (or not above it for `positive`).
  [[nodiscard]] int integer(std::string_view key, int fallback, int least);
  [[nodiscard]] double real(std::string_view key, std::optional<double> fallback = {});
  [[nodiscard]] double positive(std::string_view key, std::optional<double> fallback = {});
  [[nodiscard]] double not_negative(std::string_view key, std::optional<double> fallback = {});
  [[nodiscard]] double from_zero_to(double most, std::string_view key, std::optional<double> fallback = {});
  /// In ohm m. errors: ConfigError outside `physics::mt::is_in_resistivity_range`.
  [[nodiscard]] double resistivity(std::string_view key, std::optional<double> fallback = {});
  [[nodiscard]] std::optional<double> optional_real(std::string_view key);
  [[nodiscard]] std::string text(std::string_view key, std::optional<std::string> fallback = {});
  [[nodiscard]] std::string choice(std::string_view key, const std::vector<std::string>& allowed,
                                   std::optional<std::string> fallback = {});
  [[nodiscard]] std::vector<double> reals(std::string_view key);  ///< empty where absent
  [[nodiscard]] std::vector<double> required_reals(
      std::string_view key);  ///< errors: ConfigError where absent
  /// errors: ConfigError for a number that is none of the whole ones from `least` to `most`.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key, std::vector<std::int64_t> fallback,
                                                   std::int64_t least, std::int64_t most);
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);  ///< empty where absent
  /// A path as the program opens it; empty where absent.
  [[nodiscard]] std::string path(std::string_view key);
  [[nodiscard]] std::vector<std::string> paths(std::string_view key);

  [[nodiscard]] ConfigTable table(std::string_view key) const;
  [[nodiscard]] std::vector<ConfigTable> tables(std::string_view key) const;

  /// "file:line: " of a key (or of the table where the key is absent) and its dotted name, for messages.
  [[nodiscard]] std::string place(std::string_view key) const;
  /// ConfigError when more than one of the keys is given.
  void allow_one_of(const std::vector<std::string>& keys) const;
  /// ConfigError at the key with this text.
  [[noreturn]] void refuse(std::string_view key, const std::string& text) const;

  /// The values in force as TOML.
  [[nodiscard]] std::string effective_toml() const { return effective_.to_toml(); }

 private:
  ConfigTable(core::Options given, core::Options effective, std::string folder);
  template <class T>
  T keep(std::string_view key, T value);
  [[nodiscard]] std::string resolved(const std::string& path) const;

  core::Options given_, effective_;
  std::string folder_;
};

}  // namespace lodestone::mt_invert::config
