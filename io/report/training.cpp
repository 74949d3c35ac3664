// SPDX-License-Identifier: Apache-2.0
#include "io/report/training.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/random.hpp"
#include "io/csv/table.hpp"
#include "io/report/network.hpp"
#include "io/report/prior.hpp"
#include "models/vae/vae_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::io::report {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index n_encoded = 2000, n_shown = 48, n_previewed = 400;

/// Returns a column of the history; NaN where it holds no numbers.
std::vector<double> column_of(const core::Table& table, const char* name) {
  if (!table.has(name))
    throw core::FormatError("io::report::read_training_history#no_column",
                            "{}:1: the column {}, which training writes, is missing", table.origin(), name);
  if (table.column(name).is_numbers()) return table.numbers(name);
  return std::vector<double>(table.n_rows(), std::numeric_limits<double>::quiet_NaN());
}

/// The cells of a subdomain that pictures show: all of a column or a patch, a slice through the middle of a
/// volume.
struct Shown {
  physics::mesh::TensorGrid grid;
  std::vector<Index> cells;
};

Shown shown_of(const physics::mesh::TensorGrid& grid) {
  Shown shown{physics::mesh::TensorGrid::section(grid.y_edges_m(), grid.z_edges_m()), {}};
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) shown.cells.push_back(grid.index(iz, iy, grid.n_x() / 2));
  }
  return shown;
}

MatrixXd random_codes(Index n_codes, Index n, std::uint64_t seed) {
  const core::Philox random(seed, 1);
  MatrixXd codes(n_codes, n);
  for (Index k = 0; k < codes.size(); ++k) codes.reshaped()[k] = random.normal(static_cast<std::uint64_t>(k));
  return codes;
}

std::vector<std::vector<std::string>> facts_of(const models::vae::VaeRecipe& recipe,
                                               const models::vae::TrainedVae& vae, const VaeReport& report) {
  const auto& grid = vae.grid();
  const models::vae::VaeOptions& options = vae.options();
  const bool is_volume = options.kind == models::vae::VaeKind::volume;
  const auto best = std::ranges::find(report.history, report.best_epoch, &TrainingEpoch::epoch);
  return {{"Subdomain",
           fmt::format("{} × {}{} cells, {:g} to {:g} m deep, {:g} m wide{}", options.cells_z,
                       options.cells_y, is_volume ? fmt::format(" × {}", options.cells_x) : "",
                       grid.z_edges_m().front(), grid.z_edges_m().back(), grid.extent().y_m.length(),
                       is_volume ? fmt::format(", {:g} m along x; pictures show the slice in its middle",
                                               grid.extent().x_m.length())
                                 : "")},
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
  const Shown shown = shown_of(prior.grid());
  const PriorDraws draws{title, shown.grid.z_edges_m(), shown.grid.y_edges_m(),
                         prior.draws(0, n_previewed)(shown.cells, Eigen::all)};
  prior_picture(draws).write_png(path);
  core::log::info("{}", path.string());
}

}  // namespace

std::vector<TrainingEpoch> read_training_history(const std::string& path) {
  if (std::error_code none; std::filesystem::file_size(path, none) == 0 && !none) return {};
  const core::Table table = csv::read_table(path);
  const auto epoch = column_of(table, "epoch"), training_loss = column_of(table, "loss"),
             loss = column_of(table, "validation_loss"),
             reconstruction = column_of(table, "validation_reconstruction"),
             dissimilarity = column_of(table, "validation_dissimilarity"),
             divergence = column_of(table, "validation_divergence");
  std::vector<TrainingEpoch> history;
  for (std::size_t k = 0; k < table.n_rows(); ++k) {
    history.push_back({.epoch = static_cast<int>(epoch[k]),
                       .training_loss = training_loss[k],
                       .loss = loss[k],
                       .reconstruction = reconstruction[k],
                       .dissimilarity = dissimilarity[k],
                       .divergence = divergence[k]});
  }
  return history;
}

void write_training_report(const std::filesystem::path& folder, const TrainingTexts& texts,
                           const models::earths::Prior& prior, const models::vae::VaeRecipe& recipe,
                           const models::vae::TrainedVae& vae) {
  const auto decoder = models::vae::vae_decoder(vae);
  const auto n_validation =
      static_cast<std::int64_t>(std::llround(static_cast<double>(recipe.n_draws) * recipe.validation_share));
  const MatrixXd draws =
      prior.draws(recipe.n_draws - n_validation, std::min<std::int64_t>(n_validation, n_encoded));
  const MatrixXd codes = decoder->encode(draws);
  const Index n = std::min(n_shown, draws.cols());
  const Shown shown = shown_of(vae.grid());
  const auto of_shown = [&](const MatrixXd& cells) { return MatrixXd(cells(shown.cells, Eigen::all)); };
  VaeReport report;
  report.title = texts.title;
  report.lead = fmt::format("Learned prior of subdomains, by Lodestone {}", core::version());
  report.grid = shown.grid;
  report.history = read_training_history(texts.history);
  const auto best = std::ranges::min_element(report.history, {}, &TrainingEpoch::loss);
  report.best_epoch = best == report.history.end() ? 0 : best->epoch;
  report.draws = of_shown(draws.leftCols(n));
  report.reconstructions = of_shown(decoder->decode(codes.leftCols(n)));
  report.decodings = of_shown(decoder->decode(random_codes(decoder->n_codes(), n, recipe.seed)));
  report.codes = {codes, vae.statistics().code_divergence, of_shown(vae.statistics().cell_rms)};
  report.facts = facts_of(recipe, vae, report);
  report.card = vae.card();
  report.configuration_toml = texts.configuration_toml;
  write_vae_report(folder, report);
}

void write_prior_preview(const std::filesystem::path& folder, const std::string& title,
                         const models::earths::Prior& prior) {
  core::make_folder(folder);
  write_picture(folder / "prior.png", title, prior);
  const auto& parts = prior.parts();
  for (std::size_t k = 0; parts.size() > 1 && k < parts.size(); ++k) {
    const models::earths::Prior alone(prior.grid(), {{1.0, parts[k].generator}}, prior.seed());
    const std::string kind = parts[k].generator->kind();
    write_picture(folder / fmt::format("generator_{}_{}.png", k + 1, kind),
                  fmt::format("{}: generator {}, {}", title, k + 1, kind), alone);
  }
}

}  // namespace lodestone::io::report
