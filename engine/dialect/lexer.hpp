// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the parser reads words, not letters.
// Inside of the engine: the text of a kernel as words and signs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lodestone::engine {

struct Token {
  enum class Is : std::uint8_t { word, number, sign, end };
  Is is;
  std::string_view text;  ///< part of the kernel's text
  std::size_t column;     ///< counted from 1
  double number = 0.0;
};

/// Returns the tokens of a text, the last of which is its end. Signs are letters that belong to no word, or
/// one of `-> <= >= == !=`. errors: InvalidArgument for letters that no kernel has, and for numbers out of
/// range.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

/// Throws InvalidArgument: the kernel's text was to have something else at this token.
[[noreturn]] void refuse_token(const char* id, const Token& at, std::string_view expected,
                               std::string_view remedy);

}  // namespace lodestone::engine
