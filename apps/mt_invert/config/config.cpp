// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/config.hpp"

#include "apps/mt_invert/config/page.hpp"
#include "apps/mt_invert/config/rows.hpp"
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "io/toml/options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <variant>

namespace lodestone::mt_invert::config {
namespace {

/// Table [run].
struct RunConfig {
  std::string title;
};

Rows<RunConfig> title_rows() {
  return {row("title", &RunConfig::title, "heading of log and report").usually("name of the file")};
}

/// Far below the errors every model fits alike; far above them nothing is left to count linearly.
Rows<Config> misfit_rows() {
  return {
      row("huber_threshold", &Config::huber_threshold,
          {.least = 0.1, .most = 100.0, .or_zero = true, .units = " errors"},
          "residuals beyond so many errors count linearly (Huber's norm; 1.5 is usual); 0: least squares")};
}

Rows<OutputConfig> output_rows() {
  return {
      row("vtk", &OutputConfig::vtk, "files for ParaView in `vtk/`"),
      row("report", &OutputConfig::report, "`report.html` and `pictures/`"),
      row("modem", &OutputConfig::modem, "model, data and covariance as ModEM files in `modem/`, see below"),
      row("checkpoint", &OutputConfig::checkpoint, "`checkpoint.h5` after every iteration, for `--resume`")};
}

struct KindFacts {
  const char *command, *what;
  std::vector<std::string> tables;  ///< that the other has not; the first is required
};

KindFacts facts_of(ConfigKind kind) {
  if (kind == ConfigKind::training) return {"train", "a training", {"prior", "network", "loss", "training"}};
  return {"invert",
          "an inversion",
          {"data", "profile", "inversion", "regularization", "learned_prior", "start", "reference", "forward",
           "uncertainty"}};
}

/// Refuses a root whose tables are those of the other command only. Marks no key as known.
void check_kind(const core::Options& root, ConfigKind kind, const std::string& path) {
  const KindFacts wanted = facts_of(kind),
                  other =
                      facts_of(kind == ConfigKind::training ? ConfigKind::inversion : ConfigKind::training);
  const std::vector<std::string> keys = root.keys();
  const auto is_given = [&](const std::string& table) { return std::ranges::count(keys, table) > 0; };
  const auto found = std::ranges::find_if(other.tables, is_given);
  if (std::ranges::any_of(wanted.tables, is_given) || found == other.tables.end()) return;
  throw core::ConfigError(
      "configuration#other_command",
      "{}: expected the configuration of {} with a table [{}], got one of {} ([{}]); type: mt_invert {}",
      path, wanted.what, wanted.tables.front(), other.what, *found, other.command);
}

/// Refuses what is no table of the command, before the lack of a table is told.
void check_tables(const core::Options& root, ConfigKind kind) {
  std::vector<std::string> known = configuration_page().outermost(facts_of(kind).command);
  if (kind == ConfigKind::training)  // tables whose rows are not those of this program
    for (const char* name : {"run", "grid", "prior"}) known.emplace_back(name);
  std::vector<std::string> messages;
  for (const std::string& key : root.keys()) {
    if (std::ranges::count(known, key) > 0) continue;
    const auto nearest = core::nearest_word(key, known);
    messages.push_back(fmt::format("{}: unknown table or key \"{}\"; {}", root.where(key), key,
                                   nearest ? fmt::format("did you mean [{}]?", *nearest)
                                           : fmt::format("the tables are [{}]", fmt::join(known, "], ["))));
  }
  if (!messages.empty()) throw core::ConfigError("configuration#unknown_key", "{}", fmt::join(messages, " "));
}

/// Refuses the keys that a learned prior excludes.
void check_learned_prior(const Config& config, const ConfigTable& table) {
  if (config.inversion.alternates() && !config.learned_prior)
    table.table("inversion")
        .refuse("algorithm", "no_region",
                "needs [[learned_prior.region]] with a network: without it "
                "there are no codes to alternate "
                "with; add a region or choose \"gauss_newton\"");
  if (!config.learned_prior) return;
  const ConfigTable regularization = table.table("regularization");
  if (config.bounds)
    table.table("bounds").refuse("resistivity_min_ohm_m", "exclusive_tables",
                                 "excludes [learned_prior]: its decoders set resistivities themselves; "
                                 "remove [bounds] or the regions");
  if (config.regularization.roughness.order != 1)
    regularization.refuse("order", "prior_needs_first_order",
                          fmt::format("expected 1 together with [learned_prior], got {}",
                                      config.regularization.roughness.order));
  if (config.regularization.norm.norm != inversion::prior::RoughnessNorm::l2)
    regularization.refuse("norm", "prior_needs_l2",
                          "expected \"l2\" together with [learned_prior]; remove norm or the regions");
  if (!config.inversion.needs_jacobian())
    table.table("inversion")
        .refuse("algorithm", "prior_needs_jacobian",
                "expected \"gauss_newton\" or \"alternating\" together with [learned_prior]; its weights "
                "follow the model");
}

/// Refuses what needs derivatives beside an autoregression.
void check_autoregression(const Config& config, const ConfigTable& table) {
  if (config.regularization.smoothing != SmoothingOperator::autoregression) return;
  const bool descends = !config.inversion.needs_jacobian();
  if (config.learned_prior || descends)
    table.table("regularization")
        .refuse("operator", "needs_derivatives",
                fmt::format("expected \"derivatives\" together with {}, got \"autoregression\"",
                            descends ? "an algorithm that descends" : "[learned_prior]"));
}

/// Refuses matrices where no datum is made of what they change.
void check_distortion(const Config& config, const ConfigTable& table) {
  if (!std::holds_alternative<inversion::mt::DistortionMatrixOptions>(config.distortion)) return;
  if (std::ranges::none_of(config.data.selection.data, physics::mt::is_distorted))
    table.table("distortion")
        .refuse("enabled", "nothing_distorted",
                "needs impedances or apparent resistivities: a matrix in front of the impedance changes "
                "neither phase tensors nor tippers; set data.kind = \"full_impedance\" or remove the table");
}

/// Refuses keys of several tables that exclude or need each other.
void check_together(const Config& config, const ConfigTable& table) {
  if (config.grid.from_model && config.start.file.empty()) {
    table.table("grid").refuse("from_start_model", "no_model_file",
                               "needs start.model_file, which is not given");
  }
  if (config.regularization.norm.norm != inversion::prior::RoughnessNorm::l2 &&
      !config.inversion.needs_jacobian())
    table.table("regularization")
        .refuse("norm", "norm_needs_jacobian",
                "needs inversion.algorithm = \"gauss_newton\"; descents know least squares alone");
  check_learned_prior(config, table);
  check_autoregression(config, table);
  check_distortion(config, table);
  if (config.uncertainty && config.uncertainty->ensemble && config.huber_threshold > 0.0)
    table.table("uncertainty")
        .refuse("samples", "exclusive_tables",
                fmt::format("excludes misfit.huber_threshold = {:g}, which stands for no "
                            "distribution of errors to draw from; remove one",
                            config.huber_threshold));
}

}  // namespace

core::Options read_options(const std::string& path, const std::vector<std::string>& assignments,
                           ConfigKind kind) {
  core::Options given = io::toml::read_options_toml(path);
  check_kind(given, kind, path);
  for (const std::string& assignment : assignments) io::toml::set_option(given, assignment);
  check_tables(given, kind);
  return given;
}

std::string read_title(const ConfigTable& root, const std::string& path) {
  return read(root.table("run"), title_rows(),
              {core::clean_line(std::filesystem::path(path).stem().string())})
      .title;
}

Config read_config(const std::string& path, const std::vector<std::string>& assignments, int dimension) {
  const core::Options given = read_options(path, assignments, ConfigKind::inversion);
  const ConfigTable table(given, std::filesystem::path(path).parent_path().string());

  Config config;
  config.title = read_title(table, path);
  config.sea = read_sea(table.table("sea"));
  config.data = read_data_config(table.table("data"), dimension, config.sea.has_value());
  config.profile = read_profile(table.table("profile"), config.data.profile_source().first);
  config.grid = read_grid(table.table("grid"));
  config.start = read_model(table.table("start"), {});
  config.reference = read_model(table.table("reference"), config.start);
  config.sea_place = table.table("sea").place("level_m");
  config.soundings = read_soundings(table.table("soundings"));
  config.bounds = read_bounds(table.table("bounds"));
  config.regularization = read_regularization(table.table("regularization"));
  config.learned_prior = read_learned_prior(table.table("learned_prior"));
  config.distortion = read_distortion(table.table("static_shift"), table.table("distortion"));
  config.distortion_place = table.table("distortion").place("enabled");
  config.inversion = read_inversion(table.table("inversion"));
  config = read(table.table("misfit"), misfit_rows(), config);
  config.uncertainty = read_uncertainty(table.table("uncertainty"));
  config.forward = read_forward(table.table("forward"));
  config.output = read(table.table("output"), output_rows(), OutputConfig{});
  check_together(config, table);
  given.require_all_used();
  config.toml = table.effective_toml();
  return config;
}

void require_soundings_alone(const Config& config) {
  const RegularizationConfig& regularization = config.regularization;
  std::vector<std::string> tables;
  const auto add = [&](bool is_given, const char* name) {
    if (is_given) tables.emplace_back(name);
  };
  add(std::holds_alternative<inversion::mt::StaticShiftOptions>(config.distortion), "[static_shift]");
  add(std::holds_alternative<inversion::mt::DistortionMatrixOptions>(config.distortion), "[distortion]");
  add(config.bounds.has_value(), "[bounds]");
  add(config.uncertainty.has_value(), "[uncertainty]");
  add(config.learned_prior.has_value(), "[learned_prior]");
  add(!regularization.tears.empty(), "[[regularization.tear]]");
  add(!regularization.fixed.empty(), "[[regularization.fixed]]");
  add(!regularization.covariance_file.empty(), "regularization.modem_covariance_file");
  add(config.output.modem, "output.modem");
  if (!tables.empty())
    throw core::ConfigError(
        "configuration#needs_section",
        "expected a configuration of soundings alone with --dim 1, but it has {}, which a "
        "layered earth under one station cannot honour. Remove these tables, or invert with "
        "--dim 2",
        fmt::join(tables, ", "));
}

void describe_config(Page& page) {
  page.add("invert [run]", title_rows());
  page.add("invert [misfit]", misfit_rows());
  page.add("invert [output]", output_rows());
}

}  // namespace lodestone::mt_invert::config
