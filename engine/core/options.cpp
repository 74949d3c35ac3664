// SPDX-License-Identifier: Apache-2.0
#include "engine/core/options.hpp"

#include "engine/core/error.hpp"
#include "engine/core/json_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace lodestone::core {
namespace {

/// The place of a key that stands in no file. What its table lacks is looked for in the file all the same.
constexpr std::string_view command_line = "--set";

std::string place(const std::string& where) { return where.empty() ? std::string() : where + ": "; }

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + json_quoted(word);
  return text;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known,
                       const std::string& prefix = {}) {
  const auto nearest = nearest_word(word, known);
  return nearest ? fmt::format("did you mean {}?", json_quoted(prefix + *nearest)) : std::string();
}

/// Returns the first (or last) segment of a dotted key and what remains.
std::pair<std::string_view, std::string_view> split_first(std::string_view key) {
  const auto dot = key.find('.');
  return dot == std::string_view::npos ? std::pair(key, std::string_view())
                                       : std::pair(key.substr(0, dot), key.substr(dot + 1));
}
std::pair<std::string_view, std::string_view> split_last(std::string_view key) {
  const auto dot = key.rfind('.');
  return dot == std::string_view::npos ? std::pair(std::string_view(), key)
                                       : std::pair(key.substr(0, dot), key.substr(dot + 1));
}

/// Returns a number as TOML: the shortest text that reads back to the same double, always recognizable as a
/// float.
std::string toml_number(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

struct TomlText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return toml_number(value); }
  std::string operator()(const std::string& value) const { return json_quoted(value); }
  std::string operator()(const std::vector<double>& values) const {
    std::string text;
    for (const double value : values) text += (text.empty() ? "" : ", ") + toml_number(value);
    return "[" + text + "]";
  }
  std::string operator()(const std::vector<std::int64_t>& values) const {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }
  std::string operator()(const std::vector<std::string>& values) const {
    return "[" + quoted_list(values) + "]";
  }
};

struct Description {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("the integer {}", value); }
  std::string operator()(double value) const { return fmt::format("the number {}", toml_number(value)); }
  std::string operator()(const std::string& value) const {
    return fmt::format("the text {}", json_quoted(value));
  }
  std::string operator()(const std::vector<double>& values) const {
    const auto bad = std::ranges::find_if_not(values, [](double each) { return std::isfinite(each); });
    const std::string text = fmt::format("a list of {} numbers", values.size());
    return bad == values.end()
               ? text
               : fmt::format("{}, of which number {} is {}", text, bad - values.begin() + 1, *bad);
  }
  std::string operator()(const std::vector<std::int64_t>& values) const {
    return fmt::format("a list of {} integers", values.size());
  }
  std::string operator()(const std::vector<std::string>& values) const {
    return fmt::format("a list of {} texts", values.size());
  }
};

bool is_empty_list(const Options::Value& value) {
  const auto* numbers = std::get_if<std::vector<double>>(&value);
  return numbers != nullptr && numbers->empty();  // it has no type
}

std::string toml_key(const std::string& key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  return bare ? key : json_quoted(key);
}

}  // namespace

/// A table: its entries in the order they were set, and the keys that were read.
struct Options::Node {
  using NodePtr = std::shared_ptr<Node>;
  using Tables = std::vector<NodePtr>;
  struct Entry {
    std::string key;
    std::variant<Value, NodePtr, Tables> content;
    std::string where;

    [[nodiscard]] std::string describe() const {
      if (const auto* value = std::get_if<Value>(&content)) return std::visit(Description(), *value);
      return std::holds_alternative<NodePtr>(content) ? "a table" : "an array of tables";
    }
  };

  std::string path, where;
  NodePtr parent;  ///< the parent of a table that was requested under this key but is missing
  std::string key_in_parent;
  std::vector<Entry> entries;
  std::set<std::string, std::less<>> known;

  static NodePtr make(std::string path, std::string where) {
    auto node = std::make_shared<Node>();
    node->path = std::move(path);
    node->where = std::move(where);
    return node;
  }
  [[nodiscard]] std::string path_of(std::string_view key) const {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  }
  Entry* find(std::string_view key) {
    const auto found = std::ranges::find(entries, key, &Entry::key);
    return found == entries.end() ? nullptr : &*found;
  }

  /// Returns the entry of a dotted key, which stays unknown; nullptr when absent.
  Entry* peek(std::string_view dotted_key) {
    const auto [head, rest] = split_first(dotted_key);
    Entry* entry = find(head);
    if (entry == nullptr || rest.empty()) return entry;
    const auto* below = std::get_if<NodePtr>(&entry->content);
    return below == nullptr ? nullptr : (*below)->peek(rest);
  }
  /// Returns the remedy for a required key that is missing. One of the keys not read so far may be its
  /// misspelling.
  [[nodiscard]] std::string way_out(std::string_view key) const {
    std::vector<std::string> unread;
    for (const Entry& entry : entries) {
      if (!known.contains(entry.key)) unread.push_back(entry.key);
    }
    if (const auto nearest = nearest_word(key, unread))
      return fmt::format("is {} meant? Correct it", json_quoted(*nearest));
    if (parent) return parent->way_out(key_in_parent);
    return "please add it" + (unread.empty() ? "" : fmt::format(" (given here: {})", quoted_list(unread)));
  }

  /// The entry of a dotted key, which becomes known; nullptr when absent.
  Entry* read(std::string_view dotted_key) {
    const auto [head, rest] = split_first(dotted_key);
    known.emplace(head);
    Entry* entry = find(head);
    if (entry == nullptr || rest.empty()) return entry;
    const auto* below = std::get_if<NodePtr>(&entry->content);
    if (below == nullptr) throw_mismatch(*entry, "a table");
    return (*below)->read(rest);
  }
  [[noreturn]] void throw_mismatch(const Entry& entry, std::string_view expected) const {
    throw ConfigError("configuration#wrong_type", "{}expected {} for \"{}\", got {}", place(entry.where),
                      expected, path_of(entry.key), entry.describe());
  }

  template <class T, class Convert>
  T value_of(std::string_view key, const std::optional<T>& fallback, std::string_view expected,
             Convert convert) {
    const Entry* entry = read(key);
    if (entry == nullptr) {
      if (fallback) return *fallback;
      throw ConfigError("configuration#missing_key", "{}expected {} for \"{}\", found no such key; {}",
                        place(where), expected, path_of(key), way_out(key));
    }
    if (const auto* value = std::get_if<Value>(&entry->content)) {
      if (std::optional<T> converted = convert(*value)) return *std::move(converted);
    }
    throw ConfigError("configuration#wrong_type", "{}expected {} for \"{}\", got {}", place(entry->where),
                      expected, path_of(key), entry->describe());
  }

  /// The table at a dotted key, made on the way where absent.
  static NodePtr table_at(const NodePtr& node, std::string_view dotted_key, const std::string& where) {
    if (dotted_key.empty()) return node;
    const auto [head, rest] = split_first(dotted_key);
    Entry* entry = node->find(head);
    if (entry == nullptr) {
      const std::string& begin = node->where.empty() ? where : node->where;
      node->entries.push_back({std::string(head), make(node->path_of(head), begin), where});
      entry = &node->entries.back();
    }
    const auto* below = std::get_if<NodePtr>(&entry->content);
    if (below == nullptr) {
      throw ConfigError("configuration#not_a_table",
                        "{}expected a table at \"{}\", but {} was set there; rename one of the two",
                        place(where), node->path_of(head), entry->describe());
    }
    return table_at(*below, rest, where);
  }

  void collect_unknown(std::vector<std::string>& messages) const {
    const std::vector<std::string> known_here(known.begin(), known.end());
    for (const Entry& entry : entries) {
      if (!known.contains(entry.key)) {
        messages.push_back(unknown_message(entry, known_here));
      } else if (const auto* table = std::get_if<NodePtr>(&entry.content)) {
        (*table)->collect_unknown(messages);
      } else if (const auto* tables = std::get_if<Tables>(&entry.content)) {
        for (const NodePtr& each : *tables) each->collect_unknown(messages);
      }
    }
  }
  [[nodiscard]] std::string unknown_message(const Entry& entry,
                                            const std::vector<std::string>& known_here) const {
    std::string hint = suggestion(entry.key, known_here, path.empty() ? "" : path + ".");
    if (hint.empty())
      hint = known_here.empty() ? "no key is known here" : "known here: " + quoted_list(known_here);
    return fmt::format("{}unknown key \"{}\"; {}", place(entry.where), path_of(entry.key), hint);
  }

  void append_toml(std::string& text, const std::string& header) const {
    for (const Entry& entry : entries) {
      if (const auto* value = std::get_if<Value>(&entry.content)) {
        fmt::format_to(std::back_inserter(text), "{} = {}\n", toml_key(entry.key),
                       std::visit(TomlText(), *value));
      }
    }
    for (const Entry& entry : entries) {
      const std::string name = header.empty() ? toml_key(entry.key) : header + "." + toml_key(entry.key);
      if (const auto* table = std::get_if<NodePtr>(&entry.content)) {
        text += fmt::format("\n[{}]\n", name);
        (*table)->append_toml(text, name);
      } else if (const auto* tables = std::get_if<Tables>(&entry.content)) {
        for (const NodePtr& each : *tables) {
          text += fmt::format("\n[[{}]]\n", name);
          each->append_toml(text, name);
        }
      }
    }
  }
};

Options::Options() : node_(std::make_shared<Node>()) {}
Options::Options(std::shared_ptr<Node> node) : node_(std::move(node)) {}

void Options::set(std::string_view dotted_key, Value value, std::string where) {
  const auto [tables, key] = split_last(dotted_key);
  if (key.empty())
    throw ConfigError("configuration#no_key", "{}expected a key, got \"{}\"", place(where), dotted_key);
  Node& node = *Node::table_at(node_, tables, where);
  Node::Entry* entry = node.find(key);
  if (entry == nullptr) {
    node.entries.push_back({std::string(key), std::move(value), std::move(where)});
    return;
  }
  const bool empties = std::holds_alternative<Node::Tables>(entry->content) && is_empty_list(value);
  if (!empties && !std::holds_alternative<Value>(entry->content)) {
    throw ConfigError("configuration#not_a_value",
                      "{}expected a value at \"{}\", but {} was set there; set one of its keys instead",
                      place(where), node.path_of(key), entry->describe());
  }
  entry->content = std::move(value);
  entry->where = std::move(where);
}

Options Options::table(std::string_view dotted_key, std::string where) {
  auto node = Node::table_at(node_, dotted_key, where);
  if (!where.empty() && where != command_line) node->where = std::move(where);
  return Options(std::move(node));
}

Options Options::append_table(std::string_view dotted_key, std::string where) {
  const auto [tables, key] = split_last(dotted_key);
  Node& node = *Node::table_at(node_, tables, where);
  Node::Entry* entry = node.find(key);
  if (entry == nullptr) {
    node.entries.push_back({std::string(key), Node::Tables(), where});
    entry = &node.entries.back();
  }
  auto* list = std::get_if<Node::Tables>(&entry->content);
  if (list == nullptr) {
    throw ConfigError("configuration#not_an_array",
                      "{}expected an array of tables at \"{}\", but {} was set there", place(where),
                      node.path_of(key), entry->describe());
  }
  list->push_back(Node::make(fmt::format("{}[{}]", node.path_of(key), list->size()), std::move(where)));
  return Options(list->back());
}

void Options::clear_tables(std::string_view dotted_key) {
  Node::Entry* entry = node_->peek(dotted_key);
  if (entry == nullptr) return;
  const auto* value = std::get_if<Value>(&entry->content);
  if (std::holds_alternative<Node::Tables>(entry->content) || (value != nullptr && is_empty_list(*value)))
    entry->content = Node::Tables();
}

Options Options::element(std::string_view dotted_key, std::size_t index, const std::string& where) const {
  const Node::Entry* entry = node_->peek(dotted_key);
  const std::string path = node_->path_of(dotted_key);
  const auto* tables = entry == nullptr ? nullptr : std::get_if<Node::Tables>(&entry->content);
  if (tables == nullptr)
    throw ConfigError(
        "configuration#not_an_array",
        "{}expected an array of tables [[{}]] for {}[{}], got {}; add it to the file, or set it as a whole",
        place(where), path, path, index, entry == nullptr ? "none" : entry->describe());
  if (index >= tables->size())
    throw ConfigError("configuration#no_such_element",
                      "{}expected {}[0] to [{}], the tables there are, got [{}]; they count from 0",
                      place(where), path, tables->size() - 1, index);
  return Options((*tables)[index]);
}

bool Options::has(std::string_view key) const { return node_->read(key) != nullptr; }

bool Options::flag(std::string_view key, std::optional<bool> fallback) const {
  return node_->value_of<bool>(key, fallback, "true or false", [](const Value& value) {
    const bool* exact = std::get_if<bool>(&value);
    return exact != nullptr ? std::optional(*exact) : std::nullopt;
  });
}

std::int64_t Options::integer(std::string_view key, std::optional<std::int64_t> fallback) const {
  return node_->value_of<std::int64_t>(key, fallback, "an integer", [](const Value& value) {
    const std::int64_t* exact = std::get_if<std::int64_t>(&value);
    return exact != nullptr ? std::optional(*exact) : std::nullopt;
  });
}

double Options::real(std::string_view key, std::optional<double> fallback) const {
  return node_->value_of<double>(
      key, fallback, "a finite number", [](const Value& value) -> std::optional<double> {
        if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
        const auto* exact = std::get_if<double>(&value);
        return exact != nullptr && std::isfinite(*exact) ? std::optional(*exact) : std::nullopt;
      });
}

std::string Options::text(std::string_view key, std::optional<std::string> fallback) const {
  return node_->value_of<std::string>(key, fallback, "a text", [](const Value& value) {
    const auto* exact = std::get_if<std::string>(&value);
    return exact != nullptr ? std::optional(*exact) : std::nullopt;
  });
}

std::string Options::choice(std::string_view key, const std::vector<std::string>& allowed,
                            std::optional<std::string> fallback) const {
  const std::string expected = "one of " + quoted_list(allowed);
  std::string word = node_->value_of<std::string>(key, fallback, expected, [](const Value& value) {
    const auto* exact = std::get_if<std::string>(&value);
    return exact != nullptr ? std::optional(*exact) : std::nullopt;
  });
  if (std::ranges::find(allowed, word) == allowed.end()) {
    const std::string hint = suggestion(word, allowed);
    throw ConfigError("configuration#unknown_word", "{}expected {} for \"{}\", got {}{}", place(where(key)),
                      expected, node_->path_of(key), json_quoted(word), hint.empty() ? "" : "; " + hint);
  }
  return word;
}

std::vector<double> Options::reals(std::string_view key, std::optional<std::vector<double>> fallback) const {
  return node_->value_of<std::vector<double>>(
      key, fallback, "a list of finite numbers",
      [](const Value& value) -> std::optional<std::vector<double>> {
        const auto* exact = std::get_if<std::vector<double>>(&value);
        if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&value))
          return std::vector<double>(whole->begin(), whole->end());
        const bool good =
            exact != nullptr && std::ranges::all_of(*exact, [](double each) { return std::isfinite(each); });
        return good ? std::optional(*exact) : std::nullopt;
      });
}

std::vector<std::string> Options::texts(std::string_view key,
                                        std::optional<std::vector<std::string>> fallback) const {
  using Texts = std::vector<std::string>;
  return node_->value_of<Texts>(key, fallback, "a list of texts",
                                [](const Value& value) -> std::optional<Texts> {
                                  if (const auto* exact = std::get_if<Texts>(&value)) return *exact;
                                  return is_empty_list(value) ? std::optional(Texts()) : std::nullopt;
                                });
}

Options Options::child(std::string_view key) const {
  Node::Entry* entry = node_->read(key);
  if (entry == nullptr) {
    auto absent = Node::make(node_->path_of(key), node_->where);
    absent->parent = node_;
    absent->key_in_parent = key;
    return Options(std::move(absent));
  }
  const auto* table = std::get_if<Node::NodePtr>(&entry->content);
  if (table == nullptr) node_->throw_mismatch(*entry, "a table");
  return Options(*table);
}

std::vector<Options> Options::children(std::string_view key) const {
  Node::Entry* entry = node_->read(key);
  std::vector<Options> result;
  if (entry == nullptr) return result;
  if (const auto* value = std::get_if<Value>(&entry->content); value != nullptr && is_empty_list(*value))
    return result;
  const auto* tables = std::get_if<Node::Tables>(&entry->content);
  if (tables == nullptr) node_->throw_mismatch(*entry, "an array of tables ([[…]])");
  for (const auto& table : *tables) result.push_back(Options(table));
  return result;
}

std::vector<std::string> Options::keys() const {
  std::vector<std::string> result;
  for (const Node::Entry& entry : node_->entries) result.push_back(entry.key);
  return result;
}

std::string Options::path() const { return node_->path; }

std::string Options::where(std::string_view key) const {
  const Node::Entry* entry = key.empty() ? nullptr : node_->read(key);
  return entry != nullptr ? entry->where : node_->where;
}

void Options::require_all_used() const {
  std::vector<std::string> messages;
  node_->collect_unknown(messages);
  if (!messages.empty()) throw ConfigError("configuration#unknown_key", "{}", fmt::join(messages, " "));
}

std::string Options::to_toml(const std::string& name) const {
  std::string text = name.empty() ? "" : fmt::format("\n[{}]\n", name);
  node_->append_toml(text, name);
  return text;
}

}  // namespace lodestone::core
