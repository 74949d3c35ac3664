// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/ranges.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* convert_examples = R"(Examples:
  mt_invert convert edi_folder -o survey.h5                                 a folder as one lossless file
  mt_invert convert survey.h5 -o xml_folder --to emtf --periods 0.01,1000
  mt_invert convert edi_folder -o survey.dat --rotate 0 --floor impedance=0.05 --floor tipper=0.02 --epsg 32611
  mt_invert convert survey.h5 -o sites.pvd --epsg 32611                     arrows and ellipses for ParaView
  mt_invert convert amt_folder lmt_folder -o survey.h5 --merge 50           two bands of each place become one
  mt_invert convert survey.dat -o edi_folder --to edi --sites a,b,c --mask 'a:0.1,10'
  mt_invert convert out/run/result.h5 -o model.rho                          a model for ModEM
  mt_invert convert model.rho -o model.toml                                 and back
  mt_invert convert out/run/result.h5 -o depth.tif --depths-km 1,5,10 --epsg 32611
  mt_invert convert model.rho -o model.xyz --origin 38.5,-117.9 --epsg 4326)";

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
  io::survey::Edits edits;
  std::string to, periods, sites;
  std::vector<std::string> masks, unmasks, floors;
  bool merges_far = false;
  std::optional<double> rotate_deg, azimuth_deg, pixel_m;
  std::optional<int> epsg;
  std::string profile_origin, scale, depths_km, model_origin;
};

constexpr const char* of_stations = "Stations";  // groups of options, as the help shows them
constexpr const char* of_models = "Models";
constexpr double usual_merge_m = 1000.0;  // places further apart are joined on demand alone

/// Returns the two periods of an option, the shorter first. errors: ConfigError.
std::pair<double, double> range_of(const std::string& text, const char* option) {
  constexpr const char* expected = "two periods FROM,TO in seconds with FROM < TO";
  const std::vector<double> numbers = numbers_of(text, option, expected);
  if (numbers.size() != 2 || !(numbers[0] < numbers[1]))
    throw core::ConfigError("command line#bad_periods", "{} expects {}, got {}", option, expected, text);
  return {numbers[0], numbers[1]};
}

/// Reads "SITE" or "SITE:FROM,TO" of an option; "*" is every site.
physics::mt::Where where_of(const std::string& text, const std::string& option) {
  const std::size_t colon = text.rfind(':');
  physics::mt::Where where{.station = text.substr(0, colon), .place = option};
  if (where.station.empty())
    throw core::ConfigError("command line#no_site",
                            "{} expects SITE, SITE:FROM,TO or *:FROM,TO, got \"{}\"; * is every site", option,
                            text);
  if (where.station == "*") where.station.clear();
  if (colon == std::string::npos) return where;
  const auto [shortest_s, longest_s] = range_of(text.substr(colon + 1), (option + " SITE:FROM,TO").c_str());
  where.min_frequency_hz = 1.0 / longest_s;
  where.max_frequency_hz = 1.0 / shortest_s;
  return where;
}

void add_floor(const std::string& text, io::survey::Edits& edits) {
  const std::size_t equals = text.find('=');
  const std::string kind = text.substr(0, equals);
  const auto value = equals == std::string::npos ? std::nullopt : io::text::number(text.substr(equals + 1));
  using physics::mt::FloorKind;
  const auto known = core::find_word<FloorKind>(kind);
  const double most = known == FloorKind::phase ? 90.0 : 1.0;
  if (!value || !(*value > 0.0 && *value <= most) || !known)
    throw core::ConfigError("command line#bad_floor",
                            "--floor expects KIND=NUMBER with a number up to 1 (0.05: 5 %; phase: up to 90 "
                            "degrees) and a kind of {}, "
                            "got {}",
                            fmt::join(core::all_words<FloorKind>(), ", "), text);
  edits.floors.push_back({.kind = *known, .floor = *value});
}

constexpr const char* vtk = "vtk";  // the word of --to, of stations and of models

/// Returns the output that the options state for stations; nothing where it is none of stations.
std::optional<StationOutput> station_output(const Parsed& parsed) {
  const std::string& path = parsed.arguments.output_path;
  const bool is_vtk = path.ends_with(".pvd") || path.ends_with(".vtp");
  if (is_vtk && (parsed.to.empty() || parsed.to == vtk)) return StationOutput{};
  const auto format = parsed.to.empty() ? io::survey::format_of_ending(path)
                                        : core::find_word<io::survey::WriteFormat>(parsed.to);
  if (!format) return {};
  return StationOutput{.format = *format};
}

/// Returns the output that the options state for a model; nothing where it is none of models.
std::optional<ModelOutput> model_output(const Parsed& parsed) {
  const std::string& path = parsed.arguments.output_path;
  const auto format = parsed.to.empty() ? io::model::model_format_of_ending(path)
                                        : core::find_word<io::model::ModelFormat>(parsed.to);
  if (!format || (parsed.to == vtk && !path.ends_with(".vtu"))) return {};
  return ModelOutput{.format = *format};
}

/// Sets the outputs. errors: ConfigError for a name that states none.
void set_outputs(const Parsed& parsed, ConvertArguments& to) {
  to.stations = station_output(parsed);
  to.model = model_output(parsed);
  if (to.stations || to.model) return;
  if (parsed.to == vtk)
    throw core::ConfigError(
        "command line#unknown_ending",
        "--to vtk expects a name that ends in .pvd or .vtp (stations) or in .vtu (a model), got {}",
        to.output_path);
  throw core::ConfigError(
      "command line#unknown_ending",
      "-o expects a name that ends in .h5, .edi, .xml, .zmm, .j, .dat, .csv, .pvd or "
      ".vtp, of a model in .rho, .ws, .iter, .h5, .toml, .xyz, .sg, .vtu or .tif, or a folder "
      "with --to, got {}",
      to.output_path);
}

/// Takes over where stations or a model stand in formats with coordinates. errors: ConfigError for a choice
/// of which no possible output has a use.
void set_placing(const Parsed& parsed, ConvertArguments& to) {
  using io::survey::WriteFormat;
  const auto format = to.stations ? to.stations->format : std::nullopt;
  const bool is_of_profile = format && io::survey::is_of_profile(*format);
  const bool is_of_map =
      to.stations && (!format || format == WriteFormat::modem || format == WriteFormat::wsinv);
  const bool is_map_of_model = to.model && io::model::may_be_on_map(to.model->format);
  const std::string name = format ? std::string(core::word(*format)) : to.output_path;
  if (parsed.epsg && !is_of_profile && !is_of_map && !is_map_of_model)
    throw core::ConfigError(
        "command line#no_projection",
        "--epsg expects a format with coordinates x and y (stations: --to modem, wsinv, vtk, modem2d, "
        "mare2dem or occam2d; models: --to xyz, gocad or geotiff), got {}",
        name);
  const bool is_of_model = to.model && !parsed.model_origin.empty();
  if ((parsed.azimuth_deg && !is_of_profile && !is_of_model) ||
      (!parsed.profile_origin.empty() && !is_of_profile))
    throw core::ConfigError("command line#no_profile",
                            "--profile-azimuth and --profile-origin expect a format of profiles (--to "
                            "modem2d, mare2dem or occam2d), and the azimuth a model with --origin, got {}",
                            name);
  if (!to.stations) return;
  if (parsed.epsg) to.stations->placing.line.projection = fmt::format("EPSG:{}", *parsed.epsg);
  to.stations->placing.line.azimuth_deg = parsed.azimuth_deg;
  to.stations->placing.line.origin = parsed.profile_origin;
  to.stations->placing.strike_deg = parsed.rotate_deg;
}

/// Reads LAT,LON or LAT,LON,ELEVATION. errors: ConfigError.
ModelOrigin origin_of(const std::string& text, std::optional<double> azimuth_deg) {
  constexpr const char* expected = "degrees LAT,LON and perhaps the elevation of z = 0 in metres";
  const std::vector<double> numbers = numbers_of(text, "--origin", expected);
  if (numbers.size() < 2 || numbers.size() > 3 || std::abs(numbers[0]) > 90.0 || std::abs(numbers[1]) > 360.0)
    throw core::ConfigError("command line#bad_origin", "--origin expects {}, got {}", expected, text);
  ModelOrigin origin{.at = {numbers[0], numbers[1]}};
  if (numbers.size() == 3) origin.elevation_m = numbers[2];
  origin.azimuth_deg = azimuth_deg.value_or(origin.azimuth_deg);
  return origin;
}

/// Takes over the choices of models. errors: ConfigError for one of which the format has no use.
void set_model(const Parsed& parsed, ConvertArguments& to) {
  using io::model::ModelFormat;
  if (!to.model) return;
  const auto expects = [&](bool is_given, const char* option, ModelFormat format) {
    if (is_given && to.model->format != format)
      throw core::ConfigError("command line#no_use", "{} expects a model in the format {}, got {}", option,
                              core::word(format), core::word(to.model->format));
  };
  expects(!parsed.scale.empty(), "--scale", ModelFormat::modem);
  expects(!parsed.depths_km.empty(), "--depths-km", ModelFormat::geotiff);
  expects(parsed.pixel_m.has_value(), "--pixel", ModelFormat::geotiff);
  io::model::ModelWriteOptions& options = to.model->options;
  if (!parsed.scale.empty()) options.scale = *core::find_word<io::modem::ModemScale>(parsed.scale);
  if (!parsed.depths_km.empty())
    for (const double km : numbers_of(parsed.depths_km, "--depths-km", "depths in km between commas"))
      options.depths_m.push_back(1000.0 * km);
  options.pixel_m = parsed.pixel_m;
  if (parsed.epsg) options.system = fmt::format("EPSG:{}", *parsed.epsg);
  if (!parsed.model_origin.empty()) to.model->origin = origin_of(parsed.model_origin, parsed.azimuth_deg);
}

/// Returns the first option of a group that was given; empty: none.
std::string given_of(const CLI::App& command, std::string_view group) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_group() == group && option->count() > 0) return option->get_name();
  return {};
}

/// Adds what is done to stations, in the order in which it is done.
void add_edits(CLI::App& command, Parsed& parsed) {
  command.add_option("--profile-origin", parsed.profile_origin,
                     "station at y = 0 of the profile (default: the first along it)");
  command.add_option("--sites", parsed.sites, "names between commas: only these, in this order")
      ->type_name("LIST");
  command.add_option("--periods", parsed.periods, "only periods of this range, in seconds")
      ->type_name("FROM,TO");
  command
      .add_option(
          "--mask", parsed.masks,
          "mask values: SITE, SITE:FROM,TO in seconds, or *:FROM,TO; a survey file keeps them, marked")
      ->allow_extra_args(false);
  command
      .add_option("--unmask", parsed.unmasks,
                  "take masked values of a survey file back: as --mask, * for all")
      ->allow_extra_args(false);
  command
      .add_option("--merge", parsed.edits.merge_within_m,
                  "metres: stations closer than this become one, overlaps weighted by their errors")
      ->type_name("METRES")
      ->check(CLI::Range(1e-3, 1e6));
  command.add_flag("--merge-far", parsed.merges_far, "allow --merge beyond 1000 m")->needs("--merge");
  command
      .add_option("--rotate", parsed.rotate_deg, "azimuth of the x axis to rotate to, clockwise from north")
      ->check(CLI::Range(-360.0, 360.0));
  command
      .add_option("--declination", parsed.edits.declination_deg,
                  "degrees to add to azimuths that count from magnetic north")
      ->check(CLI::Range(-180.0, 180.0));
  command
      .add_option(
          "--floor", parsed.floors,
          "least error KIND=NUMBER: impedance (share of |Z|), tipper, phase_tensor, interstation (absolute), "
          "log10_rho (decades), phase (degrees)")
      ->allow_extra_args(false);
}

void add_places(CLI::App& command, Parsed& parsed) {
  command.add_option(
      "--epsg", parsed.epsg,
      "code of the projection of x and y (stations: modem, wsinv, vtk and formats of a profile, "
      "default local; models: xyz, gocad, geotiff)");
  command
      .add_option("--profile-azimuth", parsed.azimuth_deg,
                  "azimuth of the profile (modem2d, mare2dem, occam2d; default: the best line through the "
                  "stations), or of y of a model with --origin")
      ->check(CLI::Range(-360.0, 360.0));
}

void add_models(CLI::App& command, Parsed& parsed) {
  command
      .add_option("--origin", parsed.model_origin,
                  "degrees, and metres above sea level: place of x = y = z = 0 of a model that states none")
      ->type_name("LAT,LON[,ELEVATION]");
  command.add_option("--scale", parsed.scale, "form of resistivities in ModEM files (default: loge)")
      ->check(CLI::IsMember(core::all_words<io::modem::ModemScale>()));
  command.add_option("--depths-km", parsed.depths_km, "depths of the maps in a GeoTIFF")->type_name("LIST");
  command.add_option("--pixel", parsed.pixel_m, "size of pixels in a GeoTIFF (default: the least cell)")
      ->type_name("METRES")
      ->check(CLI::Range(1e-3, 1e7));
}

/// Returns the words of --to: formats of stations, then those of models alone.
std::vector<std::string> words_of_to() {
  auto words = core::all_words<io::survey::WriteFormat>();
  for (const std::string& word : core::all_words<io::model::ModelFormat>())
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  return words;
}

/// Returns what is done to stations. errors: ConfigError.
io::survey::Edits edits_of(const Parsed& parsed) {
  io::survey::Edits edits = parsed.edits;
  if (!parsed.sites.empty()) edits.sites = names_of(parsed.sites);
  if (!parsed.periods.empty())
    std::tie(edits.min_period_s, edits.max_period_s) = range_of(parsed.periods, "--periods");
  for (const std::string& text : parsed.unmasks) edits.unmasks.push_back(where_of(text, "--unmask"));
  for (const std::string& text : parsed.masks) edits.masks.push_back(where_of(text, "--mask"));
  if (edits.merge_within_m > usual_merge_m && !parsed.merges_far)
    throw core::ConfigError(
        "command line#merge_far",
        "--merge expects at most {:g} m, beyond which recordings are of other ground, got {:g} m; say "
        "--merge-far if these are to be joined all the same",
        usual_merge_m, edits.merge_within_m);
  for (const std::string& text : parsed.floors) add_floor(text, edits);
  edits.azimuth_deg = parsed.rotate_deg;
  return edits;
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
  CLI::App* command = app.add_subcommand("convert", "Write files of stations, or a model, in another format.")
                          ->footer(convert_examples);
  auto parsed = std::make_shared<Parsed>();
  ConvertArguments& to = parsed->arguments;
  command
      ->add_option("IN", to.paths,
                   "files of stations, and folders of such files; or a model, or a run's folder")
      ->required();
  command->add_option("-o,--output", to.output_path, "file or folder to write")->required();
  command->add_option("--to", parsed->to, "format (default: by the ending of -o)")
      ->check(CLI::IsMember(words_of_to()));
  add_places(*command, *parsed);
  command->option_defaults()->group(of_stations);
  add_edits(*command, *parsed);
  add_reading(*command, parsed->reading, of_stations);
  command->option_defaults()->group(of_models);
  add_models(*command, *parsed);
  return [parsed, command] {
    ConvertArguments arguments = parsed->arguments;
    set_outputs(*parsed, arguments);
    if (arguments.stations) arguments.stations->edits = edits_of(*parsed);
    arguments.read = read_options(parsed->reading);
    set_placing(*parsed, arguments);
    set_model(*parsed, arguments);
    arguments.option_of_stations = given_of(*command, of_stations);
    arguments.option_of_models = given_of(*command, of_models);
    return arguments;
  };
}

}  // namespace lodestone::mt_invert::cli
