// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/learned_prior.hpp"

#include "engine/core/log.hpp"

#include <nlohmann/json.hpp>

namespace lodestone::mt_invert {
namespace {

using Eigen::Index;

/// Which training made the network, in the words of its card.
std::string origin_of(const models::TrainedVae& vae) {
  const auto card = nlohmann::json::parse(vae.card(), nullptr, false);
  const auto fact = [&](const char* place) {
    const nlohmann::json::json_pointer pointer(place);
    return card.contains(pointer) ? card[pointer].dump() : std::string("?");
  };
  return fmt::format("{} × {} cells; prior of seed {}, training of seed {}, {} draws, best epoch {}", vae.options().cells_z,
                     vae.options().cells_y, fact("/prior/seed"), fact("/training/seed"), fact("/training/draws"),
                     fact("/scores/best_epoch"));
}

io::LearnedRegion region_of(const LearnedRegion& region, const physics::mesh::TensorGrid2D& grid, Eigen::MatrixXd codes) {
  const auto edge = [](const std::vector<double>& edges_m, int i) { return edges_m[static_cast<std::size_t>(i)]; };
  return {.name = region.config.name,
          .network = region.config.network_as_written,
          .decoder = region.config.decoder == RegionDecoder::gaussian ? "gaussian" : "network",
          .origin = origin_of(*region.vae),
          .y_from_m = edge(grid.y_edges_m(), region.first_column),
          .y_to_m = edge(grid.y_edges_m(), region.first_column + region.n_columns),
          .z_from_m = edge(grid.z_edges_m(), region.first_row),
          .z_to_m = edge(grid.z_edges_m(), region.first_row + region.n_rows),
          .reconstruction_rms_decades = region.vae->statistics().rms,
          .codes = std::move(codes)};
}

/// Of the final model: the unknowns themselves; where these are cells that were decoded, what made them; else the nearest.
Eigen::VectorXd codes_of(const FinishedRun& run, const Eigen::VectorXd& log10_resistivity) {
  const ModelSpace& space = *run.first.codes;
  if (run.last.features) return space.from_log10(log10_resistivity);
  return run.first.alternates() ? space.decoded_from(log10_resistivity) : run.summary.model.head(space.n_of_cells());
}

}  // namespace

void add_learned_prior(const FinishedRun& run, io::InversionResult& result) {
  if (!run.first.codes) return;
  const ModelSpace& space = *run.first.codes;
  const bool polished = run.last.features.has_value();
  const Eigen::VectorXd unknowns = codes_of(run, result.log10_resistivity);
  io::LearnedPrior& prior = result.learned_prior.emplace();
  prior.subdomain = space.subdomains()->numbers();
  prior.decoded_log10_resistivity = space.to_log10(unknowns);
  prior.deviation_decades = result.log10_resistivity - prior.decoded_log10_resistivity;
  prior.polished = polished;
  prior.features_rms = polished ? run.last.features->rms : run.summary.rms;
  prior.final_rms = run.summary.rms;
  const auto& regions = space.subdomains()->regions();
  for (std::size_t r = 0; r < regions.size(); ++r) {
    prior.regions.push_back(region_of(regions[r], result.grid, space.coded()->codes_of(r, unknowns)));
    const io::LearnedRegion& region = prior.regions.back();
    core::log::info("learned prior, {}: mean square of the codes {:.2f} (draws have 1)", region.name, region.mean_square_code());
  }
  core::log::info("learned prior: {}", io::verdict_on_prior(result));
}

}  // namespace lodestone::mt_invert
