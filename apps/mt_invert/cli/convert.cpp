// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/ranges.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* convert_examples = R"(Examples:
  mt_invert convert edi_folder -o survey.h5                                 a folder as one lossless file
  mt_invert convert survey.h5 -o xml_folder --to emtf --periods 0.01,1000
  mt_invert convert edi_folder -o survey.dat --rotate 0 --floor impedance=0.05 --floor tipper=0.02 --epsg 32611
  mt_invert convert survey.h5 -o sites.pvd --epsg 32611                     arrows and ellipses for ParaView
  mt_invert convert amt_folder lmt_folder -o survey.h5 --merge 50           two bands of each place become one
  mt_invert convert survey.dat -o edi_folder --to edi --sites a,b,c --mask 'a:0.1,10')";

constexpr const char* check_examples = R"(Examples:
  mt_invert check edi_folder
  mt_invert check survey.h5 --json
  mt_invert check edi_folder --fix survey.h5                 signs, units and places mended, each with a note)";

/// The arguments of `check` as CLI11 fills them in.
struct ParsedCheck {
  CheckArguments arguments;
  ParsedReading reading;
};

/// The arguments of `convert` as CLI11 fills them in.
struct Parsed {
  ConvertArguments arguments;
  ParsedReading reading;
  std::string to, periods, sites;
  std::vector<std::string> masks, floors;
  std::optional<double> rotate_deg, azimuth_deg;
  std::optional<int> epsg;
  std::string origin;
};

/// Returns the two periods of an option, the shorter first. errors: ConfigError.
std::pair<double, double> range_of(const std::string& text, const char* option) {
  constexpr const char* expected = "two periods FROM,TO in seconds with FROM < TO";
  const std::vector<double> numbers = numbers_of(text, option, expected);
  if (numbers.size() != 2 || !(numbers[0] < numbers[1]))
    throw core::ConfigError("command line#bad_periods", "{} expects {}, got {}", option, expected, text);
  return {numbers[0], numbers[1]};
}

/// Reads "SITE" or "SITE:FROM,TO"; "*" is every site.
physics::mt::Where mask_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  physics::mt::Where where{.station = text.substr(0, colon), .place = "--mask"};
  if (where.station == "*") where.station.clear();
  if (colon == std::string::npos) return where;
  const auto [shortest_s, longest_s] = range_of(text.substr(colon + 1), "--mask SITE:FROM,TO");
  where.min_frequency_hz = 1.0 / longest_s;
  where.max_frequency_hz = 1.0 / shortest_s;
  return where;
}

void add_floor(const std::string& text, io::survey::Edits& edits) {
  const std::size_t equals = text.find('=');
  const std::string kind = text.substr(0, equals);
  const auto value = equals == std::string::npos ? std::nullopt : io::text::number(text.substr(equals + 1));
  if (!value || !(*value > 0.0 && *value <= 10.0) || (kind != "impedance" && kind != "tipper"))
    throw core::ConfigError("command line#bad_floor",
                            "--floor expects impedance=SHARE or tipper=ERROR with a number up to 10, got {}",
                            text);
  (kind == "impedance" ? edits.impedance_floor : edits.tipper_floor) = *value;
}

constexpr const char* for_paraview = "vtk";  // the word of --to

/// Returns the format that the options state; nothing for ParaView.
std::optional<io::survey::WriteFormat> format_of(const Parsed& parsed) {
  const std::string& path = parsed.arguments.output_path;
  const bool is_vtk = path.ends_with(".pvd") || path.ends_with(".vtp");
  if (parsed.to == for_paraview && !is_vtk)
    throw core::ConfigError("command line#unknown_ending",
                            "--to vtk expects a name that ends in .pvd or .vtp, got {}", path);
  if (parsed.to == for_paraview || (parsed.to.empty() && is_vtk)) return {};
  if (!parsed.to.empty()) return *core::find_word<io::survey::WriteFormat>(parsed.to);
  if (const auto format = io::survey::format_of_ending(path)) return *format;
  throw core::ConfigError("command line#unknown_ending",
                          "-o expects a name that ends in .h5, .edi, .xml, .zmm, .j, .dat, .csv, .pvd or "
                          ".vtp, or a folder with --to, "
                          "got {}",
                          path);
}

/// Takes over where the stations stand in formats with coordinates. errors: ConfigError for a choice of which
/// the format has no use.
void set_placing(const Parsed& parsed, ConvertArguments& to) {
  using io::survey::WriteFormat;
  const bool is_of_profile = to.format && io::survey::is_of_profile(*to.format);
  const bool is_of_map = !to.format || to.format == WriteFormat::modem || to.format == WriteFormat::wsinv;
  const std::string_view name = to.format ? core::word(*to.format) : for_paraview;
  if (parsed.epsg && !is_of_profile && !is_of_map)
    throw core::ConfigError(
        "command line#no_projection",
        "--epsg expects a format with coordinates x and y (--to modem, wsinv, vtk, modem2d, "
        "mare2dem or occam2d), got {}",
        name);
  if ((parsed.azimuth_deg || !parsed.origin.empty()) && !is_of_profile)
    throw core::ConfigError("command line#no_profile",
                            "--profile-azimuth and --profile-origin expect a format of profiles (--to "
                            "modem2d, mare2dem or occam2d), got {}",
                            name);
  if (parsed.epsg) to.placing.line.projection = fmt::format("EPSG:{}", *parsed.epsg);
  to.placing.line.azimuth_deg = parsed.azimuth_deg;
  to.placing.line.origin = parsed.origin;
  to.placing.strike_deg = parsed.rotate_deg;
}

}  // namespace

TakeArguments add_check(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("check", "Look for mistakes in files of stations.")->footer(check_examples);
  auto parsed = std::make_shared<ParsedCheck>();
  command->add_option("IN", parsed->arguments.paths, "files of stations, and folders of such files")
      ->required();
  command->add_flag("--json", parsed->arguments.json, "findings and strikes for programs");
  command
      ->add_option("--fix", parsed->arguments.mended_path,
                   "survey file to write, with signs, units and coordinates mended")
      ->type_name("OUT.h5");
  add_reading(*command, parsed->reading);
  return [parsed] {
    CheckArguments arguments = parsed->arguments;
    arguments.read = read_options(parsed->reading);
    return arguments;
  };
}

TakeArguments add_convert(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("convert", "Write files of stations in another format.")->footer(convert_examples);
  auto parsed = std::make_shared<Parsed>();
  ConvertArguments& to = parsed->arguments;
  command->add_option("IN", to.paths, "files of stations, and folders of such files")->required();
  command->add_option("-o,--output", to.output_path, "file or folder to write")->required();
  auto formats = core::all_words<io::survey::WriteFormat>();
  formats.emplace_back(for_paraview);
  command->add_option("--to", parsed->to, "format (default: by the ending of -o)")
      ->check(CLI::IsMember(formats));
  command->add_option("--sites", parsed->sites, "names between commas: only these, in this order")
      ->type_name("LIST");
  command->add_option("--periods", parsed->periods, "only periods of this range, in seconds")
      ->type_name("FROM,TO");
  command->add_option("--mask", parsed->masks, "take values out: SITE, SITE:FROM,TO in seconds, or *:FROM,TO")
      ->allow_extra_args(false);
  command
      ->add_option("--merge", to.edits.merge_within_m,
                   "metres: stations closer than this become one, overlaps weighted by their errors")
      ->type_name("METRES")
      ->check(CLI::Range(1e-3, 1e6));
  command
      ->add_option("--rotate", parsed->rotate_deg, "azimuth of the x axis to rotate to, clockwise from north")
      ->check(CLI::Range(-360.0, 360.0));
  command
      ->add_option("--declination", to.edits.declination_deg,
                   "degrees to add to azimuths that count from magnetic north")
      ->check(CLI::Range(-180.0, 180.0));
  command->add_option("--floor", parsed->floors, "least error: impedance=SHARE of |Z|, tipper=ERROR")
      ->allow_extra_args(false);
  add_reading(*command, parsed->reading);
  command->add_option(
      "--epsg", parsed->epsg,
      "code of the projection of x and y (modem, wsinv, vtk and formats of a profile; default: local)");
  command
      ->add_option(
          "--profile-azimuth", parsed->azimuth_deg,
          "azimuth of the profile (modem2d, mare2dem, occam2d; default: the best line through the stations)")
      ->check(CLI::Range(-360.0, 360.0));
  command->add_option("--profile-origin", parsed->origin,
                      "station at y = 0 of the profile (default: the first along it)");
  return [parsed] {
    ConvertArguments arguments = parsed->arguments;
    arguments.format = format_of(*parsed);
    if (!parsed->sites.empty()) arguments.edits.sites = names_of(parsed->sites);
    if (!parsed->periods.empty())
      std::tie(arguments.edits.min_period_s, arguments.edits.max_period_s) =
          range_of(parsed->periods, "--periods");
    for (const std::string& text : parsed->masks) arguments.edits.masks.push_back(mask_of(text));
    for (const std::string& text : parsed->floors) add_floor(text, arguments.edits);
    arguments.edits.azimuth_deg = parsed->rotate_deg;
    arguments.read = read_options(parsed->reading);
    set_placing(*parsed, arguments);
    return arguments;
  };
}

}  // namespace lodestone::mt_invert::cli
