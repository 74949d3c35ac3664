// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/rows.hpp"

#include <fmt/ranges.h>

#include <array>
#include <cmath>

namespace lodestone::mt_invert::config {

bool Limits::hold(double value) const {
  if (or_zero && value == 0.0) return true;
  const bool is_low = above_least ? !(value > least) : !(value >= least);
  const bool is_high = below_most ? !(value < most) : !(value <= most);
  return !is_low && !is_high;
}

std::string Limits::text() const {
  const std::string_view zero = or_zero ? "0 or " : "";
  const std::string from = fmt::format("{} {:g}", above_least ? "more than" : "at least", least),
                    to = fmt::format("{} {:g}", below_most ? "less than" : "at most", most);
  if (std::isinf(least) && std::isinf(most)) return {};
  if (std::isinf(most)) return fmt::format("{}{}{}", zero, from, units);
  if (std::isinf(least)) return fmt::format("{}{}{}", zero, to, units);
  if (above_least || below_most) return fmt::format("{}{} and {}{}", zero, from, to, units);
  return fmt::format("{}{:g} to {:g}{}", zero, least, most, units);
}

namespace detail {
namespace {

std::int64_t integer_of(const ConfigTable& table, const std::string& key, double number) {
  constexpr double most = std::numeric_limits<int>::max();
  if (!(std::abs(number) <= most && number == std::floor(number)))
    table.refuse(key, "out_of_range",
                 fmt::format("expected integers from {} to {}, got {:g}", -most, most, number));
  return static_cast<std::int64_t>(number);
}

void check_length(const ConfigTable& table, const std::string& key, const std::string& text) {
  constexpr std::size_t longest = 4096;
  if (text.size() > longest)
    table.refuse(key, "too_long",
                 fmt::format("expected a text of at most {} bytes, got {}", longest, text.size()));
}

/// An empty text or list looks as if the key was not given; a script whose variable is unset writes it.
void check_not_empty(const ConfigTable& table, const std::string& key, const Value& value) {
  if (!is_empty(value)) return;
  table.refuse(key, "empty",
               fmt::format("expected a {} that is not empty; give one or remove the key",
                           is_empty_list(value) ? "list" : "text"));
}

void check_once(const ConfigTable& table, const std::string& key, const std::vector<std::string>& texts) {
  for (auto text = texts.begin(); text != texts.end(); ++text) {
    if (std::count(texts.begin(), text, *text) > 0)
      table.refuse(key, "repeated",
                   fmt::format("expected each item once, got \"{}\" twice; remove one", *text));
  }
}

void check_words(const ConfigTable& table, const std::string& key, const std::vector<std::string>& allowed,
                 const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (std::ranges::count(allowed, word) == 0)
      table.refuse(key, "unknown_word",
                   fmt::format("expected \"{}\", got \"{}\"", fmt::join(allowed, "\", \""), word));
  }
}

/// Reads the alternative that the example holds.
struct Reader {
  const ConfigTable& table;
  const std::string& key;
  const std::vector<std::string>& words;

  Value operator()(bool) const { return table.given().flag(key); }
  Value operator()(std::int64_t) const {
    return integer_of(table, key, static_cast<double>(table.given().integer(key)));
  }
  Value operator()(double) const { return table.given().real(key); }
  Value operator()(const std::string&) const {
    if (!words.empty()) return table.given().choice(key, words);
    std::string text = table.given().text(key);
    check_length(table, key, text);
    return text;
  }
  Value operator()(const std::vector<double>&) const { return table.given().reals(key); }
  Value operator()(const std::vector<std::int64_t>&) const {
    std::vector<std::int64_t> result;
    for (const double each : table.given().reals(key)) result.push_back(integer_of(table, key, each));
    return result;
  }
  Value operator()(const std::vector<std::string>&) const {
    const auto texts = table.given().texts(key);
    for (const std::string& text : texts) check_length(table, key, text);
    if (std::ranges::any_of(texts, &std::string::empty))
      table.refuse(key, "empty_item", "expected texts that are not empty, got one that is; remove it");
    if (!words.empty()) check_words(table, key, words, texts);
    check_once(table, key, texts);
    return texts;
  }
};

}  // namespace

Value value_at(const ConfigTable& table, const std::string& key, const Takes& takes) {
  Value value = std::visit(Reader{table, key, takes.words}, takes.example);
  if (takes.words.empty()) check_not_empty(table, key, value);
  return value;
}

std::string text_of(const Takes& takes) {
  constexpr std::array names{"`true` or `false`", "integer",          "number",       "text",
                             "list of numbers",   "list of integers", "list of texts"};
  std::string text = names.at(takes.example.index());
  if (!takes.words.empty())
    text = fmt::format("{}`\"{}\"`", is_empty_list(takes.example) ? "list of " : "",
                       fmt::join(takes.words, "\"`, `\""));
  const std::string limits = takes.limits.text();
  return limits.empty() ? text : fmt::format("{}, {}", text, limits);
}

void check(const ConfigTable& table, const std::string& key, const Limits& limits, const Value& value) {
  std::vector<double> numbers;
  if (const auto* real = std::get_if<double>(&value)) numbers = {*real};
  if (const auto* integer = std::get_if<std::int64_t>(&value)) numbers = {static_cast<double>(*integer)};
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) numbers = *reals;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
    numbers.assign(integers->begin(), integers->end());
  const auto bad = std::ranges::find_if_not(numbers, [&](double each) { return limits.hold(each); });
  if (bad != numbers.end())
    table.refuse(key, "out_of_range", fmt::format("expected {}, got {:g}", limits.text(), *bad));
}

bool is_empty_list(const Value& value) {
  return std::visit(
      []<class V>(const V& each) {
        if constexpr (is_list<V>)
          return each.empty();
        else
          return false;
      },
      value);
}

bool is_empty(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? text->empty() : is_empty_list(value);
}

}  // namespace detail
}  // namespace lodestone::mt_invert::config
