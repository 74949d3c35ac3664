// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/problem.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "inversion/mt/smoothness.hpp"
#include "inversion/mt/soundings.hpp"
#include "inversion/mt/tables.hpp"
#include "io/model/network.hpp"
#include "io/model/read.hpp"
#include "io/modem/covariance.hpp"
#include "io/survey/choices.hpp"
#include "io/survey/observe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace lodestone::mt_invert::commands {
namespace {

namespace mt = physics::mt;
using inversion::mt::ModelSource;
using io::survey::FileKind;
using physics::mesh::TensorGrid;

/// Whatever the content of a file, it is read as the key of the configuration states.
FileKind kind_of(const config::DataConfig& config) {
  if (!config.modem_file.empty()) return FileKind::modem_data_2d;
  if (!config.mare2dem_file.empty()) return FileKind::emdata;
  return config.mt2d_file.empty() ? FileKind::edi : FileKind::mt2d_data;
}

std::vector<mt::StationData> read_stations(const config::DataConfig& config) {
  io::survey::ReadOptions options{
      .edi = config.edi, .station_order = config.station_order, .kind = kind_of(config)};
  const std::string profile_file = config.profile_source().second;
  if (!profile_file.empty()) return io::survey::read(profile_file, options);
  if (!config.station_files.empty()) {
    options.kind.reset();
    options.emtf = options.femtic = options.wsinv = options.mth5 = {config.edi.sign, config.edi.units};
    options.zfile.sign = options.jones.sign = options.zonge.sign = options.occam2d.sign = config.edi.sign;
    options.zfile.units = options.jones.units = config.edi.units;
    std::vector<std::string> files;
    for (const std::string& path : config.station_files)
      for (std::string& file : io::survey::station_files(path)) files.push_back(std::move(file));
    io::survey::require_taken(files, options);
    return io::survey::read_files(files, options);
  }
  return config.edi_folder.empty() ? io::survey::read_files(config.edi_files, options)
                                   : io::survey::read_folder(config.edi_folder, options);
}

/// Returns the place of the key that names the data.
std::string place_of_data(const config::DataConfig& config) {
  const std::string of_profile = config.profile_source().first;
  if (!of_profile.empty()) return config.table.place(of_profile);
  if (!config.station_files.empty()) return config.table.place("station_files");
  return config.table.place(config.edi_folder.empty() ? "edi_files" : "edi_folder");
}

/// Returns the place of the key whose value an error refuses; empty where it is about the data.
std::string place_refused(const core::Error& error, const config::DataConfig& data,
                          const config::ProfileConfig& profile) {
  struct Refusal {
    std::string_view error;
    const config::ConfigTable& table;
    const char* key;
  };
  const Refusal refusals[] = {
      {"io::survey::read#unknown_station", data.table, "station_order"},
      {"mt::select#unknown_interpolated", data.table, "interpolate_stations"},
      {"mt::select#frequencies_too_close", data.table, "frequencies_hz"},
      {"mt::select#incomplete_tensors", profile.table,
       profile.line.strike_deg ? "strike_deg" : "azimuth_deg"},
      {"mt::make_profile#unknown_station", profile.table, "origin_station"},
      {"mt::make_profile#one_place", profile.table, "azimuth_deg"},
      {"io::geodesy::Projection#wrong_system", profile.table, "projection"},
  };
  const auto found = std::ranges::find(refusals, error.place(), &Refusal::error);
  return found == std::end(refusals) ? std::string() : found->table.place(found->key);
}

/// Returns the text of an error with a place behind its component.
core::Worded with_place(const core::Error& error, const std::string& place) {
  const std::string component = fmt::format("[{}] ", error.component()), text = error.what();
  const std::size_t at = text.starts_with(component) ? component.size() : 0;
  return {fmt::format("{}{}: {}", text.substr(0, at), place, text.substr(at)), error.place()};
}

/// Throws an error of placing or selecting again, with the key that it is about.
[[noreturn]] void refuse(const core::Error& error, const config::DataConfig& data,
                         const config::ProfileConfig& profile) {
  const std::string place = place_refused(error, data, profile);
  if (!place.empty()) throw core::ConfigError(with_place(error, place));
  if (error.id() == "unknown_station")
    throw core::ConfigError(core::worded(error));  // of a rule, by its place
  if (error.id() == "no_period")
    throw core::ConfigError("mt_invert#no_period",
                            "no station has a period within data.period_min_s = {:g} and data.period_max_s = "
                            "{:g}; widen them (mt_invert info FILE… lists the periods of files)",
                            data.selection.min_period_s, data.selection.max_period_s);
  if (error.exit_code() == core::ExitCode::configuration)
    throw core::ConfigError(with_place(error, place_of_data(data)));
  throw core::InvalidArgument(with_place(error, place_of_data(data)));
}

/// Returns the place of the key whose value an error of making the problem refuses; empty for others.
std::string place_refused(const core::Error& error, const config::Config& config) {
  const std::string_view place = error.place();
  if (place == "mesh::Surface::profile#is_a_map" || place.starts_with("io::model::elevations#"))
    return config.profile.table.place("surface_file");
  if (place == "mt::ground_under#surface_through_map") return config.profile.table.place("elevation");
  const bool is_distortion = place == "inversion::mt::problem#distortion_of_section" ||
                             place == "inversion::mt::problem#nothing_distorted";
  return is_distortion ? config.distortion_place : std::string();
}

/// Calls read(); an error of a file that cannot be opened says which key names it.
template <class Read>
auto with_name(const std::string& place, Read read) {
  try {
    return read();
  } catch (const core::FileError& error) {
    throw core::FileError(core::Worded{fmt::format("{}; {} names it", error.what(), place), error.place()});
  }
}

ModelSource source_of(const config::ModelConfig& config) {
  if (config.from_soundings) return inversion::mt::FromSoundings{};
  if (config.file.empty()) return config.resistivity_ohm_m;
  return with_name(config.file_place, [&] { return io::model::read_model(config.file); });
}

/// Returns a strip along a section, whose middle line along x = 0 takes points of half a column on either
/// side.
TensorGrid strip_along(const TensorGrid& section) {
  const std::vector<double>& y_m = section.y_edges_m();
  const double width_m = (y_m.back() - y_m.front()) / section.n_y();
  return TensorGrid({{-width_m, 0.0, width_m}, y_m, section.z_edges_m()}, section.reference());
}

/// Returns the middle line of a strip.
physics::mesh::Surface middle_line_of(const physics::mesh::Surface& strip) {
  std::vector<double> z_m;
  for (const double y_m : strip.y_m()) z_m.push_back(strip.z_at(0.0, y_m));
  return physics::mesh::SurfaceLine(strip.y_m(), std::move(z_m));
}

/// Returns the surface of a file. A map of elevations becomes one of means over the cells of a volume, or
/// over the columns along a section. Cells are designed here where the options have none.
physics::mesh::Surface surface_of(const config::ProfileConfig& config, const mt::Observations& observed,
                                  inversion::mt::ProblemOptions& options) {
  if (!io::model::is_elevation_map(config.surface_file))
    return io::model::read_surface_file(config.surface_file);
  const bool is_volume = observed.profile.is_map;
  if (!options.cells)
    options.cells =
        is_volume ? mt::design_volume(observed, options.grid) : mt::design_grid(observed, options.grid);
  io::model::MappedRun run{.frame = inversion::mt::frame_of(observed.profile, 0.0),
                           .grid = is_volume ? *options.cells : strip_along(*options.cells)};
  for (const mt::Station& station : observed.survey.stations)
    run.sites.push_back({.name = station.name, .at = {is_volume ? station.x_m : 0.0, station.y_m, 0.0}});
  const physics::mesh::Surface map = io::model::read_elevation_map(config.surface_file, run);
  return is_volume ? map : middle_line_of(map);
}

inversion::prior::RegionOptions region_of(const config::LearnedRegionConfig& config) {
  inversion::prior::RegionOptions region = config.options;
  region.decoder = with_name(config.options.place, [&] {
    return io::model::read_network(config.network, config.decoder, config.network_as_written);
  });
  return region;
}

std::optional<inversion::prior::LearnedPriorOptions> prior_of(
    const std::optional<config::LearnedPriorConfig>& config) {
  if (!config) return {};
  inversion::prior::LearnedPriorOptions prior = config->options;
  for (const config::LearnedRegionConfig& each : config->regions) prior.regions.push_back(region_of(each));
  return prior;
}

/// Returns the smoothing of a ModEM covariance file.
inversion::prior::Autoregression autoregression_of(const io::modem::Covariance& file) {
  inversion::prior::Autoregression out{.x_smoothing = file.x_smoothing,
                                       .y_smoothing = file.y_smoothing,
                                       .z_smoothing = file.z_smoothing,
                                       .n_times = file.n_times,
                                       .area_of_cell = file.area};
  for (const io::modem::CovarianceException& each : file.exceptions)
    out.borders.push_back({each.area, each.other_area, each.smoothing});
  return out;
}

/// Returns the areas of a ModEM covariance file; air and sea are held.
std::optional<inversion::mt::CellAreas> areas_of(const config::RegularizationConfig& config) {
  if (config.covariance_file.empty()) return {};
  using io::modem::Covariance;
  const Covariance file =
      with_name(config.covariance_place, [&] { return io::modem::read_covariance(config.covariance_file); });
  return inversion::mt::CellAreas{
      .shape = {file.n_z, file.n_y, file.n_x},
      .areas = io::modem::areas_of(file),
      .held = {Covariance::air, Covariance::sea},
      .place = fmt::format("{}: {}", config.covariance_place, config.covariance_file)};
}

/// Returns whether a station states one of these data, by an element of its rows or as such.
bool states_any(const mt::StationData& station, const std::vector<mt::Datum>& data) {
  return std::ranges::any_of(data, [&](mt::Datum datum) {
    const mt::Elements needs = mt::rule_of(datum).needs;
    const auto is_whole = [&](const mt::StationRow& row) {
      return std::ranges::none_of(
          mt::all_elements, [&](mt::Element each) { return needs.contains(each) && row.is_missing(each); });
    };
    return std::ranges::any_of(station.rows, is_whole) ||
           std::ranges::any_of(station.readings, [&](const mt::Reading& reading) {
             return reading.datum == datum && std::isfinite(reading.value);
           });
  });
}

/// Returns the selection with those data of the choices that the stations hold first. Where they hold none,
/// the selection stays, and is refused as one that was asked for.
mt::Selection chosen_selection(const config::DataConfig& data, const std::vector<mt::StationData>& stations,
                               int dimension) {
  mt::Selection selection = data.selection;
  const auto is_held = [&](const config::DataChoice& choice) {
    return choice.least_dimension <= dimension && dimension <= choice.most_dimension &&
           std::ranges::any_of(stations, [&](const auto& each) { return states_any(each, choice.needed); });
  };
  const auto chosen = std::ranges::find_if(data.choices, is_held);
  if (chosen == data.choices.end()) return selection;
  if (chosen != data.choices.begin())
    core::log::info("data.kind = \"from_data\": the stations hold no {}, so that their {} are inverted",
                    data.choices.front().what, chosen->what);
  selection.data = chosen->selected;
  for (const std::string& place : config::floors_without_effect(data, selection))
    core::log::warning(core::log::Id("mt_invert#floor_without_effect"),
                       "{} has no effect, as {} are inverted; remove it, or state data.kind", place,
                       chosen->what);
  return selection;
}

constexpr double along_east_deg = 90.0;  // a line for a single sounding, which has none

}  // namespace

mt::Observations observe(const config::DataConfig& data, const config::ProfileConfig& config, int dimension) {
  const bool has_strike = config.line.strike_deg || config.line.strike != mt::StrikeChoice::across_line;
  if (has_strike && dimension == 3)
    throw core::ConfigError(
        "mt_invert#strike_of_volume",
        "{}: expected no strike with --dim 3, as a volume has none; remove it, or turn the "
        "map by profile.azimuth_deg",
        config.table.place(config.line.strike_deg ? "strike_deg" : "strike"));
  try {
    const std::vector<mt::StationData> stations =
        with_name(place_of_data(data), [&] { return read_stations(data); });
    const mt::Selection selection = chosen_selection(data, stations, dimension);
    if (dimension == 3) return io::survey::observe_on_map(stations, config.line, selection);
    mt::ProfileOptions line = config.line;
    if (dimension == 1 && stations.size() == 1 && !line.azimuth_deg) line.azimuth_deg = along_east_deg;
    return io::survey::observe(stations, line, selection);
  } catch (const core::ConfigError& error) {
    refuse(error, data, config);
  } catch (const core::InvalidArgument& error) {
    refuse(error, data, config);
  }
}

namespace {

/// Returns the choices of a configuration about earth and simulations. Reads its model and surface files.
inversion::mt::ProblemOptions problem_options(const config::Config& config, const mt::Observations& observed,
                                              int dimension) {
  const mt::GroundOptions ground{
      .elevation = config.profile.elevation,
      .off_surface = config.profile.drape ? mt::OffSurface::drape : mt::OffSurface::refuse};
  inversion::mt::ProblemOptions options{.dimension = dimension,
                                        .grid = config.grid.options,
                                        .ground = ground,
                                        .sea = config.sea,
                                        .sea_place = config.sea_place,
                                        .start = source_of(config.start),
                                        .soundings = config.soundings,
                                        .tears = config.regularization.tears,
                                        .fixed = config.regularization.fixed,
                                        .areas = areas_of(config.regularization),
                                        .distortion = config.distortion,
                                        .forward = config.forward};
  const bool starts_open = config.start.is_open && dimension == 2 && !config.learned_prior;
  if (starts_open && inversion::mt::has_soundings(config.soundings, observed))
    options.start = inversion::mt::FromSoundings{};
  if (config.grid.from_model) options.cells = std::get<physics::mesh::Model>(options.start).earth.grid;
  const bool same_file = !config.reference.file.empty() && config.reference.file == config.start.file;
  if (!same_file) options.reference = source_of(config.reference);
  if (ground.elevation == mt::Elevation::file)
    options.ground.surface = with_name(config.profile.table.place("surface_file"),
                                       [&] { return surface_of(config.profile, observed, options); });
  return options;
}

/// Returns how smooth a model is: what the configuration says, and else, where cells are the unknowns, in a
/// volume what `smooth_in_log_depth` does, in a section `usual_edges_reach`.
inversion::prior::RoughnessOptions roughness_of(const config::Config& config, const TensorGrid& grid,
                                                const mt::Observations& observed) {
  const config::RegularizationConfig& regularization = config.regularization;
  inversion::prior::RoughnessOptions roughness = regularization.roughness;
  const bool is_open = !regularization.depth_weight_exponent && !regularization.horizontal_depth_exponent;
  const bool is_covariance = regularization.smoothing == config::SmoothingOperator::autoregression;
  const bool is_usual = is_open && !is_covariance && !config.learned_prior;
  const bool in_log_depth = grid.dimension() == 3 && is_usual;
  if (grid.dimension() == 2 && is_usual && roughness.order == 1)
    roughness.edges_reach = inversion::mt::usual_edges_reach;
  if (regularization.edges_reach) roughness.edges_reach = *regularization.edges_reach;
  const double depth_m = grid.z_edges_m().back() - grid.z_edges_m().front();
  if (in_log_depth)
    roughness = inversion::mt::smooth_in_log_depth(roughness, depth_m, observed.survey.stations);
  if (regularization.horizontal_weight) roughness.horizontal_weight = *regularization.horizontal_weight;
  if (in_log_depth)
    core::log::info("smooth in (x, y, ln(z + {:g} m)): {:.3g} km sideways count like a factor e in depth",
                    roughness.depth_weight_z0_m,
                    1e-3 * std::sqrt(roughness.horizontal_weight / roughness.vertical_weight) *
                        (depth_m + roughness.depth_weight_z0_m));
  if (is_open) return roughness;
  roughness.depth_weight_exponent = regularization.depth_weight_exponent.value_or(0.0);
  roughness.horizontal_depth_exponent = regularization.horizontal_depth_exponent;
  return roughness;
}

/// Calls make(); an error about a key of the configuration becomes one of its place.
template <class Make>
auto with_places(const config::Config& config, Make make) {
  try {
    return make();
  } catch (const core::InvalidArgument& error) {
    const std::string place = place_refused(error, config);
    if (place.empty()) throw;
    throw core::ConfigError(with_place(error, place));
  }
}

}  // namespace

inversion::Outcome stitch_soundings(MPI_Comm comm, const config::Config& config,
                                    const mt::Observations& observed) {
  return with_places(config, [&] {
    return inversion::mt::stitch_soundings(comm, observed, problem_options(config, observed, 1),
                                           {.title = config.title, .configuration = config.toml});
  });
}

inversion::Problem make_problem(MPI_Comm comm, const config::Config& config, const mt::Observations& observed,
                                int dimension) {
  auto prior = prior_of(config.learned_prior);
  inversion::mt::ProblemOptions options =
      with_places(config, [&] { return problem_options(config, observed, dimension); });
  inversion::Problem problem =
      with_places(config, [&] { return inversion::mt::problem(comm, observed, options); });
  problem.about.title = config.title;
  problem.about.configuration = config.toml;
  problem.bounds = config.bounds;
  problem.roughness = roughness_of(config, problem.earth.grid, observed);
  if (options.areas) problem.roughness.areas = std::move(options.areas->areas);
  if (config.regularization.smoothing == config::SmoothingOperator::autoregression)
    problem.roughness.autoregression =
        autoregression_of(io::modem::read_covariance(config.regularization.covariance_file));
  problem.norm = config.regularization.norm;
  problem.prior = std::move(prior);
  problem.huber_threshold = config.huber_threshold;
  return problem;
}

}  // namespace lodestone::mt_invert::commands
