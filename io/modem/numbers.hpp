// SPDX-License-Identifier: Apache-2.0
// Files that are a row of numbers, wrapped over lines in any way, and the widths in them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::modem {

/// Returns widths from which adding up makes the same edges, where there are such.
[[nodiscard]] std::vector<double> widths_of(const std::vector<double>& edges);

/// The numbers of a file one after the other, each with its line.
class Numbers {
 public:
  /// `reader` opens the ids of errors. `bytes` and `path` must live as long as the numbers.
  Numbers(const std::string& bytes, const std::string& path, std::string reader);

  /// Returns the words of the first line that is neither empty nor a comment. errors: FormatError.
  [[nodiscard]] std::vector<std::string_view> first_line(std::string_view expected);
  /// Passes over so many lines. errors: FormatError when the file has fewer.
  void skip_lines(std::size_t n, std::string_view what);
  /// Returns true where no further word stands in the file.
  [[nodiscard]] bool at_end();
  /// Returns the next number. errors: FormatError with file:line at the end of the file, or on another word.
  [[nodiscard]] double next(std::string_view what);
  /// Returns the next number, a whole one from `least` to `most`. errors: likewise.
  [[nodiscard]] int next_whole(std::string_view what, int least, int most);
  /// Checks that the file ends. errors: FormatError with file:line.
  void require_end(std::string_view after);

  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] std::string here() const;
  /// Throws a FormatError of the reader with this id at the line of the last word.
  [[noreturn]] void refuse(std::string_view id, const std::string& text) const;

 private:
  std::string_view next_word(std::string_view what);

  std::vector<std::string_view> lines_, row_;
  const std::string& path_;
  std::string reader_;
  std::size_t line_ = 0, word_ = 0;
};

}  // namespace lodestone::io::modem
