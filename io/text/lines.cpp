// SPDX-License-Identifier: Apache-2.0
#include "io/text/lines.hpp"

#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lodestone::io::text {

std::string checked_name(std::string_view name, std::string_view reader, const std::string& where) {
  constexpr std::size_t longest = 128;
  const std::string line = core::clean_line(name);
  const std::string_view text = trimmed(line);
  if (text.size() > longest)
    throw core::FormatError(fmt::format("{}#long_name", reader),
                            "{}: expected a name of at most {} bytes, got one of {}, \"{}\"; shorten it",
                            where, longest, text.size(), printable(text));
  return std::string(text);
}

std::string untaken_name(const std::string& name, std::set<std::string>& taken) {
  std::string out = name;
  for (int suffix = 2; !taken.insert(out).second; ++suffix) out = fmt::format("{}_{}", name, suffix);
  return out;
}

LineReader::LineReader(const std::string& bytes, std::string path, std::string reader,
                       std::string comment_marks)
    : lines_(split_lines(bytes)),
      path_(std::move(path)),
      reader_(std::move(reader)),
      comment_marks_(std::move(comment_marks)) {}

std::string_view LineReader::content(std::size_t line) const {
  return trimmed(lines_[line].substr(0, lines_[line].find_first_of(comment_marks_)));
}

bool LineReader::next() {
  while (next_ < lines_.size()) {
    text_ = content(next_++);
    if (!text_.empty()) return true;
  }
  text_ = {};
  return false;
}

std::string_view LineReader::peek() const {
  for (std::size_t line = next_; line < lines_.size(); ++line) {
    if (const std::string_view text = content(line); !text.empty()) return text;
  }
  return {};
}

void LineReader::require_next(const std::string& what) {
  if (!next()) refuse("cut_off", fmt::format("expected {}, got the end of the file; is it cut off?", what));
}

std::string LineReader::here() const { return fmt::format("{}:{}", path_, next_); }

double LineReader::finite(std::string_view word, const std::string& what) const {
  const auto value = number(word);
  if (!value || !std::isfinite(*value))
    refuse("not_a_number", fmt::format("expected {}, got \"{}\"", what, printable(word)));
  return *value;
}

double LineReader::within(std::string_view word, const std::string& what, double most) const {
  const double value = finite(word, what);
  if (!(std::abs(value) <= most))
    refuse("out_of_range", fmt::format("expected {} from {:g} to {:g}, got {:g}", what, -most, most, value));
  return value;
}

int LineReader::whole(std::string_view word, const std::string& what, int least, int most) const {
  const auto value = integer(word);
  if (!value || *value < least || *value > most)
    refuse("not_in_range",
           fmt::format("expected {} from {} to {}, got \"{}\"", what, least, most, printable(word)));
  return *value;
}

void LineReader::refuse(std::string_view id, const std::string& text) const {
  throw core::FormatError(fmt::format("{}#{}", reader_, id), "{}: {}", here(), text);
}

}  // namespace lodestone::io::text
