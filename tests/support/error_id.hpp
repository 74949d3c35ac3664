// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::tests {

/// Returns the error of type E that `action` throws, and one with the id "nothing_thrown" when it throws
/// none.
template <class E, class Action>
[[nodiscard]] core::Error error_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error;
  }
  return {core::ExitCode::ok, "no error was thrown", "tests#nothing_thrown"};
}

/// Matches an error by its id and by names and numbers that its text must contain as whole words. Words of
/// the text do not count: they may be improved without a change of tests.
///
/// `CHECK_THAT(error_of<ConfigError>([&] { read(root); }), HasId("unknown_key", {"run.toml:2", "colour"}));`
class HasId final : public Catch::MatcherBase<core::Error> {
 public:
  explicit HasId(std::string id, std::vector<std::string> parts = {})
      : id_(std::move(id)), parts_(std::move(parts)) {}

  [[nodiscard]] bool match(const core::Error& error) const override {
    const std::string text = error.what();
    return error.id() == id_ &&
           std::ranges::all_of(parts_, [&](const std::string& part) { return contains(text, part); });
  }
  [[nodiscard]] std::string describe() const override {
    std::string text = "has the id \"" + id_ + "\"";
    for (const std::string& part : parts_) text += ", contains \"" + part + "\"";
    return text;
  }

 private:
  /// Finds a whole word or number: "2" does not occur in "run.toml:12".
  static bool contains(const std::string& text, const std::string& part) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      const std::size_t end = at + part.size();
      const bool begins = at == 0 || !is_word(part.front()) || !is_word(text[at - 1]);
      if (begins && (end == text.size() || !is_word(part.back()) || !is_word(text[end]))) return true;
    }
    return false;
  }

  std::string id_;
  std::vector<std::string> parts_;
};

}  // namespace lodestone::tests

namespace Catch {

/// Prints an error with its id where a check fails.
template <>
struct StringMaker<lodestone::core::Error> {
  static std::string convert(const lodestone::core::Error& error) {
    return fmt::format("#{} {}", error.id(), error.what());
  }
};

}  // namespace Catch
