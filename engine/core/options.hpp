// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lodestone::core {

/// A configuration tree, read by key with the default at the call site. Copies share one tree (and its record
/// of keys used).
///
/// Every read marks its key as known; `require_all_used` then turns each remaining key into a ConfigError
/// that names the nearest known one. errors: ConfigError with `file:line`, the full dotted key, the expected
/// and the given type; on a missing required key, with the nearest of the given keys not read so far, or
/// all of them.
class Options {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>,
                             std::vector<std::int64_t>, std::vector<std::string>>;

  Options();  ///< an empty root table

  // Building: done by io/toml and by `--set`.
  /// Sets a dotted key, creating tables on the way; `where` is "file:line" or "--set". An empty list also
  /// replaces an array of tables.
  void set(std::string_view dotted_key, Value value, std::string where = {});
  /// Creates (if needed) and returns the table at a dotted key; "" is this table itself (give its `where`:
  /// the file's name). A table that `--set` makes is where the table around it is, as its other keys would
  /// be.
  Options table(std::string_view dotted_key, std::string where = {});
  /// Appends a table to the array of tables at a dotted key and returns it.
  Options append_table(std::string_view dotted_key, std::string where = {});
  /// Takes the tables out of the array of tables at a dotted key; nothing where there is none.
  void clear_tables(std::string_view dotted_key);
  /// Returns table `index`, from 0, of the array of tables at a dotted key. errors: ConfigError, reported at
  /// `where`, when there is no such array or table.
  [[nodiscard]] Options element(std::string_view dotted_key, std::size_t index,
                                const std::string& where) const;

  // Reading.
  [[nodiscard]] bool has(std::string_view key) const;  ///< also marks the key as known
  [[nodiscard]] bool flag(std::string_view key, std::optional<bool> fallback = {}) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::optional<std::int64_t> fallback = {}) const;
  [[nodiscard]] double real(std::string_view key, std::optional<double> fallback = {})
      const;  ///< takes integers too; must be finite
  [[nodiscard]] std::string text(std::string_view key, std::optional<std::string> fallback = {}) const;
  /// Reads a text out of a fixed list. errors: ConfigError listing the allowed words.
  [[nodiscard]] std::string choice(std::string_view key, const std::vector<std::string>& allowed,
                                   std::optional<std::string> fallback = {}) const;
  /// Returns the enumerator whose word is given. errors: as above.
  template <HasWords E>
  [[nodiscard]] E choice(std::string_view key, std::optional<E> fallback = {}) const {
    std::optional<std::string> usual;
    if (fallback) usual = word(*fallback);
    return find_word<E>(choice(key, all_words<E>(), std::move(usual))).value();
  }
  [[nodiscard]] std::vector<double> reals(std::string_view key,
                                          std::optional<std::vector<double>> fallback = {}) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key,
                                               std::optional<std::vector<std::string>> fallback = {}) const;
  [[nodiscard]] Options child(std::string_view key) const;  ///< empty table if absent
  [[nodiscard]] std::vector<Options> children(
      std::string_view key) const;  ///< array of tables; empty if absent

  /// The keys of this table as they were set; marks none as known.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// Returns the full dotted path of this table ("" for the root) and where a key was set ("file:line").
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::string where(std::string_view key) const;
  void require_all_used() const;
  /// The tree with every value that was set, as TOML text (echoed into results); with a name, under that
  /// header.
  [[nodiscard]] std::string to_toml(const std::string& name = {}) const;

 private:
  struct Node;
  explicit Options(std::shared_ptr<Node> node);
  std::shared_ptr<Node> node_;
};

/// The entry of `known` nearest to `word` by edit distance, if near enough to be a likely typo.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word,
                                                      const std::vector<std::string>& known);

}  // namespace lodestone::core
