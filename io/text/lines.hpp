// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::text {

/// Returns the name of a station or site as the program uses it: without blanks at its ends, and without
/// tabs or other control characters. errors: FormatError `reader`#long_name at `where` for more than 128
/// bytes. It is refused rather than cut, since two names that begin alike would become one.
[[nodiscard]] std::string checked_name(std::string_view name, std::string_view reader,
                                       const std::string& where);

/// Returns the name, with "_2", "_3" … behind it where it is taken, and takes it.
[[nodiscard]] std::string untaken_name(const std::string& name, std::set<std::string>& taken);

/// A reader of a text file line by line, without comments and empty lines.
class LineReader {
 public:
  /// Leaves out what follows one of the `comment_marks` on a line. `bytes` must live as long as the reader.
  LineReader(const std::string& bytes, std::string path, std::string reader, std::string comment_marks);

  /// Goes to the next line. Returns false at the end of the file.
  [[nodiscard]] bool next();
  /// Goes to the next line. errors: FormatError at the end of the file, with what was expected.
  void require_next(const std::string& what);
  [[nodiscard]] std::string_view text() const { return text_; }
  /// Returns the next line without going there; empty at the end of the file.
  [[nodiscard]] std::string_view peek() const;
  [[nodiscard]] std::string here() const;
  /// Returns the number of this line, from 1.
  [[nodiscard]] int line_number() const { return static_cast<int>(next_); }
  /// Returns a word of this line as a number. errors: FormatError at this line.
  [[nodiscard]] double finite(std::string_view word, const std::string& what) const;
  /// Returns a word as a number from −`most` to `most`. errors: FormatError at this line.
  [[nodiscard]] double within(std::string_view word, const std::string& what, double most) const;
  /// Returns a word as a whole number from `least` to `most`. errors: FormatError at this line.
  [[nodiscard]] int whole(std::string_view word, const std::string& what, int least, int most) const;
  /// Returns a name on this line. errors: FormatError at this line for one that is too long.
  [[nodiscard]] std::string name(std::string_view word) const { return checked_name(word, reader_, here()); }
  /// Throws a FormatError with this id at this line.
  [[noreturn]] void refuse(std::string_view id, const std::string& text) const;

 private:
  [[nodiscard]] std::string_view content(std::size_t line) const;

  std::vector<std::string_view> lines_;
  std::string path_, reader_, comment_marks_;
  std::string_view text_;
  std::size_t next_ = 0;
};

}  // namespace lodestone::io::text
