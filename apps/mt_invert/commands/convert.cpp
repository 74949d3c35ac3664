// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/geodesy/map_system.hpp"
#include "io/model/read.hpp"
#include "io/model/write.hpp"
#include "io/run/folder.hpp"
#include "io/survey/choices.hpp"
#include "io/survey/read.hpp"
#include "io/survey/unread.hpp"
#include "io/text/counted.hpp"
#include "io/vtk/survey.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace lodestone::mt_invert::commands {
namespace {

using cli::ConvertArguments;
using io::text::counted;

/// Refuses an output that exists and is no file or folder of its kind, or would replace what is read.
void check_output(const ConvertArguments& arguments, const cli::StationOutput& to) {
  std::error_code ignored;
  const std::filesystem::path path = arguments.output_path;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  if (!is_folder) return check_output_path(arguments.output_path, arguments.paths);
  if (!to.format || !io::survey::is_of_one_station(*to.format))
    throw core::FileError(
        "mt_invert#output_is_folder",
        "{}: expected the name of a file, as one file holds all stations, got a folder; give "
        "another name",
        arguments.output_path);
  if (!std::filesystem::is_empty(path, ignored))
    throw core::FileError("mt_invert#folder_not_empty",
                          "{}: expected a new or an empty folder, got one with files; give another name",
                          arguments.output_path);
}

/// Warns of what a format has no place for.
void warn_of(const std::vector<std::string>& lost, std::string_view format) {
  for (const std::string& each : lost)
    core::log::warning(core::log::Id("mt_invert#not_held"), "{} cannot hold: {}", format, each);
}

void log_paths(const std::vector<std::string>& paths) {
  core::log::info("ParaView:   {}", fmt::join(paths, ", "));
}

/// Refuses an option, or an output, of the other kind.
void require(bool has_output, const std::string& other_option, const ConvertArguments& arguments,
             std::string_view what, std::string_view endings) {
  if (!other_option.empty())
    throw core::ConfigError("mt_invert#option_of_other_kind",
                            "{} has no meaning for {}, which {} holds; leave it out", other_option, what,
                            arguments.paths.front());
  if (!has_output)
    throw core::ConfigError("mt_invert#output_of_other_kind",
                            "{}: expected an output for {}, which {} holds: a name that ends in {}",
                            arguments.output_path, what, arguments.paths.front(), endings);
}

/// Returns the file of a model among the inputs, also the result in the folder of a run; nothing where the
/// inputs are stations. errors: ConfigError for a model among several inputs; FileError for a run without a
/// result.
std::optional<std::string> model_file(const ConvertArguments& arguments) {
  for (const std::string& path : arguments.paths) {
    std::error_code ignored;
    const std::filesystem::path result = std::filesystem::path(path) / "result.h5";
    const bool is_run = std::filesystem::is_regular_file(result, ignored);
    if (!is_run && std::filesystem::is_directory(path, ignored)) {
      const io::run::RunFolder folder(path);
      if (std::filesystem::exists(folder.checkpoint(), ignored)) folder.require_result();
      continue;
    }
    const std::string file = is_run ? result.string() : path;
    if (arguments.paths.size() == 1) io::survey::refuse_unread(file);
    if (!io::model::is_model_file(file)) continue;
    if (arguments.paths.size() > 1)
      throw core::ConfigError(
          "mt_invert#several_models",
          "expected one model, or files of stations, got {} inputs of which {} is a model",
          arguments.paths.size(), path);
    return file;
  }
  return {};
}

void convert_model(const ConvertArguments& arguments, const std::string& file) {
  require(arguments.model.has_value(), arguments.option_of_stations, arguments, "a model",
          ".rho, .ws, .iter, .h5, .toml, .xyz, .sg, .vtu or .tif");
  const cli::ModelOutput& to = *arguments.model;
  if (!to.options.system.empty() && !io::model::may_be_on_map(to.format))
    throw core::ConfigError("mt_invert#no_map",
                            "--epsg expects a model in the format xyz, gocad or geotiff, got {}",
                            core::word(to.format));
  const std::string inputs[] = {file};
  check_output_path(arguments.output_path, inputs);
  io::model::PlacedModel placed = io::model::read_placed_model(file);
  if (to.origin && placed.frame.is_on_map())
    throw core::ConfigError(
        "mt_invert#has_origin",
        "--origin expects a model without a place on the map, but {} states one; leave it "
        "out",
        file);
  if (to.origin)
    placed.frame = io::geodesy::frame_at(to.origin->at, to.origin->elevation_m, to.origin->azimuth_deg);
  warn_of(io::model::write_model(arguments.output_path, placed, to.format, to.options),
          core::word(to.format));
  const physics::mesh::TensorGrid& grid = placed.model.earth.grid;
  core::log::info("wrote {} in {} of {} to {}", counted(static_cast<std::size_t>(grid.n_cells()), "cell"),
                  counted(static_cast<std::size_t>(grid.dimension()), "dimension"), file,
                  arguments.output_path);
}

/// Leaves out stations whose values are all masked, which only a survey file keeps. errors: InvalidArgument
/// where no other station is left.
void leave_out_masked(std::vector<physics::mt::StationData>& stations) {
  std::vector<std::string> names;
  for (const physics::mt::StationData& station : stations)
    if (!station.has_value()) names.push_back(station.site.name);
  if (names.empty()) return;
  std::erase_if(stations, [](const physics::mt::StationData& each) { return !each.has_value(); });
  if (stations.empty())
    throw core::InvalidArgument(
        "mt_invert#all_masked",
        "expected a value that is not masked, but those of all {} are; take some back "
        "with --unmask, or write a survey file (a name that ends in .h5)",
        counted(names.size(), "station"));
  core::log::warning(core::log::Id("mt_invert#station_masked"),
                     "left out, as all their values are masked, which only a survey file keeps: {}",
                     fmt::join(names, ", "));
}

void convert_stations(const ConvertArguments& arguments) {
  require(arguments.stations.has_value(), arguments.option_of_models, arguments, "stations",
          ".h5, .edi, .xml, .zmm, .j, .dat, .csv, .pvd or .vtp");
  const cli::StationOutput& to = *arguments.stations;
  check_output(arguments, to);
  std::vector<std::string> files;
  for (const std::string& path : arguments.paths)
    for (std::string& file : io::survey::station_files(path)) files.push_back(std::move(file));
  io::survey::require_taken(files, arguments.read);
  io::survey::ReadOptions options = arguments.read;
  options.keeps_masked_stations = true;
  auto stations = io::survey::edited(io::survey::read_files(files, options), to.edits);
  if (to.format != io::survey::WriteFormat::survey) leave_out_masked(stations);
  if (to.format) {
    warn_of(io::survey::write(arguments.output_path, stations, *to.format, to.placing).lost,
            core::word(*to.format));
  } else {
    if (std::ranges::any_of(stations, [](const auto& each) { return each.n_masked() > 0; }))
      warn_of({"masked values, which only a survey file keeps"}, "vtk");
    log_paths(io::vtk::write_survey(arguments.output_path, stations, to.placing.line));
  }
  core::log::info("wrote {} of {} to {}", counted(stations.size(), "station"), counted(files.size(), "file"),
                  arguments.output_path);
}

}  // namespace

int run_convert(MPI_Comm comm, const ConvertArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    if (const auto file = model_file(arguments))
      convert_model(arguments, *file);
    else
      convert_stations(arguments);
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
