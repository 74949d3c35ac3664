// SPDX-License-Identifier: Apache-2.0
#include "engine/core/words.hpp"

#include "engine/core/json_text.hpp"
#include "engine/core/options.hpp"

namespace lodestone::core::detail {
namespace {

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + json_quoted(word);
  return text;
}

}  // namespace

std::string unknown_word(std::string_view text, std::string_view where,
                         const std::vector<std::string>& allowed) {
  const auto nearest = nearest_word(text, allowed);
  return fmt::format("{}{}expected one of {}, got {}{}", where, where.empty() ? "" : ": ",
                     quoted_list(allowed), json_quoted(text),
                     nearest ? fmt::format("; did you mean {}?", json_quoted(*nearest)) : "");
}

void throw_unlisted(long long value, const std::vector<std::string>& allowed) {
  throw InvalidArgument(
      "core::word#unlisted_value",
      "expected an enumerator with one of the words {}, got the value {}; add it to `words`",
      quoted_list(allowed), value);
}

}  // namespace lodestone::core::detail
