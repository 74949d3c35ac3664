// SPDX-License-Identifier: Apache-2.0
#include "io/edi/file.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <algorithm>
#include <array>

namespace lodestone::io::edi {
namespace {

std::string unquoted(std::string_view text) {
  text = text::trimmed(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text::trimmed(text.substr(1, text.size() - 2));
  return std::string(text);
}

/// Returns a line that starts a block, without its leading blanks; empty otherwise.
std::string_view block_start(std::string_view line) {
  line = text::trimmed(line);
  return line.size() > 1 && line.front() == '>' ? line : std::string_view{};
}

/// ">!text!" closes itself; ">!text" goes on to the next block.
bool is_comment(std::string_view start) { return start.substr(0, 2) == ">!"; }
bool is_closed_comment(std::string_view start) { return start.size() > 2 && start.back() == '!'; }

EdiBlock started_block(std::string_view start, int line) {
  EdiBlock block;
  block.line = line;
  start.remove_prefix(1);
  block.is_section = !start.empty() && start.front() == '=';
  if (block.is_section) start.remove_prefix(1);
  std::size_t n = 0;
  while (n < start.size() && !text::is_blank(start[n]) && start[n] != '/') ++n;
  block.name = text::upper(start.substr(0, n));
  block.header = std::string(text::trimmed(start.substr(n)));
  const auto slashes = block.header.find("//");
  if (slashes != std::string::npos) {
    block.announced = std::string(text::trimmed(std::string_view(block.header).substr(slashes + 2)));
    block.header.resize(slashes);
  }
  block.options = key_values(block.header);
  return block;
}

bool is_definition(const EdiBlock& block) {
  return block.name == "DEFINEMEAS" || block.name == "HMEAS" || block.name == "EMEAS";
}

/// Returns true for a block of impedances, apparent resistivities, tippers or spectra.
bool is_of_values(const EdiBlock& block) {
  if (block.is_section || block.lines.empty()) return false;
  return std::ranges::any_of(std::array{"ZX", "ZY", "RHOX", "RHOY", "TX", "TY", "TIP", "SPECTRA"},
                             [&](std::string_view start) { return block.name.starts_with(start); });
}
constexpr std::size_t most_blocks = 100,  // of a file, whatever its size
    least_block_bytes = 16;               // further ones have this many on the average
bool has_data(const EdiFile& file) { return std::ranges::any_of(file.blocks, is_of_values); }

}  // namespace

std::map<std::string, std::string> key_values(std::string_view text) {
  std::map<std::string, std::string> out;
  std::size_t i = 0;
  const auto skip_blanks = [&] {
    while (i < text.size() && text::is_blank(text[i])) ++i;
  };
  while (skip_blanks(), i < text.size()) {
    const std::size_t key = i;
    while (i < text.size() && !text::is_blank(text[i]) && text[i] != '=') ++i;
    const std::string_view name = text.substr(key, i - key);
    skip_blanks();
    if (i >= text.size() || text[i] != '=') continue;
    ++i;
    skip_blanks();
    const bool quoted = i < text.size() && text[i] == '"';
    const std::size_t begin = quoted ? ++i : i;
    while (i < text.size() && (quoted ? text[i] != '"' : !text::is_blank(text[i]))) ++i;
    out.emplace(text::upper(name), std::string(text::trimmed(text.substr(begin, i - begin))));
    if (quoted && i < text.size()) ++i;
  }
  return out;
}

std::map<std::string, std::string> EdiBlock::entries() const {
  std::map<std::string, std::string> out = options;
  for (const auto& [line_number, text] : lines) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    out.emplace(text::upper(text::trimmed(text.substr(0, equals))), unquoted(text.substr(equals + 1)));
  }
  return out;
}

const EdiBlock* EdiFile::find(std::string_view name) const {
  const auto found =
      std::find_if(blocks.begin(), blocks.end(), [&](const EdiBlock& b) { return b.name == name; });
  return found == blocks.end() ? nullptr : &*found;
}

const EdiBlock* EdiFile::find_any(const std::vector<std::string>& names) const {
  for (const auto& name : names) {
    if (const EdiBlock* block = find(name)) return block;
  }
  return nullptr;
}

EdiFile split_edi(std::string_view bytes, const std::string& path) {
  EdiFile file;
  file.path = path;
  int line = 0;
  bool in_comment = false;
  const auto lines = text::split_lines(bytes);
  const auto n_blocks = static_cast<std::size_t>(
      std::ranges::count_if(lines, [](std::string_view text) { return !block_start(text).empty(); }));
  if (n_blocks > most_blocks + bytes.size() / least_block_bytes)
    throw core::FormatError("io::edi::read#too_many_blocks",
                            "{}:1: expected an EDI file with blocks of values, got {} blocks in {} bytes; "
                            "is the file damaged?",
                            path, n_blocks, bytes.size());
  file.blocks.reserve(n_blocks);
  for (const std::string_view text : lines) {
    ++line;
    const std::string_view start = block_start(text);
    if (!start.empty() && is_comment(start)) {
      in_comment = !is_closed_comment(start);
    } else if (!start.empty()) {
      in_comment = false;
      file.blocks.push_back(started_block(start, line));
    } else if (!in_comment && !file.blocks.empty()) {
      file.blocks.back().lines.emplace_back(line, text);
    }
  }
  if (file.blocks.empty()) {
    const std::string_view begin = bytes.substr(0, std::min<std::size_t>(bytes.size(), 40));
    throw core::FormatError(
        "io::edi::read#no_blocks",
        "{}:1: expected an EDI file with blocks like >HEAD, got {}; check that it is one", path,
        bytes.empty() ? std::string("an empty file") : "\"" + text::printable(begin) + "\"");
  }
  return file;
}

namespace {

/// Returns the most blocks that all sections together may take over from the head: some for each of them
/// where sections have data.
std::size_t most_taken_over(const EdiFile& file) {
  constexpr std::size_t some = 200, bytes_per_block = 64;
  std::size_t n_bytes = 0;
  for (const EdiBlock& block : file.blocks)
    for (const auto& [line, text] : block.lines) n_bytes += text.size();
  return some + n_bytes / bytes_per_block;
}

}  // namespace

std::vector<EdiFile> parts_of(EdiFile file) {
  EdiFile head{file.path, {}, {}, true, {}};
  std::vector<EdiFile> parts;
  const EdiBlock* end = nullptr;
  const std::size_t most = most_taken_over(file);
  std::size_t n_taken_over = 0;
  for (const EdiBlock& block : file.blocks) {
    if (block.name == "END") {
      end = &block;
    } else if (is_definition(block)) {
      if (block.name == "DEFINEMEAS") std::erase_if(head.blocks, is_definition);
      head.blocks.push_back(block);
    } else if (block.is_section) {
      if (!parts.empty() && !has_data(parts.back())) parts.pop_back();
      if ((n_taken_over += head.blocks.size()) > most)
        throw core::FormatError("io::edi::read#too_many_sections",
                                "{}:{}: expected data sections of a station each, but there are too many for "
                                "{} blocks before them; split the file by its sections",
                                file.path, block.line, head.blocks.size());
      parts.push_back(head);
      parts.back().blocks.push_back(block);
    } else {
      (parts.empty() ? head : parts.back()).blocks.push_back(block);
    }
  }
  std::erase_if(parts, [](const EdiFile& part) { return !has_data(part); });
  if (parts.size() < 2 || has_data(head)) return {std::move(file)};
  for (EdiFile& part : parts)
    if (end != nullptr) part.blocks.push_back(*end);
  return parts;
}

std::vector<double> numbers_of(const EdiBlock& block, const std::string& path) {
  std::vector<double> values;
  for (const auto& [line, text] : block.lines) {
    for (const std::string_view word : text::words(text)) {
      const auto value = text::number(word);
      if (!value) {
        throw core::FormatError("io::edi::read#not_a_number",
                                "{}:{}: expected a number in block >{}, got \"{}\"; correct or remove it",
                                path, line, block.name, text::printable(word));
      }
      values.push_back(*value);
    }
  }
  return values;
}

}  // namespace lodestone::io::edi
