// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/earth.hpp"

#include "apps/mt_invert/config/page.hpp"
#include "apps/mt_invert/config/rows.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::config {

/// Source of a start or reference model.
enum class ModelSource { half_space, file, soundings };
constexpr auto words(ModelSource) {
  using enum ModelSource;
  return core::Words<ModelSource>{{half_space, "half_space"}, {file, "file"}, {soundings, "soundings"}};
}

namespace {

using physics::mesh::Sea;
using physics::mt::GridOptions;
using physics::mt::ProfileOptions;

Rows<ProfileConfig> profile_rows(bool is_edi = true) {
  const auto edi = [is_edi](const ProfileConfig&) { return is_edi; };
  return joined(
      needing(
          "EDI data", edi,
          row("azimuth_deg", at(&ProfileConfig::line, &ProfileOptions::azimuth_deg), angles(),
              "of the profile's y axis, clockwise from north")
              .otherwise("best line through the stations, 0 to 180; with a strike the perpendicular to it"),
          row("strike_deg", at(&ProfileConfig::line, &ProfileOptions::strike_deg), angles(),
              "azimuth of x, to which tensors are rotated and along which stations are projected")
              .otherwise("as `strike` says"),
          row("strike", at(&ProfileConfig::line, &ProfileOptions::strike),
              "perpendicular to the line of the stations, or what their impedances show, without any their "
              "phase "
              "tensors"),
          row("origin_station", at(&ProfileConfig::line, &ProfileOptions::origin), "station at y = 0")
              .usually("first along the azimuth"),
          row("distance", at(&ProfileConfig::line, &ProfileOptions::distance),
              "on the line, or the sum of the station-to-station distances in the given order"),
          row("projection", at(&ProfileConfig::line, &ProfileOptions::projection),
              "\"local\": transverse Mercator through the survey's middle; \"utm\"; or a definition of PROJ "
              "(\"EPSG:32733\")")),
      Rows<ProfileConfig>{
          row("elevation", &ProfileConfig::elevation,
              "surface of the section: level at the stations' mean elevation, "
              "through the stations' elevations, or a file"),
          path_row(
              "surface_file", &ProfileConfig::surface_file,
              "with \"file\": the ground or the sea floor as CSV, or a grid of elevations (GeoTIFF, HGT, "
              "ESRI ASCII and others), see below"),
          row("drape", &ProfileConfig::drape,
              "stations that state a depth are moved onto the surface; otherwise they must stand on it")});
}

Rows<GridConfig> grid_rows() {
  const auto has_own_cells = [](const GridConfig& grid) { return !grid.from_model; };
  return joined(
      Rows<GridConfig>{row("from_start_model", &GridConfig::from_model,
                           "the cells of `start.model_file` instead of the keys below")},
      needing(
          "from_start_model = false", has_own_cells,
          row("n_columns", at(&GridConfig::options, &GridOptions::n_columns), within(0, 10'000),
              "uniform columns; 0: two per station, 20 … 200"),
          row("n_rows", at(&GridConfig::options, &GridOptions::n_rows), within(0, 10'000),
              "along x with `--dim 3`, whose columns count likewise; 0: two per usual distance of stations"),
          row("margin", at(&GridConfig::options, &GridOptions::margin), within(0.0, 100.0),
              "beyond the outermost stations on each side, as a share of the survey's length"),
          row("n_layers", at(&GridConfig::options, &GridOptions::n_layers), within(0, 1000),
              "0: until 1.5 skin depths of the longest period in the median ρₐ"),
          row("first_layer_m", at(&GridConfig::options, &GridOptions::first_layer_m), lengths_or_zero(),
              "thickness of the top layer; 0: a twentieth of the skin depth of the shortest period"),
          row("layer_factor", at(&GridConfig::options, &GridOptions::layer_factor), within(1.0, 100.0),
              "each layer is thicker than the one above by this factor")));
}

/// A start or reference model as it is written: `from` may be absent, and then follows from the other keys.
struct ModelForm {
  ModelSource from = ModelSource::half_space;
  double resistivity_ohm_m = ModelConfig{}.resistivity_ohm_m;
  std::string file;
};

Rows<ModelForm> model_rows() {
  return {
      row("from", &ModelForm::from,
          "\"soundings\": the layered earths under the stations, interpolated along the profile, in a volume "
          "by inverse squares of the distance")
          .otherwise("by the other keys; without any a section starts from soundings, see below"),
      row("resistivity_ohm_m", &ModelForm::resistivity_ohm_m, resistivities(), "of the half-space")
          .otherwise("`100.0`")
          .needs("from = \"half_space\"",
                 [](const ModelForm& form) { return form.from == ModelSource::half_space; }),
      row("model_file", &ModelForm::file,
          "ModEM, HDF5 result or model, or TOML model; sampled at the cells' centres. A volume may start "
          "from a section, the same at every x")
          .needs("from = \"file\"", [](const ModelForm& form) { return form.from == ModelSource::file; })};
}

/// A sea has a resistivity: there is no default that would do for brackish water as well.
Rows<Sea> sea_rows() {
  return {row("level_m", &Sea::level_m, places(),
              "z of the sea's surface, above the lowest point of the surface; z is down"),
          row("resistivity_ohm_m", &Sea::resistivity_ohm_m, resistivities(), "0.3 is usual").required()};
}

Rows<SoundingsConfig> sounding_rows() {
  using Stop = decltype(SoundingsConfig::stop);
  return {row("mode", &SoundingsConfig::mode, "average of TE and TM (log10 ρₐ and phase), or one of them"),
          row("target_rms", at(&SoundingsConfig::stop, &Stop::target_rms), positive(1e6), "of each sounding"),
          row("max_iterations", at(&SoundingsConfig::stop, &Stop::max_iterations), within(1, 10'000),
              "of each sounding")};
}

/// The ends of [bounds] as they are written, in ohm m; the bounds of an inversion are logarithms.
struct BoundsForm {
  double least_ohm_m = 1.0, most_ohm_m = 1e4;
};

Rows<BoundsForm> bound_rows() {
  return {row("resistivity_min_ohm_m", &BoundsForm::least_ohm_m, resistivities(), "the section stays above")
              .required(),
          row("resistivity_max_ohm_m", &BoundsForm::most_ohm_m, resistivities(), "the section stays below")
              .required()};
}

}  // namespace

ProfileConfig read_profile(ConfigTable table, const std::string& source_key) {
  const ProfileConfig profile = read(table, profile_rows(source_key.empty()), ProfileConfig{.table = table});
  if (profile.elevation == Elevation::stations && source_key == "modem_file")
    table.refuse(
        "elevation", "no_elevations",
        "expected a source of elevations, which ModEM 2-D files do not hold; use \"flat_mean\" or \"file\"");
  if (profile.line.strike_deg && profile.line.strike == physics::mt::StrikeChoice::from_data)
    table.refuse("strike_deg", "two_strikes",
                 "goes without strike = \"from_data\", which takes it from the data; remove one of them");
  if ((profile.elevation == Elevation::file) != !profile.surface_file.empty())
    table.refuse("surface_file", "elevation_and_file",
                 "goes together with elevation = \"file\"; give both or neither");
  return profile;
}

GridConfig read_grid(ConfigTable table) {
  const GridConfig grid = read(table, grid_rows(), GridConfig{});
  constexpr double most_cells = 2e6;
  if (static_cast<double>(grid.options.n_columns) * grid.options.n_layers > most_cells)
    table.refuse("n_columns", "too_many_cells",
                 fmt::format("expected at most {:.0f} cells, got {} × {}", most_cells, grid.options.n_columns,
                             grid.options.n_layers));
  constexpr double deepest_m = 1e9;
  const double thickness_m = std::max(1.0, grid.options.first_layer_m) *
                             std::pow(grid.options.layer_factor, std::max(0, grid.options.n_layers - 1));
  if (thickness_m > deepest_m)
    table.refuse("layer_factor", "out_of_range",
                 fmt::format("expected a last layer of at most {:g} m, got one of {:g} m: a layer of {:g} m "
                             "grows {} times by {:g}; lower one of these",
                             deepest_m, thickness_m, std::max(1.0, grid.options.first_layer_m),
                             grid.options.n_layers - 1, grid.options.layer_factor));
  return grid;
}

ModelConfig read_model(ConfigTable table, const ModelConfig& usual) {
  table.allow_one_of({"resistivity_ohm_m", "model_file"});
  const bool has_file = table.has("model_file") || (!usual.file.empty() && !table.has("resistivity_ohm_m"));
  const ModelForm form = read(table, model_rows(),
                              {has_file ? ModelSource::file : ModelSource::half_space,
                               usual.resistivity_ohm_m, usual.file_as_written});
  ModelConfig model;
  model.from_soundings = form.from == ModelSource::soundings;
  model.is_open = !table.has("from") && !table.has("resistivity_ohm_m") && !table.has("model_file");
  if (form.from == ModelSource::half_space) model.resistivity_ohm_m = form.resistivity_ohm_m;
  if (form.from != ModelSource::file) return model;
  if (form.file.empty() || (table.has("from") && !table.has("model_file")))
    table.refuse("model_file", "no_model_file",
                 "is missing, which from = \"file\" needs; add it or change from");
  model.file_as_written = form.file;
  model.file = table.resolved(form.file);
  model.file_place = table.has("model_file") ? table.place("model_file") : usual.file_place;
  return model;
}

std::optional<Sea> read_sea(ConfigTable table) {
  if (!table.has("level_m") && !table.has("resistivity_ohm_m")) return {};
  if (!table.has("resistivity_ohm_m"))
    table.refuse("resistivity_ohm_m", "no_resistivity",
                 "is missing: the sea needs the resistivity of its water; 0.3 is usual");
  return read(table, sea_rows(), Sea{});
}

SoundingsConfig read_soundings(ConfigTable table) { return read(table, sounding_rows(), SoundingsConfig{}); }

std::optional<inversion::Bounds> read_bounds(ConfigTable table) {
  if (!table.has("resistivity_min_ohm_m") && !table.has("resistivity_max_ohm_m")) return {};
  const BoundsForm form = read(table, bound_rows(), BoundsForm{});
  if (!(form.least_ohm_m < form.most_ohm_m))
    table.refuse("resistivity_min_ohm_m", "empty_interval",
                 fmt::format("expected less than resistivity_max_ohm_m = {}, got {}", form.most_ohm_m,
                             form.least_ohm_m));
  return inversion::Bounds{std::log10(form.least_ohm_m), std::log10(form.most_ohm_m)};
}

void describe_earth(Page& page) {
  page.add("invert [profile]", profile_rows());
  page.add("invert [sea]", sea_rows());
  page.add("invert [grid]", grid_rows());
  page.add("invert [start] [reference]", model_rows());
  page.add("invert [soundings]", sounding_rows());
  page.add("invert [bounds]", bound_rows());
}

}  // namespace lodestone::mt_invert::config
