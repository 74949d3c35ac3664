// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"

#include <array>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::core {

/// An enumerator and the word by which files, the command line, reports and messages name it.
template <class E>
struct Word {
  E value{};
  std::string_view text{};
};

/// The words of an enumeration, listed once beside it:
/// `constexpr auto words(SystemSpace) { return core::Words<SystemSpace>{{automatic, "auto"}, {data, "data"}};
/// }`
///
/// A list that names an enumerator or a word twice, or contains an empty word, does not compile.
template <class E>
class Words {
 public:
  static constexpr std::size_t capacity = 48;

  constexpr Words(std::initializer_list<Word<E>> entries) {
    for (const Word<E>& entry : entries) {
      if (size_ == capacity) throw "more words than core::Words has room for";
      if (entry.text.empty()) throw "an empty word";
      for (const Word<E>& before : *this) {
        if (before.value == entry.value || before.text == entry.text)
          throw "an enumerator or a word is listed twice";
      }
      entries_[size_++] = entry;
    }
  }
  [[nodiscard]] constexpr const Word<E>* begin() const { return entries_.data(); }
  [[nodiscard]] constexpr const Word<E>* end() const { return entries_.data() + size_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }

 private:
  std::array<Word<E>, capacity> entries_{};
  std::size_t size_ = 0;
};

/// An enumeration with a function `words(E)` in its own namespace.
template <class E>
concept HasWords = requires(E value) {
  { words(value) } -> std::same_as<Words<E>>;
};

/// The list of an enumeration.
template <HasWords E>
inline constexpr Words<E> words_of = words(E{});

namespace detail {
/// Returns the part of a message after the component: what was expected at `where`, what came, the likely
/// word.
[[nodiscard]] std::string unknown_word(std::string_view text, std::string_view where,
                                       const std::vector<std::string>& allowed);
[[noreturn]] void throw_unlisted(long long value, const std::vector<std::string>& allowed);
}  // namespace detail

/// Returns all words of an enumeration, in their order.
template <HasWords E>
[[nodiscard]] std::vector<std::string> all_words() {
  std::vector<std::string> result;
  for (const Word<E>& each : words_of<E>) result.emplace_back(each.text);
  return result;
}

/// Returns the word of an enumerator. errors: InvalidArgument when the value is not listed.
template <HasWords E>
[[nodiscard]] constexpr std::string_view word(E value) {
  for (const Word<E>& each : words_of<E>) {
    if (each.value == value) return each.text;
  }
  detail::throw_unlisted(static_cast<long long>(value), all_words<E>());
}

/// Returns the enumerator of a word; nothing for any other text.
template <HasWords E>
[[nodiscard]] constexpr std::optional<E> find_word(std::string_view text) {
  for (const Word<E>& each : words_of<E>) {
    if (each.text == text) return each.value;
  }
  return {};
}

/// Returns the enumerator of a word. `where` opens the message: "run.toml:12: inversion.space".
///
/// errors: `Failure`, which lists the allowed words and the one that is probably meant. Files use
/// FormatError.
template <HasWords E, class Failure = ConfigError>
[[nodiscard]] E parse(std::string_view text, std::string_view where) {
  if (const auto value = find_word<E>(text)) return *value;
  constexpr auto place =
      std::same_as<Failure, ConfigError> ? "configuration#unknown_word" : "core::parse#unknown_word";
  throw Failure(place, "{}", detail::unknown_word(text, where, all_words<E>()));
}

}  // namespace lodestone::core
