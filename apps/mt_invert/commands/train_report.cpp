// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/train_report.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/report/network.hpp"
#include "io/report/prior.hpp"
#include "io/run/folder.hpp"
#include "io/text/text_file.hpp"
#include "models/vae/vae_decoder.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace lodestone::mt_invert::commands {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index n_encoded = 2000, n_shown = 48, n_previewed = 400;

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    result.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// The table the training wrote, a row per epoch.
std::vector<io::report::TrainingEpoch> read_history(const std::string& path) {
  const std::string text = io::text::read_bytes(path);
  const auto lines = io::text::split_lines(text);
  if (lines.empty()) return {};
  std::map<std::string, std::size_t> column;
  for (const std::string& name : split(lines.front())) column.emplace(name, column.size());
  std::vector<io::report::TrainingEpoch> history;
  for (std::size_t k = 1; k < lines.size(); ++k) {
    const auto fields = split(lines[k]);
    const auto number = [&](const char* name) {
      const auto found = column.find(name);
      if (found == column.end() || found->second >= fields.size())
        throw core::FormatError("mt_invert#no_column",
                                "{}:{}: the column {}, which training writes, is missing", path, k + 1, name);
      double value = std::nan("");
      const std::string& field = fields[found->second];
      std::from_chars(field.data(), field.data() + field.size(), value);
      return value;
    };
    history.push_back({.epoch = static_cast<int>(number("epoch")),
                       .training_loss = number("loss"),
                       .loss = number("validation_loss"),
                       .reconstruction = number("validation_reconstruction"),
                       .dissimilarity = number("validation_dissimilarity"),
                       .divergence = number("validation_divergence")});
  }
  return history;
}

MatrixXd random_codes(Index n_codes, Index n, std::uint64_t seed) {
  const core::Philox random(seed, 1);
  MatrixXd codes(n_codes, n);
  for (Index k = 0; k < codes.size(); ++k) codes.reshaped()[k] = random.normal(static_cast<std::uint64_t>(k));
  return codes;
}

std::vector<std::vector<std::string>> facts_of(const config::TrainConfig& config,
                                               const models::vae::TrainedVae& vae,
                                               const io::report::VaeReport& report) {
  const auto& recipe = config.setup.recipe;
  const auto& grid = vae.grid();
  const models::vae::VaeOptions& options = vae.options();
  const auto best = std::ranges::find(report.history, report.best_epoch, &io::report::TrainingEpoch::epoch);
  return {{"Subdomain",
           fmt::format("{} × {} cells, {:g} to {:g} m deep, {:g} m wide", options.cells_z, options.cells_y,
                       grid.z_edges_m().front(), grid.z_edges_m().back(), grid.extent().y_m.length())},
          {"Network", fmt::format("{}, {} codes, {} parameters", core::word(options.kind), options.n_codes,
                                  vae.net().n_parameters())},
          {"Draws", fmt::format("{}, of which {:g} % for validation", recipe.n_draws,
                                100.0 * recipe.validation_share)},
          {"Epochs", fmt::format("{} of {} draws per step; the best is number {}", report.history.size(),
                                 recipe.batch_size, report.best_epoch)},
          {"Validation loss", best == report.history.end() ? "" : fmt::format("{:.4g}", best->loss)},
          {"Reconstruction error",
           fmt::format("{:.3f} decades rms; the draws deviate from their mean by {:.3f}",
                       vae.statistics().rms, std::sqrt(vae.statistics().covariance.diagonal().mean()))},
          {"Codes in use", fmt::format("{} of {}", vae.statistics().n_active(), options.n_codes)}};
}

void write_picture(const std::filesystem::path& path, const std::string& title,
                   const models::earths::Prior& prior) {
  const io::report::PriorDraws draws{title, prior.grid().z_edges_m(), prior.grid().y_edges_m(),
                                     prior.draws(0, n_previewed)};
  io::report::prior_picture(draws).write_png(path);
  core::log::info("{}", path.string());
}

}  // namespace

void write_train_report(const io::run::TrainFolder& folder, const config::TrainConfig& config,
                        const models::vae::TrainedVae& vae) {
  const auto& recipe = config.setup.recipe;
  const auto decoder = models::vae::vae_decoder(vae);
  const auto n_validation =
      static_cast<std::int64_t>(std::llround(static_cast<double>(recipe.n_draws) * recipe.validation_share));
  const MatrixXd draws =
      config.prior.draws(recipe.n_draws - n_validation, std::min<std::int64_t>(n_validation, n_encoded));
  const MatrixXd codes = decoder->encode(draws);
  const Index n = std::min(n_shown, draws.cols());
  io::report::VaeReport report;
  report.title = config.title;
  report.lead = fmt::format("Learned prior of subdomains, by Lodestone {}", core::version());
  report.grid = vae.grid();
  report.history = read_history(folder.history());
  const auto best = std::ranges::min_element(report.history, {}, &io::report::TrainingEpoch::loss);
  report.best_epoch = best == report.history.end() ? 0 : best->epoch;
  report.draws = draws.leftCols(n);
  report.reconstructions = decoder->decode(codes.leftCols(n));
  report.decodings = decoder->decode(random_codes(decoder->n_codes(), n, recipe.seed));
  report.codes = {codes, vae.statistics().code_divergence, vae.statistics().cell_rms};
  report.facts = facts_of(config, vae, report);
  report.card = vae.card();
  report.configuration_toml = config.toml;
  io::report::write_vae_report(folder.path(), report);
}

void write_preview(const io::run::TrainFolder& folder, const config::TrainConfig& config) {
  core::make_folder(folder.preview());
  write_picture(folder.preview() / "prior.png", config.title, config.prior);
  const auto& parts = config.prior.parts();
  for (std::size_t k = 0; parts.size() > 1 && k < parts.size(); ++k) {
    const models::earths::Prior alone(config.prior.grid(), {{1.0, parts[k].generator}}, config.prior.seed());
    write_picture(folder.preview() / fmt::format("generator_{}_{}.png", k + 1, parts[k].generator->kind()),
                  fmt::format("{}: generator {}, {}", config.title, k + 1, parts[k].generator->kind()),
                  alone);
  }
}

}  // namespace lodestone::mt_invert::commands
