// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/page.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lodestone::mt_invert::config {
namespace {

constexpr const char* mark_begin = "<!-- keys: ";
constexpr const char* mark_end = " -->";

bool is_code(const std::string& text) { return text.find(" = ") != std::string::npos; }

/// A setting is code, other words are not.
std::string as_code(const std::string& text) { return is_code(text) ? fmt::format("`{}`", text) : text; }

/// A column that is empty in every row is left out.
std::string markdown_of(const std::vector<KeyText>& keys) {
  struct Column {
    const char* title;
    std::string (*text)(const KeyText&);
  };
  const Column columns[] = {
      {"key", [](const KeyText& key) { return fmt::format("`{}`", key.key); }},
      {"value", [](const KeyText& key) { return key.kind; }},
      {"default", [](const KeyText& key) { return key.usual; }},
      {"needs", [](const KeyText& key) { return as_code(key.needs); }},
      {"meaning", [](const KeyText& key) { return key.meaning; }},
  };
  std::vector<std::string> lines(keys.size() + 2, "|");
  for (const Column& column : columns) {
    if (std::ranges::all_of(keys, [&](const KeyText& key) { return column.text(key).empty(); })) continue;
    lines[0] += fmt::format(" {} |", column.title);
    lines[1] += "---|";
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string text = column.text(keys[i]);
      lines[i + 2] += text.empty() ? " |" : fmt::format(" {} |", text);
    }
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

/// Returns the words in lines of at most 100 characters.
std::string wrapped(const std::string& text, const std::string& indent) {
  constexpr std::size_t most = 100;
  std::string result = indent, line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > most) {
      result += line + "\n" + indent;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return result + line + "\n";
}

std::string plain_of(const KeyText& key) {
  std::string text = fmt::format("  {:<28}{}\n", key.key, key.usual);
  text += wrapped(key.kind + (key.needs.empty() ? "" : "; needs " + key.needs), "      ");
  text += wrapped(key.meaning, "      ");
  std::erase(text, '`');
  return text;
}

/// "invert [start] [reference]" → start, reference.
bool has_header(const std::string& table, const std::string& header) {
  return table.find("[" + header + "]") != std::string::npos;
}

}  // namespace

void Page::add(const std::string& table, KeyText text, const std::string& when) {
  auto found = std::ranges::find(tables_, table, &Table::name);
  if (found == tables_.end()) found = tables_.insert(tables_.end(), {table, {}});
  const auto known = std::ranges::find(found->keys, text.key, &KeyText::key);
  if (known == found->keys.end()) {
    found->keys.push_back(std::move(text));
    return;
  }
  const bool needs_other = !known->needs.empty() && !text.needs.empty() && known->needs != text.needs;
  if (needs_other) known->needs += "; " + text.needs;
  if (known->usual.find(text.usual) == std::string::npos)
    known->usual += fmt::format("; {} with {}", text.usual, as_code(when));
}

std::string Page::in_toml(const core::Options::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    const std::string text = fmt::format("{}", *number);
    constexpr std::size_t most = 7;  // more digits are those of a formula
    if (text.size() > most) return fmt::format("`{:.4g}`", *number);
  }
  const auto* text = std::get_if<std::string>(&value);
  if (detail::is_empty_list(value) || (text != nullptr && text->empty())) return {};
  core::Options options;
  options.set("value", value);
  return fmt::format("`{}`",
                     io::text::trimmed(options.to_toml().substr(std::string_view("value = ").size())));
}

std::string Page::markdown(std::string_view text) const {
  std::string result(text);
  for (const Table& table : tables_) {
    const std::string mark = fmt::format("{}{}{}\n", mark_begin, table.name, mark_end);
    const std::size_t at = result.find(mark);
    if (at == std::string::npos || result.find(mark, at + 1) != std::string::npos)
      throw core::InvalidArgument("config::Page#no_marker",
                                  "expected one line \"{}\" in the template of the page",
                                  io::text::trimmed(mark));
    result.replace(at, mark.size(), markdown_of(table.keys));
  }
  if (const std::size_t at = result.find(mark_begin); at != std::string::npos)
    throw core::InvalidArgument("config::Page#no_table",
                                "expected the name of a table in the template's line \"{}\"",
                                result.substr(at, result.find('\n', at) - at));
  return result;
}

std::string Page::plain(const std::string& header) const {
  std::string text;
  for (const Table& table : tables_) {
    if (!header.empty() && !has_header(table.name, header)) continue;
    const std::size_t space = table.name.find(' ');
    text += fmt::format("{}{}  of mt_invert {}\n", text.empty() ? "" : "\n", table.name.substr(space + 1),
                        table.name.substr(0, space));
    for (const KeyText& key : table.keys) text += plain_of(key);
  }
  if (!text.empty()) return text;
  std::string names;
  for (const Table& table : tables_) names += " " + table.name.substr(table.name.find(' ') + 1);
  throw core::ConfigError("command line#unknown_table", "expected one of the tables{}, got [{}]", names,
                          header);
}

std::vector<std::string> Page::outermost(std::string_view command) const {
  std::set<std::string> names;
  for (const Table& table : tables_) {
    const std::string_view name = table.name;
    if (name.substr(0, name.find(' ')) != command) continue;
    for (std::size_t at = name.find('['); at != std::string_view::npos; at = name.find('[', at)) {
      at = name.find_first_not_of('[', at);
      names.emplace(name.substr(at, name.find_first_of(".]", at) - at));
    }
  }
  return {names.begin(), names.end()};
}

Page configuration_page() {
  Page page;
  describe_config(page);
  describe_data(page);
  describe_earth(page);
  describe_prior(page);
  describe_method(page);
  describe_training(page);
  return page;
}

std::string configuration_markdown() { return configuration_page().markdown(page_template()); }

}  // namespace lodestone::mt_invert::config
