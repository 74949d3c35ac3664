// SPDX-License-Identifier: Apache-2.0
#include "io/toml/options.hpp"

#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

namespace lodestone::io::toml {
namespace {

/// Returns "file:line" of a node; `--set` values have no line.
std::string where_of(const ::toml::node& node, const std::string& path) {
  const auto line = node.source().begin.line;
  return line == 0 || path == "--set" ? path : fmt::format("{}:{}", path, line);
}

[[noreturn]] void throw_unsupported(const char* place, const ::toml::node& node, const std::string& path,
                                    const std::string& key, const char* got) {
  throw core::ConfigError(
      place, "{}: expected a truth value, number, text, or a list of numbers or of texts for \"{}\", got {}",
      where_of(node, path), key, got);
}

core::Options::Value list_of(const ::toml::array& array, const std::string& path, const std::string& key) {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (const auto& item : array) {
    if (item.is_number()) {
      numbers.push_back(item.value<double>().value());
    } else if (item.is_string()) {
      texts.push_back(core::clean_line(item.value<std::string>().value()));
    } else {
      throw_unsupported("configuration#wrong_list", item, path, key, "a list with other things");
    }
  }
  if (!numbers.empty() && !texts.empty())
    throw_unsupported("configuration#mixed_list", array, path, key, "a list that mixes numbers and texts");
  if (!texts.empty()) return texts;
  return numbers;
}

core::Options::Value value_of(const ::toml::node& node, const std::string& path, const std::string& key) {
  if (const auto* array = node.as_array()) return list_of(*array, path, key);
  if (node.is_boolean()) return node.value<bool>().value();
  if (node.is_integer()) return node.value<std::int64_t>().value();
  if (node.is_floating_point()) return node.value<double>().value();
  if (node.is_string()) return core::clean_line(node.value<std::string>().value());
  throw_unsupported("configuration#date_or_time", node, path, key, "a date or time");
}

bool is_table_list(const ::toml::node& node) {
  return node.is_array_of_tables() && !node.as_array()->empty();
}

/// A list of lists of numbers, such as points, becomes a list of tables with the one key `row`: no option's
/// value nests.
bool is_list_of_lists(const ::toml::node& node) {
  const auto* array = node.as_array();
  return array != nullptr && !array->empty() &&
         std::all_of(array->begin(), array->end(), [](const auto& item) { return item.is_array(); });
}

void insert_table(core::Options options, const ::toml::table& table, const std::string& path);

void insert_node(core::Options options, const std::string& key, const ::toml::node& node,
                 const std::string& path) {
  if (const auto* table = node.as_table()) {
    insert_table(options.table(key, where_of(node, path)), *table, path);
  } else if (is_table_list(node)) {
    options.clear_tables(key);  // of the file, by --set
    for (const auto& item : *node.as_array())
      insert_table(options.append_table(key, where_of(item, path)), *item.as_table(), path);
  } else if (is_list_of_lists(node)) {
    options.clear_tables(key);
    for (const auto& item : *node.as_array())
      options.append_table(key, where_of(node, path))
          .set("row", value_of(item, path, key), where_of(item, path));
  } else {
    options.set(key, value_of(node, path, key), where_of(node, path));
  }
}

/// Entries in the order of the file: errors then name the first wrong line.
void insert_table(core::Options options, const ::toml::table& table, const std::string& path) {
  std::vector<std::pair<std::string, const ::toml::node*>> entries;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (name.empty() || name.find('.') != std::string::npos) {
      throw core::ConfigError("configuration#wrong_key",
                              "{}: expected a key without dots and not empty, got \"{}\"",
                              where_of(node, path), text::printable(name));
    }
    entries.emplace_back(name, &node);
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.second->source().begin.line < b.second->source().begin.line;
  });
  for (const auto& [key, node] : entries) insert_node(options, key, *node, path);
}

/// The table in which the last part of a key like `a.b[0].c` is set, and that part. errors: ConfigError.
std::pair<core::Options, std::string> resolved(core::Options options, std::string key,
                                               const std::string& assignment) {
  for (auto open = key.find('['); open != std::string::npos; open = key.find('[')) {
    const auto close = key.find(']', open);
    const auto index = close == std::string::npos
                           ? std::nullopt
                           : text::integer(std::string_view(key).substr(open + 1, close - open - 1));
    if (!index || *index < 0 || open == 0 || key.substr(close + 1, 1) != "." || close + 2 >= key.size())
      throw core::ConfigError(
          "configuration#wrong_element",
          "--set: expected name[number].key=value for a table of an array, got \"{}\"; numbers count from 0",
          text::printable(assignment));
    options = options.element(key.substr(0, open), static_cast<std::size_t>(*index), "--set");
    key.erase(0, close + 2);
  }
  return {std::move(options), std::move(key)};
}

}  // namespace

core::Options parse_options_toml(const std::string& text, const std::string& path) {
  core::Options options;
  static_cast<void>(options.table("", path));  // where a table that is missing would stand
  try {
    insert_table(options, ::toml::parse(std::string_view(text), path), path);
  } catch (const ::toml::parse_error& error) {
    throw core::ConfigError(
        "configuration#not_toml", "{}:{}: expected TOML, but {} (column {}); correct this line", path,
        error.source().begin.line, text::printable(error.description(), 200), error.source().begin.column);
  }
  return options;
}

core::Options read_options_toml(const std::string& path) {
  return parse_options_toml(text::read_text(path), path);
}

void set_option(core::Options& root, const std::string& assignment) {
  const auto equals = assignment.find('=');
  const std::string dotted(text::trimmed(std::string_view(assignment).substr(0, equals)));
  if (equals == std::string::npos || dotted.empty() || dotted.front() == '.' || dotted.back() == '.' ||
      dotted.find("..") != std::string::npos) {
    throw core::ConfigError("configuration#wrong_assignment",
                            "--set: expected key=value with a dotted key, got \"{}\"",
                            text::printable(assignment));
  }
  auto [options, key] = resolved(root, dotted, assignment);
  const std::string text(text::trimmed(std::string_view(assignment).substr(equals + 1)));
  if (text.find('\n') == std::string::npos) {
    try {
      const ::toml::table table = ::toml::parse("value = " + text);
      insert_node(options, key, *table.get("value"), "--set");
      return;
    } catch (const ::toml::parse_error&) {  // plain text, which needs no second quotes in a shell
    }
  }
  options.set(key, core::clean_line(text), "--set");
}

}  // namespace lodestone::io::toml
