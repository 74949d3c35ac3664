// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/train.hpp"

#include "apps/mt_invert/config/config.hpp"
#include "apps/mt_invert/config/page.hpp"
#include "apps/mt_invert/config/rows.hpp"
#include "engine/core/log.hpp"
#include "io/model/read.hpp"
#include "io/text/text_file.hpp"
#include "models/earths/prior_options.hpp"
#include "models/earths/sections.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

namespace lodestone::mt_invert::config {
namespace {

using models::vae::VaeKind;
using models::vae::VaeLossOptions;
using models::vae::VaeOptions;
using models::vae::VaeRecipe;

Rows<VaeOptions> network_rows() {
  return {
      row("kind", &VaeOptions::kind, "convolutions along depth, along depth and profile, or along all axes")
          .usually("`\"column\"` for one column, `\"volume\"` with cells along x, else `\"patch\"`"),
      row("codes", &VaeOptions::n_codes, within(1, 4096),
          "numbers that set a subdomain; more than it has cells are warned of"),
      row("channels", &VaeOptions::channels, within(1, 4096),
          "of the convolutions, one for each of 1 to 8 levels"),
      row("centre", &VaeOptions::centre,
          "the mean of the training draws is subtracted before the encoder and added behind the decoder")};
}

Rows<VaeLossOptions> loss_rows() {
  return {row("layer_weights", &VaeLossOptions::layer_weights,
              "weight of a cell's squared misfit: log10 of its layer's thickness in m, at least 0.1"),
          row("similarity", &VaeLossOptions::similarity, weights(), "weight of 1 − SSIM"),
          row("divergence", &VaeLossOptions::divergence, weights(),
              "weight of the codes' divergence from the standard normal distribution"),
          row("divergence_of", &VaeLossOptions::divergence_of,
              "over the codes; of the sum the weight is the β of a β-VAE")};
}

Rows<VaeRecipe> recipe_rows() {
  return {row("draws", &VaeRecipe::n_draws, within(10, 10'000'000), "of the prior"),
          row("validation_share", &VaeRecipe::validation_share, share(0.9), "of the draws, never trained on"),
          row("epochs", &VaeRecipe::epochs, within(1, 1'000'000), "at most"),
          row("batch_size", &VaeRecipe::batch_size, within(2, 100'000), "draws per step"),
          row("learning_rate", &VaeRecipe::learning_rate, positive(1e6), "of Adam"),
          row("schedule", &VaeRecipe::schedule,
              "\"cosine\": rises over the first epoch, falls to a hundredth at the last"),
          row("patience", &VaeRecipe::patience, within(0, 1'000'000),
              "epochs without a better validation loss, after which training stops; 0: never"),
          row("seed", &VaeRecipe::seed, at_least(0), "of first weights, order and noise"),
          row("shards", &VaeRecipe::shards, within(1, 4096),
              "parts of a batch, which fix the bits of the network; as many ranks can share the training "
              "(`mpirun -n 4 mt_invert train CONFIG`), and fewer give the same network")};
}

Rows<TrainOutput> output_rows() {
  return {row("format", &TrainOutput::format, "`vae.h5` or `vae.safetensors`; the same arrays"),
          row("report", &TrainOutput::report, "`report.html` and `pictures/`"),
          row("checkpoint", &TrainOutput::checkpoint,
              "`checkpoint.safetensors` after every epoch, for `--resume`")};
}

/// The last level must still halve more than one cell, since parameters of further levels have no effect.
/// errors: ConfigError.
void check_channels(const ConfigTable& table, const VaeOptions& options) {
  const std::size_t n_levels = options.channels.size();
  if (n_levels == 0 || n_levels > 8)
    table.refuse("channels", "wrong_number_of_levels",
                 fmt::format("expected the channels of 1 to 8 levels, got {}", n_levels));
  const engine::Dim n = std::max({options.cells_z, options.cells_y, options.cells_x});
  const auto most = static_cast<std::size_t>(
      std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)))));
  if (n_levels > most)
    table.refuse("channels", "too_many_levels",
                 fmt::format("expected at most {} levels for the {} × {}{} cells of [grid], as "
                             "each level halves them, got {}; give fewer channels",
                             most, options.cells_z, options.cells_y,
                             options.cells_x > 1 ? fmt::format(" × {}", options.cells_x) : "", n_levels));
}

VaeOptions read_network(const ConfigTable& table, const physics::mesh::TensorGrid& grid) {
  const bool is_volume = grid.has(physics::mesh::Axis::x);
  VaeOptions options{.kind = is_volume         ? VaeKind::volume
                             : grid.n_y() == 1 ? VaeKind::column
                                               : VaeKind::patch,
                     .cells_z = grid.n_z(),
                     .cells_y = grid.n_y(),
                     .cells_x = grid.n_x()};
  options = read(table, network_rows(), options);
  if ((options.kind == VaeKind::volume) != is_volume)
    table.refuse(
        "kind", "needs_volume",
        fmt::format("expected \"volume\" where [grid] has cells along x, and there alone, got \"{}\"",
                    core::word(options.kind)));
  if (options.kind == VaeKind::column && grid.n_y() > 1)
    table.refuse("kind", "needs_patches",
                 fmt::format("expected \"patch\" for the {} columns of [grid], got \"column\"", grid.n_y()));
  constexpr engine::Dim most_cells = 8192;  // their covariance, which goes along, takes 0.5 GB
  if (options.n_cells() > most_cells)
    table.refuse(
        "codes", "too_many_cells",
        fmt::format("expected at most {} cells of [grid] in a subdomain, got {}; give fewer, or cut the "
                    "region into smaller subdomains",
                    most_cells, options.n_cells()));
  check_channels(table, options);
  if (options.n_codes > options.n_cells())
    core::log::warning(
        core::log::Id("configuration#more_codes_than_cells"),
        "{} = {}: more codes than the {} cells of a subdomain, which they are to sum up; give fewer",
        table.place("codes"), options.n_codes, options.n_cells());
  return options;
}

VaeRecipe read_recipe(const ConfigTable& table, engine::Dim n_cells) {
  const VaeRecipe recipe = read(table, recipe_rows(), VaeRecipe{});
  constexpr double most_values = 1e10;  // 40 GB
  if (static_cast<double>(recipe.n_draws) * static_cast<double>(n_cells) > most_values)
    table.refuse(
        "draws", "too_many_draws",
        fmt::format("expected at most {:g} draws of the {} cells of [grid], got {}",
                    std::floor(most_values / static_cast<double>(n_cells)), n_cells, recipe.n_draws));
  const auto n_training =
      static_cast<std::int64_t>(static_cast<double>(recipe.n_draws) * (1.0 - recipe.validation_share));
  if (recipe.batch_size > n_training)
    table.refuse("batch_size", "batch_too_large",
                 fmt::format("expected at most the {} draws there are for training, got {}", n_training,
                             recipe.batch_size));
  if (recipe.shards > recipe.batch_size)
    table.refuse(
        "shards", "more_shards_than_draws",
        fmt::format("expected at most the {} draws of a batch, got {}", recipe.batch_size, recipe.shards));
  return recipe;
}

/// Returns a model file (HDF5 result, ModEM 2-D, TOML) as a section a prior is cut from. errors: those of
/// the reader and of `models::section_of`.
models::earths::Section read_prior_section(const std::string& path) {
  return models::earths::section_of(io::model::read_model(path),
                                    std::filesystem::path(path).filename().string());
}

/// The tables that models read themselves, as given, without their headers: so cards and checkpoints have
/// had it from the first version on, and a resume compares it.
std::string data_text(const core::Options& root) {
  std::string text;
  for (const char* name : {"grid", "prior"}) text += root.child(name).to_toml();
  return text;
}

}  // namespace

TrainConfig read_train_config(const std::string& path, const std::vector<std::string>& assignments) {
  const core::Options given = read_options(path, assignments, ConfigKind::training);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const ConfigTable table(given, folder.string());
  std::string
      contents;  // of the files that the prior is cut from: a resume with others would be another training
  const models::earths::Prior prior = models::earths::read_prior(given, [&](const std::string& file) {
    const std::string section = (folder / file).string();
    contents += fmt::format("# content of {}: {}\n", file, io::text::digest_of_file(section));
    return read_prior_section(section);
  });

  TrainConfig config{.title = read_title(table, path),
                     .prior = prior,
                     .setup = {},
                     .output = {},
                     .data = data_text(given) + contents,
                     .toml = {}};
  const VaeOptions network = read_network(table.table("network"), prior.grid());
  config.setup = {network, read(table.table("loss"), loss_rows(), VaeLossOptions{}),
                  read_recipe(table.table("training"), network.n_cells())};
  config.output = read(table.table("output"), output_rows(), TrainOutput{});
  given.require_all_used();
  config.toml = table.effective_toml() + given.child("grid").to_toml("grid") +
                given.child("prior").to_toml("prior") + "\n" + contents;
  return config;
}

void describe_training(Page& page) {
  page.add("train [network]", network_rows());
  page.add("train [loss]", loss_rows());
  page.add("train [training]", recipe_rows());
  page.add("train [output]", output_rows());
}

}  // namespace lodestone::mt_invert::config
