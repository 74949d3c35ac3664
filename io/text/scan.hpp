// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Scanning of ASCII text, independent of the locale.
namespace lodestone::io::text {

[[nodiscard]] bool is_blank(char c);
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::string upper(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);
/// Splits a text into the words between blanks, tabs and line ends.
[[nodiscard]] std::vector<std::string_view> words(std::string_view text);
/// Splits a line of numbers that may touch as well, as columns of fixed width do: `-0.1234E+00-0.5678E-01`.
[[nodiscard]] std::vector<std::string_view> touching_words(std::string_view text);

/// Reads a whole word as a number: also `1.0D-03`, `1.23-103`, a leading plus; `nan`, `inf`, `****` and
/// `1.#IND` give NaN. Empty when it is no number.
[[nodiscard]] std::optional<double> number(std::string_view word);
/// Reads a whole word as a non-negative or negative integer in the range of int. Empty when it is none.
[[nodiscard]] std::optional<int> integer(std::string_view word);

/// An angle as it is read: its degrees, and whether its minutes and seconds are possible.
struct Angle {
  double deg = 0.0;
  bool is_proper = true;
};
/// Reads "D:M:S", "D:M" or decimal degrees (also 2.5E+01), with a leading sign or a trailing or leading N S E
/// W. Empty when it is no angle.
[[nodiscard]] std::optional<Angle> angle(std::string_view text);

/// Returns the shortest text that reads back as the same double; `empty` for NaN.
[[nodiscard]] std::string shortest(double value, std::string_view empty = "nan");
/// Returns the shortest text of a number near `guess` that `forward` turns into exactly this value, so that
/// it is written as it was read. Without such a number, returns the text of the guess.
[[nodiscard]] std::string shortest_preimage(double value, double guess,
                                            const std::function<double(double)>& forward);
/// Returns the text fit for a message: at most `limit` bytes, control and non-ASCII bytes replaced by '?'.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 60);

}  // namespace lodestone::io::text
