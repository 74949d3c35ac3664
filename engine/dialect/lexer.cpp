// SPDX-License-Identifier: Apache-2.0
#include "engine/dialect/lexer.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace lodestone::engine {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Reads the number at the beginning of a text.
Token number_at(std::string_view rest, std::size_t column) {
  Token token{Token::Is::number, rest, column};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), token.number);
  token.text = rest.substr(0, static_cast<std::size_t>(end - rest.data()));
  if (error == std::errc::result_out_of_range)
    refuse_token("engine::kernel#number", token, "a number that f64 holds",
                 "write one between 1e-300 and 1e300");
  return token;
}

Token sign_at(std::string_view rest, std::size_t column) {
  constexpr std::array<std::string_view, 5> pairs{"->", "<=", ">=", "==", "!="};
  constexpr std::string_view signs = "()[],;:=+-*/<>";
  for (const std::string_view pair : pairs) {
    if (rest.starts_with(pair)) return {Token::Is::sign, rest.substr(0, 2), column};
  }
  Token token{Token::Is::sign, rest.substr(0, 1), column};
  if (signs.find(rest[0]) == std::string_view::npos)
    refuse_token("engine::kernel#letter", token, "a name, a number or a sign of a formula", "remove it");
  return token;
}

/// Returns letters as a message can show them.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 40)) {
    const auto code = static_cast<unsigned char>(c);
    result += code >= 0x20 && code < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", code);
  }
  return result;
}

}  // namespace

void refuse_token(const char* id, const Token& at, std::string_view expected, std::string_view remedy) {
  const std::string got = at.is == Token::Is::end ? "the end" : fmt::format("'{}'", shown(at.text));
  throw core::InvalidArgument(id, "expected {} at column {} of the kernel's text, got {}; {}", expected,
                              at.column, got, remedy);
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> result;
  std::size_t at = 0;
  const auto add = [&](Token token) {
    at += token.text.size();
    result.push_back(token);
  };
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const bool is_number = is_digit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && is_digit(rest[1]));
    if (is_space(rest[0])) {
      ++at;
    } else if (begins_word(rest[0])) {
      const auto end = std::ranges::find_if(rest, [](char c) { return !begins_word(c) && !is_digit(c); });
      add({Token::Is::word, rest.substr(0, static_cast<std::size_t>(end - rest.begin())), at + 1});
    } else {
      add(is_number ? number_at(rest, at + 1) : sign_at(rest, at + 1));
    }
  }
  result.push_back({Token::Is::end, text.substr(text.size()), text.size() + 1});
  return result;
}

}  // namespace lodestone::engine
