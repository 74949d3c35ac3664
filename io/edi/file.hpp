// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/remarks.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::edi {

/// One block of an EDI file: the line that starts with '>' and what follows up to the next one.
struct EdiBlock {
  std::string name;         ///< upper case, without '>' and '='
  bool is_section = false;  ///< ">=NAME"
  std::string header;       ///< text of the first line after the name
  std::map<std::string, std::string>
      options;                           ///< KEY=VALUE of the first line, keys in upper case, quotes removed
  std::optional<std::string> announced;  ///< text behind "//": a count, or "**"
  int line = 0;
  std::vector<std::pair<int, std::string_view>> lines;  ///< the lines below the first, with their numbers

  /// Returns the KEY=VALUE lines (HEAD, DEFINEMEAS, MTSECT …), keys in upper case, quotes removed; the first
  /// of equal keys.
  [[nodiscard]] std::map<std::string, std::string> entries() const;
};

/// The blocks of an EDI file, uninterpreted. The lines point into the bytes given to `split_edi`.
struct EdiFile {
  std::string path;
  std::vector<EdiBlock> blocks;
  std::vector<physics::mt::Remark> warnings;
  bool is_part = false;      ///< one of several data sections of a file; its SECTID names the station
  std::string zero_tippers;  ///< the remark on a tipper of exact zeros; empty: there is none

  [[nodiscard]] const EdiBlock* find(std::string_view name) const;  ///< the first of this name, or none
  /// Returns the first block that has one of the names.
  [[nodiscard]] const EdiBlock* find_any(const std::vector<std::string>& names) const;
  void warn(int line, const physics::mt::Remark& remark) {
    warnings.push_back(remark.at(path + ":" + std::to_string(line)));
  }
};

/// Splits the text of a file into its blocks. errors: FormatError without any block.
[[nodiscard]] EdiFile split_edi(std::string_view bytes, const std::string& path);

/// Returns a file for each data section that has data, with the head and the newest definitions of
/// measurements before it; the file itself where there are none or one.
[[nodiscard]] std::vector<EdiFile> parts_of(EdiFile file);

/// Returns the numbers of a data block; NaN for `nan`, `****` and similar words. errors: FormatError with
/// file:line at a word that is no number.
[[nodiscard]] std::vector<double> numbers_of(const EdiBlock& block, const std::string& path);

/// Returns the KEY=VALUE pairs on one line (blanks around '=' allowed, values may be quoted), keys in upper
/// case.
[[nodiscard]] std::map<std::string, std::string> key_values(std::string_view text);

}  // namespace lodestone::io::edi
