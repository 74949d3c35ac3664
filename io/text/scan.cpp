// SPDX-License-Identifier: Apache-2.0
#include "io/text/scan.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace lodestone::io::text {
namespace {

char lower_char(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper_char(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Recognizes the words that programs write instead of a number.
bool means_nan(std::string_view word) {
  if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
  const std::string w = lower(word);
  if (w == "nan" || w == "inf" || w == "infinity") return true;
  if (w.find("#ind") != std::string::npos || w.find("#inf") != std::string::npos ||
      w.find("#qnan") != std::string::npos)
    return true;
  return !w.empty() && w.find_first_not_of('*') == std::string::npos;
}

/// The word with the exponent spelled "e": `1D-3` and `1.23-103` become `1e-3` and `1.23e-103`.
std::string with_plain_exponent(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = lower_char(word[i]);
    const bool bare_exponent =
        (c == '-' || c == '+') && i > 0 && (is_digit(word[i - 1]) || word[i - 1] == '.');
    if (bare_exponent) out += 'e';
    out += c == 'd' ? 'e' : c;
  }
  return out;
}

/// from_chars reports both overflow and underflow as out of range: tell them apart by the sign of the
/// exponent.
double out_of_range_value(const std::string& word) {
  const auto exponent = word.find('e');
  const bool tiny = exponent != std::string::npos && exponent + 1 < word.size() && word[exponent + 1] == '-';
  const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  return word.front() == '-' ? -magnitude : magnitude;
}

std::optional<double> parsed(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return out_of_range_value(std::string(text));
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = upper_char(c);
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_char(c);
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower_char(a[i]) != lower_char(b[i])) return false;
  }
  return true;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t i = 0;
  while (i < text.size()) {
    while (i < text.size() && is_blank(text[i])) ++i;
    const std::size_t begin = i;
    while (i < text.size() && !is_blank(text[i])) ++i;
    if (i > begin) out.push_back(text.substr(begin, i - begin));
  }
  return out;
}

std::optional<double> number(std::string_view word) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  if (word.empty()) return std::nullopt;
  const char first = word.front();
  if (!is_digit(first) && first != '-' && first != '.')
    return means_nan(word) ? std::optional(std::nan("")) : std::nullopt;
  if (const auto value = parsed(word))
    return std::isfinite(*value) ? *value : (means_nan(word) ? std::nan("") : *value);
  if (means_nan(word)) return std::nan("");
  return parsed(with_plain_exponent(word));
}

std::optional<int> integer(std::string_view word) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::string shortest(double value, std::string_view empty) {
  return std::isnan(value) ? std::string(empty) : fmt::format("{}", value);
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out(text.substr(0, limit));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > limit ? out + "…" : out;
}

}  // namespace lodestone::io::text
