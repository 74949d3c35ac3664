// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/train.hpp"

#include "apps/mt_invert/config/kind.hpp"
#include "apps/mt_invert/config/prior_sections.hpp"
#include "apps/mt_invert/config/rows.hpp"
#include "engine/core/log.hpp"
#include "io/text/text_file.hpp"
#include "io/toml/options.hpp"
#include "models/earths/prior_options.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>

namespace lodestone::mt_invert::config {
namespace {

using models::vae::VaeKind;

/// Reads the channels of the levels. The last level must still halve more than one cell, since parameters
/// of further levels have no effect. errors: ConfigError.
std::vector<engine::Dim> read_channels(ConfigTable& table, const models::vae::VaeOptions& options) {
  const auto result = table.integers("channels", options.channels, 1, 4096);
  if (result.empty() || result.size() > 8)
    table.refuse("channels", fmt::format("expected the channels of 1 to 8 levels, got {}", result.size()));
  const engine::Dim n = std::max(options.cells_z, options.cells_y);
  const auto most = static_cast<std::size_t>(
      std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)))));
  if (result.size() > most)
    table.refuse("channels", fmt::format("expected at most {} levels for the {} × {} cells of [grid], as "
                                         "each level halves them, got {}; give fewer channels",
                                         most, options.cells_z, options.cells_y, result.size()));
  return result;
}

models::vae::VaeOptions read_network(ConfigTable table, const models::earths::PatchGrid& grid) {
  models::vae::VaeOptions options{.cells_z = grid.n_z(), .cells_y = grid.n_y()};
  const std::string kind = table.choice("kind", {"column", "patch"}, grid.n_y() == 1 ? "column" : "patch");
  options.kind = kind == "column" ? VaeKind::column : VaeKind::patch;
  if (options.kind == VaeKind::column && grid.n_y() > 1)
    table.refuse("kind",
                 fmt::format("expected \"patch\" for the {} columns of [grid], got \"column\"", grid.n_y()));
  options.n_codes = table.integer("codes", static_cast<int>(options.n_codes), 1);
  options.channels = read_channels(table, options);
  if (options.n_codes > options.n_cells())
    core::log::warning(
        "{} = {}: more codes than the {} cells of a subdomain, which they are to sum up; give fewer",
        table.place("codes"), options.n_codes, options.n_cells());
  options.centre = table.flag("centre", options.centre);
  return options;
}

models::vae::VaeLossOptions read_loss(ConfigTable table) {
  models::vae::VaeLossOptions options;
  options.layer_weights =
      table.choice("layer_weights", {"log10_thickness", "uniform"}, "log10_thickness") == "uniform"
          ? models::vae::LayerWeights::uniform
          : models::vae::LayerWeights::log10_thickness;
  options.similarity = table.not_negative("similarity", options.similarity);
  options.divergence = table.not_negative("divergence", options.divergence);
  options.divergence_of = table.choice("divergence_of", {"mean", "sum"}, "mean") == "sum"
                              ? models::vae::Divergence::sum
                              : models::vae::Divergence::mean;
  return options;
}

models::vae::VaeRecipe read_recipe(ConfigTable table) {
  models::vae::VaeRecipe recipe;
  recipe.n_draws = table.integer("draws", static_cast<int>(recipe.n_draws), 10);
  recipe.validation_share = table.positive("validation_share", recipe.validation_share);
  if (recipe.validation_share > 0.9)
    table.refuse("validation_share", fmt::format("expected at most 0.9, got {:g}", recipe.validation_share));
  recipe.epochs = table.integer("epochs", static_cast<int>(recipe.epochs), 1);
  recipe.batch_size = table.integer("batch_size", static_cast<int>(recipe.batch_size), 2);
  recipe.learning_rate = table.positive("learning_rate", recipe.learning_rate);
  recipe.schedule = table.choice("schedule", {"constant", "cosine"}, "constant") == "cosine"
                        ? models::vae::RateSchedule::cosine
                        : models::vae::RateSchedule::constant;
  recipe.patience = table.integer("patience", static_cast<int>(recipe.patience), 0);
  recipe.seed = static_cast<std::uint64_t>(table.integer("seed", static_cast<int>(recipe.seed), 0));
  const auto n_training =
      static_cast<std::int64_t>(static_cast<double>(recipe.n_draws) * (1.0 - recipe.validation_share));
  if (recipe.batch_size > n_training)
    table.refuse("batch_size", fmt::format("expected at most the {} draws there are for training, got {}",
                                           n_training, recipe.batch_size));
  return recipe;
}

/// The tables that models read themselves, as given, without their headers: so cards and checkpoints have had
/// it from the first version on, and a resume compares it.
std::string data_text(const core::Options& root) {
  std::string text;
  for (const char* name : {"grid", "prior"}) text += root.child(name).to_toml();
  return text;
}

}  // namespace

TrainConfig read_train_config(const std::string& path, const std::vector<std::string>& assignments) {
  core::Options given = io::toml::read_options_toml(path);
  check_kind(given, ConfigKind::training, path);
  for (const std::string& assignment : assignments) io::toml::set_option(given, assignment);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const ConfigTable table(given, folder.string());
  std::string
      contents;  // of the files that the prior is cut from: a resume with others would be another training
  const models::earths::Prior prior = models::earths::read_prior(given, [&](const std::string& file) {
    const std::string section = (folder / file).string();
    contents += fmt::format("# content of {}: {}\n", file, io::text::digest_of_file(section));
    return read_prior_section(section);
  });

  TrainConfig config{.title = table.table("run").text("title", std::filesystem::path(path).stem().string()),
                     .prior = prior,
                     .setup = {},
                     .data = data_text(given) + contents,
                     .toml = {}};
  config.setup = {read_network(table.table("network"), prior.grid()), read_loss(table.table("loss")),
                  read_recipe(table.table("training"))};
  ConfigTable output = table.table("output");
  config.format = output.choice("format", {"hdf5", "safetensors"}, "hdf5") == "hdf5" ? VaeFormat::hdf5
                                                                                     : VaeFormat::safetensors;
  config.report = output.flag("report", true);
  config.checkpoint = output.flag("checkpoint", true);
  given.require_all_used();
  config.toml = table.effective_toml() + given.child("grid").to_toml("grid") +
                given.child("prior").to_toml("prior") + "\n" + contents;
  return config;
}

}  // namespace lodestone::mt_invert::config
