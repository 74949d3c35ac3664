// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace lodestone::mt_invert::cli {

std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.emplace_back(io::text::trimmed(std::string_view(text).substr(begin, end - begin)));
    if (names.back().empty())
      throw core::ConfigError("command line#bad_sites", "--sites expects names between commas, got {}", text);
    begin = end + 1;
  }
  return names;
}

io::survey::ReadOptions read_options(const ParsedReading& parsed) {
  io::survey::ReadOptions options;
  const auto sign = *core::find_word<physics::mt::TimeFactor>(parsed.sign);
  const auto units = *core::find_word<physics::mt::ImpedanceUnits>(parsed.units);
  io::survey::choose(options, {sign, units});
  options.edi.variance = *core::find_word<io::edi::EdiVariance>(parsed.variance);
  options.zfile.declination = *core::find_word<io::zfile::ZDeclination>(parsed.z_declination);
  options.jones.error = *core::find_word<io::jones::ErrorOf>(parsed.j_errors);
  options.zonge.flagged = *core::find_word<io::zonge::Flagged>(parsed.zonge_flagged);
  return options;
}

void add_reading(CLI::App& command, ParsedReading& to, const std::string& group) {
  const auto add = [&](const char* name, std::string& value, const char* what) {
    return command.add_option(name, value, what)->group(group);
  };
  add("--sign", to.sign, "time factor of the files, where their quadrants or texts mislead")
      ->check(CLI::IsMember(core::all_words<physics::mt::TimeFactor>()));
  add("--units", to.units, "units of impedances in the files: field is mV/km/nT")
      ->check(CLI::IsMember(core::all_words<physics::mt::ImpedanceUnits>()));
  add("--edi-variance", to.variance, "what .VAR blocks of EDI files hold")
      ->check(CLI::IsMember(core::all_words<io::edi::EdiVariance>()));
  add("--z-declination", to.z_declination, "whether azimuths of Z-files count from magnetic north")
      ->check(CLI::IsMember(core::all_words<io::zfile::ZDeclination>()));
  add("--j-errors", to.j_errors, "whose standard error files of the J-format state")
      ->check(CLI::IsMember(core::all_words<io::jones::ErrorOf>()));
  add("--zonge-flagged", to.zonge_flagged, "fate of values of Zonge AVG with the skip flag 1")
      ->check(CLI::IsMember(core::all_words<io::zonge::Flagged>()));
}

}  // namespace lodestone::mt_invert::cli
