// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* report_examples = R"(Examples:
  mt_invert report out/demo       writes out/demo/report.html and out/demo/pictures again from out/demo/result.h5
  mt_invert report out/demo --contours                            with lines of equal resistivity
  mt_invert report out/demo --depth-km 40 --range 0,4             a section to 40 km, colours from 1 to 10000 ohm m
  mt_invert report out/demo3d --depths-km 0.5,2,5 --y-km 50,70    maps and vertical slices of your choice
  mt_invert report edi_folder -o out/survey                       pictures of a survey before any inversion
  mt_invert report survey.h5 -o out/survey --periods 0.1,10,1000 --arrows wiese)";

/// The arguments as CLI11 fills them in.
struct ParsedReport {
  ReportArguments arguments;
  ParsedReading reading;
  std::string depths_km, x_km, y_km, depth_km, range;
  std::string periods, sites, arrows = "parkinson", ellipses = "skew";
  double line_width_km = 0.0;
};

/// Returns the lengths of an option in metres; none for an option that is not given. errors: ConfigError.
std::vector<double> metres_of(const std::string& km, const char* option) {
  if (km.empty()) return {};
  std::vector<double> metres = cli::numbers_of(km, option, "numbers of kilometres between commas");
  for (double& each : metres) each *= 1e3;
  return metres;
}

/// Refuses options of the other kind of report: those of a run without -o, those of a survey with it. errors:
/// ConfigError.
void check_options(const CLI::App& command, bool is_survey) {
  const std::string group = is_survey ? "Of a run" : "Of a survey";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() != group || option->count() == 0) continue;
    if (is_survey)
      throw core::ConfigError(
          "command line#wrong_report",
          "{} chooses pictures of a run, but -o asks for the report of a survey; leave one "
          "of them out",
          option->get_name());
    throw core::ConfigError(
        "command line#wrong_report",
        "{} chooses pictures of a survey, which needs -o DIR; give it, or leave the option "
        "out",
        option->get_name());
  }
}

void add_run_options(CLI::App& command, ParsedReport& parsed) {
  const auto add = [&](const char* option, std::string& text, const char* what) {
    command.add_option(option, text, what)->type_name("LIST")->group("Of a run");
  };
  add("--depths-km", parsed.depths_km, "depths of the maps of a volume, between commas");
  add("--x-km", parsed.x_km, "x of the vertical slices of a volume along y, between commas");
  add("--y-km", parsed.y_km, "y of the vertical slices of a volume along x, between commas");
  command
      .add_option("--depth-km", parsed.depth_km,
                  "depth of the pictures of a section (default: what data see, at most its length)")
      ->type_name("KM")
      ->group("Of a run");
  command
      .add_option("--range", parsed.range,
                  "LOW,HIGH: ends of the colours, log10 of ohm m (default: from the cells that are shown)")
      ->group("Of a run");
  command
      .add_flag("--contours", parsed.arguments.run.choices.contours,
                "lines of equal resistivity in sections and slices")
      ->group("Of a run");
}

void add_survey_options(CLI::App& command, ParsedReport& parsed) {
  constexpr const char* group = "Of a survey";
  io::report::SurveyOptions& to = parsed.arguments.survey;
  command.add_option("--periods", parsed.periods, "periods of the maps in seconds, between commas")
      ->type_name("LIST")
      ->group(group);
  command.add_option("--sites", parsed.sites, "names between commas: only these, in this order")
      ->type_name("LIST")
      ->group(group);
  command
      .add_option("--arrows", parsed.arrows,
                  "convention of induction arrows: whether real ones point to conductors")
      ->check(CLI::IsMember(core::all_words<physics::mt::ArrowConvention>()))
      ->group(group);
  command.add_option("--ellipses", parsed.ellipses, "colours of phase tensors: skew or smallest phase")
      ->check(CLI::IsMember(core::all_words<io::report::EllipseFill>()))
      ->group(group);
  command
      .add_option("--strike", to.line.strike_deg,
                  "azimuth of the x axis of sections (default: perpendicular to the profile)")
      ->check(CLI::Range(-360.0, 360.0))
      ->group(group);
  command
      .add_option(
          "--profile-azimuth", to.line.azimuth_deg,
          "azimuth of the profile (default: across --strike, else the best line through the stations)")
      ->check(CLI::Range(-360.0, 360.0))
      ->group(group);
  command
      .add_option("--line-width-km", parsed.line_width_km,
                  "stations within half of this are on the profile (default: a fifth of its length)")
      ->check(CLI::Range(1e-3, 1e5))
      ->group(group);
  command
      .add_option("--stations-per-page", to.stations_per_page,
                  "sounding curves on one page; those of more stations stand on pages of their own")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str()
      ->group(group);
}

ReportArguments report_of(const CLI::App& command, const ParsedReport& parsed) {
  ReportArguments arguments = parsed.arguments;
  const bool is_survey = !arguments.output_folder.empty();
  check_options(command, is_survey);
  if (!is_survey && arguments.paths.size() != 1)
    throw core::ConfigError("command line#several_runs",
                            "expected one folder of a run, or files of stations with -o DIR, got {} paths",
                            arguments.paths.size());
  arguments.run.slices = {metres_of(parsed.depths_km, "--depths-km"), metres_of(parsed.x_km, "--x-km"),
                          metres_of(parsed.y_km, "--y-km")};
  if (!parsed.depth_km.empty()) arguments.run.depth_m = depth_m_of(parsed.depth_km);
  if (!parsed.range.empty())
    std::tie(arguments.run.choices.low, arguments.run.choices.high) = colours_of(parsed.range);
  if (!parsed.periods.empty()) {
    constexpr const char* expected = "positive periods in seconds between commas";
    arguments.survey.periods_s = numbers_of(parsed.periods, "--periods", expected);
    if (std::ranges::any_of(arguments.survey.periods_s, [](double each) { return !(each > 0.0); }))
      throw core::ConfigError("command line#bad_periods", "--periods expects {}, got {}", expected,
                              parsed.periods);
  }
  if (!parsed.sites.empty()) arguments.read.station_order = names_of(parsed.sites);
  const std::vector<std::string> sites = arguments.read.station_order;
  arguments.read = read_options(parsed.reading);
  arguments.read.station_order = sites;
  arguments.survey.arrows = *core::find_word<physics::mt::ArrowConvention>(parsed.arrows);
  arguments.survey.ellipses = *core::find_word<io::report::EllipseFill>(parsed.ellipses);
  arguments.survey.line_width_m = 1e3 * parsed.line_width_km;
  return arguments;
}

}  // namespace

TakeArguments add_report(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("report", "Write the report of a finished run again, or that of a survey.")
          ->footer(report_examples);
  auto parsed = std::make_shared<ParsedReport>();
  command
      ->add_option("IN", parsed->arguments.paths,
                   "folder with result.h5; with -o files of stations and folders of such")
      ->required();
  command->add_option("-o,--output", parsed->arguments.output_folder, "folder of the report of a survey")
      ->type_name("DIR");
  add_run_options(*command, *parsed);
  add_survey_options(*command, *parsed);
  add_reading(*command, parsed->reading, "Of a survey");
  return [command, parsed] { return report_of(*command, *parsed); };
}

}  // namespace lodestone::mt_invert::cli
