// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/rows.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lodestone::mt_invert::config {

/// One key in words.
struct KeyText {
  std::string key, kind, usual, needs, meaning;
};

/// The keys of all tables in words, made from their rows.
///
/// A table is named by the command and its headers: "invert [start] [reference]".
class Page {
 public:
  /// Adds rows to a table, whose defaults must lie within their limits (ConfigError). `usual` holds the
  /// defaults; `when` states which setting has these defaults, for keys that were added before with others.
  template <class T>
  void add(const std::string& table, const Rows<T>& rows, const T& usual = {}, const std::string& when = {}) {
    ConfigTable absent({}, "");
    for (const Row<T>& each : rows) {
      T checked = usual;
      if (!each.is_required) each.read(absent, each, checked);
      const auto value = each.value(usual);
      const std::string shown = each.is_required               ? "required"
                                : !each.usual_in_words.empty() ? each.usual_in_words
                                : value                        ? in_toml(*value)
                                                               : "";
      add(table, {each.key, each.kind, shown, each.needed, each.meaning}, when);
    }
  }
  /// Returns the page: the template with each line `<!-- keys: TABLE -->` replaced by the table's keys.
  /// errors: InvalidArgument when a table has no such line or more than one, or a line names no table.
  [[nodiscard]] std::string markdown(std::string_view text) const;
  /// Returns the keys for a terminal, of all tables or of those with this header ("data", "data.mask").
  /// errors: ConfigError when there is no such table.
  [[nodiscard]] std::string plain(const std::string& header = {}) const;
  /// Returns the outermost tables of a command, such as "data" of `invert`.
  [[nodiscard]] std::vector<std::string> outermost(std::string_view command) const;

 private:
  struct Table {
    std::string name;
    std::vector<KeyText> keys;
  };
  void add(const std::string& table, KeyText text, const std::string& when);
  static std::string in_toml(const core::Options::Value& value);

  std::vector<Table> tables_;
};

// Each adds the tables of a group.
void describe_data(Page& page);
void describe_earth(Page& page);
void describe_prior(Page& page);
void describe_method(Page& page);
void describe_config(Page& page);
void describe_training(Page& page);

/// Returns the keys of both commands that read a configuration.
[[nodiscard]] Page configuration_page();
/// Returns the text of docs/configuration.md.
[[nodiscard]] std::string configuration_markdown();
/// Returns the text around the tables, docs/configuration.md.in.
[[nodiscard]] std::string_view page_template();

}  // namespace lodestone::mt_invert::config
