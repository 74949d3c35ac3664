// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/config.hpp"

#include "apps/mt_invert/config/data.hpp"
#include "apps/mt_invert/config/kind.hpp"
#include "apps/mt_invert/config/regularization.hpp"
#include "apps/mt_invert/config/rows.hpp"
#include "io/toml/options.hpp"

#include <cmath>
#include <filesystem>

namespace lodestone::mt_invert::config {
namespace {

ProfileConfig read_profile(ConfigTable table, const std::string& source_key) {
  ProfileConfig profile;
  if (!source_key.empty()) {
    for (const char* key : {"azimuth_deg", "origin_station", "distance", "projection"}) {
      if (table.has(key))
        table.refuse(key,
                     fmt::format("the stations of {} lie on a profile already; remove this key", source_key));
    }
  } else {
    profile.options.azimuth_deg = table.optional_real("azimuth_deg");
    profile.options.origin_station = table.text("origin_station", "");
    const std::string distance = table.choice("distance", {"projected", "running_sum"}, "projected");
    profile.options.distance =
        distance == "running_sum" ? physics::mt::Distance::running_sum : physics::mt::Distance::projected;
    profile.projection = table.text("projection", profile.projection);
  }
  const std::string elevation = table.choice("elevation", {"flat_mean", "stations", "file"}, "flat_mean");
  if (elevation == "stations" && source_key == "modem_file")
    table.refuse("elevation", "ModEM 2-D files hold no elevations; use \"flat_mean\" or \"file\"");
  profile.elevation = elevation == "stations" ? Elevation::stations
                      : elevation == "file"   ? Elevation::file
                                              : Elevation::flat_mean;
  profile.surface_file = table.path("surface_file");
  if ((profile.elevation == Elevation::file) != !profile.surface_file.empty()) {
    table.refuse("surface_file", "goes together with elevation = \"file\"; give both or neither");
  }
  profile.drape = table.flag("drape", false);
  return profile;
}

/// A sea has a resistivity: there is no default that would do for brackish water as well.
std::optional<physics::mesh::Sea> read_sea(ConfigTable table) {
  if (!table.has("level_m") && !table.has("resistivity_ohm_m")) return {};
  if (!table.has("resistivity_ohm_m"))
    table.refuse("resistivity_ohm_m", "expected the resistivity of the sea water, got none; 0.3 is usual");
  return physics::mesh::Sea{table.real("level_m", 0.0), table.resistivity("resistivity_ohm_m")};
}

GridConfig read_grid(ConfigTable table) {
  GridConfig grid;
  grid.from_model = table.flag("from_start_model", false);
  if (grid.from_model) {
    for (const char* key : {"n_columns", "margin", "n_layers", "first_layer_m", "layer_factor"}) {
      if (table.has(key)) table.refuse(key, "excludes from_start_model = true; keep one of them");
    }
    return grid;
  }
  grid.n_columns = table.integer("n_columns", grid.n_columns, 0);
  grid.margin = table.not_negative("margin", grid.margin);
  grid.n_layers = table.integer("n_layers", grid.n_layers, 0);
  constexpr double most_cells = 2e6;
  if (static_cast<double>(grid.n_columns) * grid.n_layers > most_cells)
    table.refuse("n_columns", fmt::format("expected at most {:.0f} cells, got {} × {}", most_cells,
                                          grid.n_columns, grid.n_layers));
  grid.first_layer_m = table.not_negative("first_layer_m", grid.first_layer_m);
  grid.layer_factor = table.real("layer_factor", grid.layer_factor);
  if (!(grid.layer_factor >= 1.0))
    table.refuse("layer_factor", fmt::format("expected at least 1, got {}", grid.layer_factor));
  return grid;
}

/// `from` may be left out: the other keys say it.
ModelConfig read_model_config(ConfigTable table, const ModelConfig& fallback) {
  table.allow_one_of({"resistivity_ohm_m", "model_file"});
  const bool has_file =
      table.has("model_file") || (!fallback.file.empty() && !table.has("resistivity_ohm_m"));
  const std::string from =
      table.choice("from", {"half_space", "file", "soundings"}, has_file ? "file" : "half_space");
  ModelConfig model;
  model.from_soundings = from == "soundings";
  if (from != "file" && table.has("model_file"))
    table.refuse("model_file", fmt::format("excludes from = \"{}\"; keep one of them", from));
  if (from != "half_space" && table.has("resistivity_ohm_m"))
    table.refuse("resistivity_ohm_m", fmt::format("excludes from = \"{}\"; keep one of them", from));
  if (from == "half_space")
    model.resistivity_ohm_m = table.resistivity("resistivity_ohm_m", fallback.resistivity_ohm_m);
  if (from != "file") return model;
  if (table.has("from") && !table.has("model_file"))
    table.refuse("model_file",
                 "expected the name of a model for from = \"file\", got none; add it or change from");
  model.file_as_written = table.text("model_file", fallback.file_as_written);
  model.file = table.has("model_file") ? table.path("model_file") : fallback.file;
  if (model.file.empty()) table.refuse("model_file", "expected the name of a model, got an empty text");
  return model;
}

SoundingsConfig read_soundings(ConfigTable table) {
  SoundingsConfig soundings;
  const std::string mode = table.choice("mode", {"average", "te", "tm"}, "average");
  soundings.mode = mode == "te"   ? physics::mt::SoundingMode::te
                   : mode == "tm" ? physics::mt::SoundingMode::tm
                                  : physics::mt::SoundingMode::average;
  soundings.target_rms = table.positive("target_rms", soundings.target_rms);
  soundings.max_iterations = table.integer("max_iterations", soundings.max_iterations, 1);
  return soundings;
}

std::optional<BoundsConfig> read_bounds(ConfigTable table) {
  if (!table.has("resistivity_min_ohm_m") && !table.has("resistivity_max_ohm_m")) return {};
  const double lower = table.resistivity("resistivity_min_ohm_m");
  const double upper = table.resistivity("resistivity_max_ohm_m");
  if (!(lower < upper))
    table.refuse("resistivity_min_ohm_m",
                 fmt::format("expected less than resistivity_max_ohm_m = {}, got {}", upper, lower));
  return BoundsConfig{std::log10(lower), std::log10(upper)};
}

/// Far below the errors every model fits alike; far above them nothing is left to count linearly.
double read_huber_threshold(ConfigTable table) {
  constexpr const char* key = "huber_threshold";
  constexpr double least = 0.1, most = 100.0;
  const double threshold = table.real(key, 0.0);
  if (threshold != 0.0 && !(threshold >= least && threshold <= most))
    table.refuse(key, fmt::format("expected 0 (least squares) or {:g} to {:g} errors, got {}; 1.5 is usual",
                                  least, most, threshold));
  return threshold;
}

physics::mt::d2::Accuracy read_accuracy(ConfigTable& table, std::string_view key,
                                        const std::string& fallback) {
  const std::string word = table.choice(key, {"iteration", "standard", "fine"}, fallback);
  return word == "iteration" ? physics::mt::d2::Accuracy::iteration
         : word == "fine"    ? physics::mt::d2::Accuracy::fine
                             : physics::mt::d2::Accuracy::standard;
}

double read_coarsening(ConfigTable& table) {
  constexpr const char* key = "iteration_coarsen";
  constexpr double least = 0.25, most = 4.0;
  const double factor = table.real(key, 1.0);
  if (!(factor >= least && factor <= most))
    table.refuse(
        key, fmt::format(
                 "expected {:g} to {:g}, got {:g}; below 1 is finer, 1 are the sizes of iteration_accuracy",
                 least, most, factor));
  return factor;
}

void read_redesign(ConfigTable& table, ForwardConfig& forward) {
  using enum Redesigning;
  const std::string word =
      table.choice("redesign", {"each_iteration", "until_near_target", "never"}, "each_iteration");
  forward.redesign = word == "each_iteration" ? each_iteration : word == "never" ? never : until_near_target;
  constexpr const char* key = "near_target";
  if (forward.redesign != until_near_target) {
    if (table.has(key))
      table.refuse(
          key, fmt::format("needs redesign = \"until_near_target\", got \"{}\"; remove one of them", word));
    return;
  }
  forward.near_target = table.real(key, forward.near_target);
  if (!(forward.near_target >= 1.0 && forward.near_target <= 100.0))
    table.refuse(key,
                 fmt::format("expected 1 to 100 times inversion.target_rms, got {:g}", forward.near_target));
}

ForwardConfig read_forward(ConfigTable table) {
  ForwardConfig forward;
  forward.iteration = read_accuracy(table, "iteration_accuracy", "iteration");
  forward.iteration_coarsen = read_coarsening(table);
  forward.final_accuracy = read_accuracy(table, "final_accuracy", "standard");
  read_redesign(table, forward);
  const std::string certificate = table.choice("certificate", {"none", "iteration", "final", "both"}, "both");
  forward.certificate = certificate == "none"        ? CertificateOf::none
                        : certificate == "iteration" ? CertificateOf::iteration
                        : certificate == "final"     ? CertificateOf::final_meshes
                                                     : CertificateOf::both;
  forward.solver = table.choice("solver", {"lines", "petsc"}, "lines") == "petsc"
                       ? physics::mt::d2::SystemSolver::petsc
                       : physics::mt::d2::SystemSolver::lines;
  return forward;
}

OutputConfig read_output(ConfigTable table) {
  OutputConfig output;
  output.vtk = table.flag("vtk", output.vtk);
  output.report = table.flag("report", output.report);
  output.checkpoint = table.flag("checkpoint", output.checkpoint);
  return output;
}

/// errors: ConfigError for what a learned prior excludes.
void check_learned_prior(const Config& config, const ConfigTable& table) {
  if (config.inversion.alternates() && !config.learned_prior)
    table.table("inversion")
        .refuse("algorithm",
                "expected [[learned_prior.region]] with a network together with \"alternating\", got none: "
                "there are no codes to alternate "
                "with; add a region or choose \"gauss_newton\"");
  if (!config.learned_prior) return;
  const ConfigTable regularization = table.table("regularization");
  if (config.bounds)
    table.table("bounds").refuse("resistivity_min_ohm_m",
                                 "excludes [learned_prior]: its decoders set resistivities themselves; "
                                 "remove [bounds] or the regions");
  if (config.regularization.roughness.order != 1)
    regularization.refuse("order", fmt::format("expected 1 together with [learned_prior], got {}",
                                               config.regularization.roughness.order));
  if (config.regularization.norm.norm != inversion::prior::RoughnessNorm::l2)
    regularization.refuse("norm",
                          "expected \"l2\" together with [learned_prior]; remove norm or the regions");
  if (!config.inversion.needs_jacobian())
    table.table("inversion")
        .refuse("algorithm",
                "expected \"gauss_newton\" or \"alternating\" together with [learned_prior]; its weights "
                "follow the model");
}

}  // namespace

Config read_config(const std::string& path, const std::vector<std::string>& assignments) {
  core::Options given = io::toml::read_options_toml(path);
  check_kind(given, ConfigKind::inversion, path);
  for (const std::string& assignment : assignments) io::toml::set_option(given, assignment);
  const ConfigTable table(given, std::filesystem::path(path).parent_path().string());

  Config config;
  config.title = table.table("run").text("title", std::filesystem::path(path).stem().string());
  config.data = read_data_config(table.table("data"));
  config.profile = read_profile(table.table("profile"), config.data.profile_source().first);
  config.grid = read_grid(table.table("grid"));
  config.start = read_model_config(table.table("start"), {});
  config.reference = read_model_config(table.table("reference"), config.start);
  config.sea = read_sea(table.table("sea"));
  config.sea_place = table.table("sea").place("level_m");
  config.soundings = read_soundings(table.table("soundings"));
  config.bounds = read_bounds(table.table("bounds"));
  config.regularization = read_regularization(table.table("regularization"));
  config.learned_prior = read_learned_prior(table.table("learned_prior"));
  config.static_shift = read_static_shift(table.table("static_shift"));
  config.inversion = read_inversion(table.table("inversion"));
  config.huber_threshold = read_huber_threshold(table.table("misfit"));
  config.uncertainty = read_uncertainty(table.table("uncertainty"));
  config.forward = read_forward(table.table("forward"));
  config.output = read_output(table.table("output"));
  if (config.grid.from_model && config.start.file.empty()) {
    table.table("grid").refuse("from_start_model", "needs start.model_file, which is not given");
  }
  if (config.regularization.norm.norm != inversion::prior::RoughnessNorm::l2 &&
      !config.inversion.needs_jacobian())
    table.table("regularization")
        .refuse("norm", "needs inversion.algorithm = \"gauss_newton\"; descents know least squares alone");
  check_learned_prior(config, table);
  if (config.uncertainty && config.uncertainty->ensemble && config.huber_threshold > 0.0)
    table.table("uncertainty")
        .refuse("samples", fmt::format("excludes misfit.huber_threshold = {:g}, which stands for no "
                                       "distribution of errors to draw from; remove one",
                                       config.huber_threshold));
  given.require_all_used();
  config.toml = table.effective_toml();
  return config;
}

}  // namespace lodestone::mt_invert::config
