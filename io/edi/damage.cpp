// SPDX-License-Identifier: Apache-2.0
#include "io/edi/damage.hpp"

#include "io/text/scan.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace lodestone::io::edi {
namespace {

void warn(EdiFile& file, int line, const std::string& text) { file.warn(line, damaged(text)); }

std::size_t n_words(const EdiBlock& block) {
  std::size_t n = 0;
  for (const auto& [line, text] : block.lines) n += text::words(text).size();
  return n;
}

/// Returns the count behind "//" or of an entry; 0 where it is none.
std::size_t count_in(std::string_view text) {
  const auto count = text::integer(text);
  return count && *count > 0 ? static_cast<std::size_t>(*count) : 0;
}

void check_ending(EdiFile& file) {
  if (!file.find("END")) warn(file, file.blocks.back().line, "no >END after this block");
}

/// Looks at the counts that blocks of values announce.
void check_counts(EdiFile& file) {
  constexpr std::array starts{"ZX", "ZY", "RHOX", "RHOY", "PHSX", "PHSY", "TX", "TY"};
  for (std::size_t k = 0; k < file.blocks.size(); ++k) {
    const EdiBlock& block = file.blocks[k];
    const bool has_values =
        std::ranges::any_of(starts, [&](std::string_view start) { return block.name.starts_with(start); });
    if (block.is_section || !has_values || !block.announced) continue;
    const std::size_t announced = count_in(*block.announced), n = n_words(block);
    if (n < announced)
      warn(file, block.line,
           fmt::format("block >{} announces {} values and holds {}", text::printable(block.name), announced,
                       n));
  }
}

/// Looks at the number of frequencies that a section announces.
void check_frequencies(EdiFile& file) {
  const EdiBlock* section = file.find_any({"MTSECT", "SPECTRASECT"});
  if (!section) return;
  const auto entries = section->entries();
  const auto stated = entries.find("NFREQ");
  if (stated == entries.end()) return;
  const EdiBlock* frequencies = file.find("FREQ");
  const std::size_t n = frequencies ? n_words(*frequencies)
                                    : static_cast<std::size_t>(std::ranges::count(
                                          file.blocks, std::string("SPECTRA"), &EdiBlock::name));
  if (const std::size_t announced = count_in(stated->second); n < announced)
    warn(file, section->line,
         fmt::format("section >={} announces {} frequencies, and the file holds {}", section->name, announced,
                     n));
}

/// The names that a block may have.
using Names = std::vector<std::string>;

/// The blocks of one number of a tensor: two parts, and their errors.
struct Blocks {
  Names first, second;
  std::vector<Names> errors;  ///< each alone is enough
};

/// Looks at a number: both of its parts, and an error where another number of its kind has one.
void check_partners(EdiFile& file, const std::vector<Blocks>& numbers) {
  const auto has_error = [&](const Blocks& of) {
    return std::ranges::any_of(of.errors,
                               [&](const Names& names) { return file.find_any(names) != nullptr; });
  };
  const bool some_have_errors = std::ranges::any_of(numbers, has_error);
  for (const Blocks& of : numbers) {
    const EdiBlock *first = file.find_any(of.first), *second = file.find_any(of.second);
    if (!first && !second) continue;
    const int line = (first ? first : second)->line;
    if (!first || !second)
      warn(file, line,
           fmt::format("only one of the blocks >{} and >{} is there; neither is used", of.first[0],
                       of.second[0]));
    else if (some_have_errors && !has_error(of))
      warn(file, line,
           fmt::format("block >{} has no >{} beside it, as others have", first->name, of.errors[0][0]));
  }
}

void check_tensors(EdiFile& file) {
  std::vector<Blocks> impedances, curves, tippers;
  for (const std::string element : {"XX", "XY", "YX", "YY"}) {
    const std::string z = "Z" + element, rho = "RHO" + element, phase = "PHS" + element;
    impedances.push_back({{z + "R"}, {z + "I"}, {{z + ".VAR"}, {z + ".ERR"}}});
    curves.push_back({{rho}, {phase}, {{rho + ".ERR"}, {phase + ".ERR"}}});
  }
  for (const std::string t : {"TX", "TY"})
    tippers.push_back({{t + "R.EXP", t + "R"},
                       {t + "I.EXP", t + "I"},
                       {{t + "VAR.EXP", t + "VAR", t + ".VAR"}, {t + "ERR.EXP", t + "ERR", t + ".ERR"}}});
  const bool has_impedances = file.find_any({"ZXYR", "ZYXR", "ZXXR", "ZYYR"}) != nullptr;
  check_partners(file, has_impedances ? impedances : curves);
  check_partners(file, tippers);
}

}  // namespace

physics::mt::Remark damaged(const std::string& text) {
  return {text + "; is the file damaged?", physics::mt::RemarkKind::damage};
}

void remark_on_damage(EdiFile& file) {
  check_ending(file);
  check_counts(file);
  check_frequencies(file);
  check_tensors(file);
}

}  // namespace lodestone::io::edi
