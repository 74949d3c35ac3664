// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/core/options.hpp"
#include "models/earths/randomness.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace lodestone::models::earths {

/// A table whose ranges are two-element arrays. errors: ConfigError with file:line and the key, of everything
/// that is read.
class OptionsTable {
 public:
  explicit OptionsTable(core::Options table) : table_(std::move(table)) {}
  [[nodiscard]] const core::Options& options() const { return table_; }

  /// `target` keeps its value where the key is absent.
  void read(std::string_view key, Range& target) const;
  void read(std::string_view key, IntegerRange& target) const;
  void read(std::string_view key, double& target) const;
  void read(std::string_view key, int& target) const;
  void read_decades(std::string_view key, Range& target) const;
  /// Returns a range that has no default, of numbers of magnitude 1e8 at most.
  [[nodiscard]] Range range(std::string_view key) const;
  /// Returns a range of log10 resistivities, −6 to 12.
  [[nodiscard]] Range decades(std::string_view key) const;
  /// Refuses a number outside these limits.
  void check(std::string_view key, double value, double least, double most) const;

  /// Throws a ConfigError with this id at the key.
  [[noreturn]] void refuse(std::string_view key, const std::string& text,
                           std::string_view id = "wrong_value") const;
  /// Returns the result of `make`; its InvalidArgument becomes a ConfigError at this table.
  template <class Make>
  auto checked(std::string_view key, Make make) const {
    try {
      return make();
    } catch (const core::InvalidArgument& error) {
      hand_on(key, error);
    }
  }

 private:
  [[noreturn]] void hand_on(std::string_view key, const core::Error& error) const;
  core::Options table_;
};

}  // namespace lodestone::models::earths
