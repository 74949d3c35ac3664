// SPDX-License-Identifier: Apache-2.0
#include "io/modem/numbers.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/conventions.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace lodestone::io::modem {
namespace {

constexpr std::string_view way_out = "; correct it, or the counts and numbers before it";

}  // namespace

std::vector<double> widths_of(const std::vector<double>& edges) {
  std::vector<double> widths;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const double from = edges[i - 1];
    widths.push_back(
        physics::mt::preimage(edges[i], edges[i] - from, [from](double width) { return from + width; }));
  }
  return widths;
}

Numbers::Numbers(const std::string& bytes, const std::string& path, std::string reader)
    : lines_(text::split_lines(bytes)), path_(path), reader_(std::move(reader)) {}

std::string Numbers::here() const { return fmt::format("{}:{}", path_, line_ == 0 ? 1 : line_); }

void Numbers::refuse(std::string_view id, const std::string& text) const {
  throw core::FormatError(fmt::format("{}#{}", reader_, id), "{}: {}", here(), text);
}

std::vector<std::string_view> Numbers::first_line(std::string_view expected) {
  while (line_ < lines_.size()) {
    const auto text = text::trimmed(lines_[line_++]);
    if (!text.empty() && text.front() != '#') return text::words(text);
  }
  line_ = 1;
  refuse("empty_file", fmt::format("expected a line `{}`, got an empty file", expected));
}

void Numbers::skip_lines(std::size_t n, std::string_view what) {
  if (lines_.size() < line_ + n) {
    line_ = lines_.size();
    refuse("cut_off", fmt::format("expected {}, got the end of the file; is it cut off?", what));
  }
  line_ += n;
}

bool Numbers::at_end() {
  while (word_ == row_.size() && line_ < lines_.size()) {
    row_ = text::words(lines_[line_++]);
    word_ = 0;
  }
  return word_ == row_.size();
}

std::string_view Numbers::next_word(std::string_view what) {
  if (at_end()) {
    line_ = lines_.size();
    refuse("cut_off", fmt::format("expected {}, got the end of the file; is it cut off?", what));
  }
  return row_[word_++];
}

double Numbers::next(std::string_view what) {
  const std::string_view word = next_word(what);
  const auto value = text::number(word);
  if (!value || !std::isfinite(*value))
    refuse("not_a_number", fmt::format("expected {}, got \"{}\"{}", what, text::printable(word), way_out));
  return *value;
}

int Numbers::next_whole(std::string_view what, int least, int most) {
  const std::string_view word = next_word(what);
  const auto value = text::integer(word);
  if (!value || *value < least || *value > most)
    refuse("not_whole", fmt::format("expected {}, a whole number from {} to {}, got \"{}\"{}", what, least,
                                    most, text::printable(word), way_out));
  return *value;
}

void Numbers::require_end(std::string_view after) {
  if (at_end()) return;
  refuse("too_many_values",
         fmt::format("expected the end of the file after {}, got \"{}\"; are the counts right?", after,
                     text::printable(row_[word_])));
}

}  // namespace lodestone::io::modem
