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

/// Returns the number of characters in front of the sign with which a second number begins. The sign of an
/// exponent follows a letter, or a digit where its three digits end the word (`1.23-103`).
std::size_t n_of_first_number(std::string_view word) {
  bool has_exponent = false;
  for (std::size_t i = 1; i < word.size(); ++i) {
    const char c = word[i], before = word[i - 1];
    has_exponent = has_exponent || (lower_char(c) == 'e' || lower_char(c) == 'd');
    if ((c != '-' && c != '+') || !(is_digit(before) || before == '.' || before == '*')) continue;
    std::size_t n_digits = 0;
    while (i + 1 + n_digits < word.size() && is_digit(word[i + 1 + n_digits])) ++n_digits;
    const bool ends =
        i + 1 + n_digits == word.size() || word[i + 1 + n_digits] == '-' || word[i + 1 + n_digits] == '+';
    if (has_exponent || before == '*' || n_digits != 3 || !ends) return i;
    has_exponent = true;
  }
  return word.size();
}

/// Takes the letter N, S, E or W off the front or the end of a word and returns −1 for S and W. A letter
/// inside is left, as the E of an exponent.
double take_hemisphere(std::string_view& word) {
  const auto is_one_of = [](char c, std::string_view letters) { return letters.find(c) != letters.npos; };
  const bool at_end = !word.empty() && is_one_of(word.back(), "NSEWnsew");
  if (!at_end && (word.empty() || !is_one_of(word.front(), "NSEWnsew"))) return 1.0;
  const char letter = at_end ? word.back() : word.front();
  at_end ? word.remove_suffix(1) : word.remove_prefix(1);
  return is_one_of(letter, "SWsw") ? -1.0 : 1.0;
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

std::vector<std::string_view> touching_words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::string_view word : words(text)) {
    for (std::size_t n = n_of_first_number(word); n < word.size(); n = n_of_first_number(word)) {
      out.push_back(word.substr(0, n));
      word.remove_prefix(n);
    }
    out.push_back(word);
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

std::optional<Angle> angle(std::string_view text) {
  std::string packed;
  for (const char c : text) packed += is_blank(c) ? std::string() : std::string(1, c);
  std::string_view rest = packed;
  double sign = take_hemisphere(rest);
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {  // "-0:30:00" is half a degree south
    sign = rest.front() == '-' ? -sign : sign;
    rest.remove_prefix(1);
  }
  Angle out;
  double unit = 1.0;
  while (true) {
    const auto colon = rest.find(':');
    const auto part = number(rest.substr(0, colon));
    if (!part || !std::isfinite(*part) || *part < 0.0 || unit < 1.0 / 3600.0 - 1e-9) return std::nullopt;
    out.deg += *part * unit;
    // The last part may be 60, to which some writers round 59.99….
    if (unit < 1.0 && (*part > 60.0 || (*part == 60.0 && colon != std::string_view::npos)))
      out.is_proper = false;
    if (colon == std::string_view::npos) {
      out.deg *= sign;
      return out;
    }
    unit /= 60.0;
    rest.remove_prefix(colon + 1);
  }
}

std::string shortest(double value, std::string_view empty) {
  return std::isnan(value) ? std::string(empty) : fmt::format("{}", value);
}

std::string shortest_preimage(double value, double guess, const std::function<double(double)>& forward) {
  constexpr int most_digits = 17, most_units = 64;
  for (int digits = 1; digits <= most_digits; ++digits) {
    const double rounded = parsed(fmt::format("{:.{}g}", guess, digits)).value_or(guess);
    if (forward(rounded) == value) return shortest(rounded);
  }
  double above = guess, below = guess;
  for (int unit = 0; unit < most_units; ++unit) {
    if (forward(above) == value) return shortest(above);
    if (forward(below) == value) return shortest(below);
    above = std::nextafter(above, std::numeric_limits<double>::infinity());
    below = std::nextafter(below, -std::numeric_limits<double>::infinity());
  }
  return shortest(guess);
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out(text.substr(0, limit));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > limit ? out + "…" : out;
}

}  // namespace lodestone::io::text
