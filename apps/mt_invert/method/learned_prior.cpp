// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/learned_prior.hpp"

#include "engine/core/log.hpp"
#include "inversion/prior/coverage.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lodestone::mt_invert::method {
namespace {

using Eigen::Index;

/// Which training made the network, in the words of its card.
std::string origin_of(const models::vae::TrainedVae& vae) {
  const auto card = nlohmann::json::parse(vae.card(), nullptr, false);
  const auto fact = [&](const char* place) {
    const nlohmann::json::json_pointer pointer(place);
    return card.contains(pointer) ? card[pointer].dump() : std::string("?");
  };
  return fmt::format("{} × {} cells; prior of seed {}, training of seed {}, {} draws, best epoch {}",
                     vae.options().cells_z, vae.options().cells_y, fact("/prior/seed"),
                     fact("/training/seed"), fact("/training/draws"), fact("/scores/best_epoch"));
}

io::run::LearnedRegion region_of(const LearnedRegion& region, const physics::mesh::TensorGrid2D& grid,
                                 Eigen::MatrixXd codes) {
  const auto edge = [](const std::vector<double>& edges_m, int i) {
    return edges_m[static_cast<std::size_t>(i)];
  };
  return {.name = region.config.name,
          .network = region.config.network_as_written,
          .decoder = region.config.decoder == config::RegionDecoder::gaussian ? "gaussian" : "network",
          .origin = origin_of(*region.vae),
          .y_from_m = edge(grid.y_edges_m(), region.first_column),
          .y_to_m = edge(grid.y_edges_m(), region.first_column + region.n_columns),
          .z_from_m = edge(grid.z_edges_m(), region.first_row),
          .z_to_m = edge(grid.z_edges_m(), region.first_row + region.n_rows),
          .reconstruction_rms_decades = region.vae->statistics().rms,
          .codes = std::move(codes)};
}

/// Returns the codes of the final model: the unknowns themselves, the codes that made decoded cells, or else
/// the nearest ones.
Eigen::VectorXd codes_of(const FinishedRun& run, const Eigen::VectorXd& log10_resistivity) {
  const ModelSpace& space = *run.first.codes;
  if (run.last.features) return space.from_log10(log10_resistivity);
  return run.first.alternates() ? space.decoded_from(log10_resistivity)
                                : run.summary.model.head(space.n_of_cells());
}

/// How near a region's decoder comes to the draws. Of normal distributions, which reach any model, codes tell
/// everything; the network's rms is then what counts as near, by which least squares shrink the code of a
/// draw along an axis of variance l by l/(l + rms²).
inversion::prior::DecoderScores scores_of(const LearnedRegion& region) {
  const models::vae::VaeStatistics& statistics = region.vae->statistics();
  if (region.config.decoder == config::RegionDecoder::network)
    return {statistics.rms, statistics.reduced_chi_square, statistics.n_active()};
  const Eigen::MatrixXd axes = region.decoder->jacobians(Eigen::MatrixXd::Zero(region.decoder->n_codes(), 1));
  const Eigen::ArrayXd variance = axes.colwise().squaredNorm().transpose().array();
  const Eigen::ArrayXd squares = (variance / (variance + statistics.rms * statistics.rms)).square();
  return {statistics.rms, squares.mean(),
          std::max<Index>(1, std::lround(squares.sum() * squares.sum() / squares.square().sum()))};
}

/// Of every subdomain of the final model, into the regions of the result.
void add_coverage(const ModelSpace& space, const Earth& earth, io::run::InversionResult& result) {
  std::vector<inversion::prior::DecoderScores> scores;
  for (const LearnedRegion& region : space.subdomains()->regions()) scores.push_back(scores_of(region));
  Eigen::VectorXd of_data;
  if (result.uncertainty && result.uncertainty->posterior)
    of_data = result.uncertainty->posterior->variance_reduction(earth.free_cells);
  const auto rows =
      inversion::prior::coverage(*space.coded(), result.log10_resistivity(earth.free_cells), scores, of_data);
  auto row = rows.begin();
  for (io::run::LearnedRegion& region : result.learned_prior->regions) {
    for (Index s = 0; s < region.codes.cols(); ++s, ++row) {
      region.coverage.push_back({row->distance_decades, row->relative_distance, row->chi_square, row->tail,
                                 row->data_share.value_or(std::nan("")), static_cast<int>(row->verdict)});
      core::log::debug(
          "coverage, {}, subdomain {}: {:.3f} decades from the decoder's range ({:.2f} of its own rms), code "
          "{:.2f}, tail {:.2g}: {}",
          region.name, s, row->distance_decades, row->relative_distance, row->chi_square, row->tail,
          describe(row->verdict));
    }
  }
  result.learned_prior->coverage_in_words = inversion::prior::in_words(rows);
}

void log_coverage(const io::run::LearnedRegion& region) {
  const auto count = [&](inversion::prior::Verdict verdict) {
    return std::ranges::count(region.coverage, static_cast<int>(verdict), &io::run::SubdomainRow::verdict);
  };
  const auto farthest =
      std::ranges::max_element(region.coverage, {}, &io::run::SubdomainRow::distance_decades);
  core::log::info(
      "coverage, {}: {} inside the prior, {} at its edge, {} outside; at most {:.4f} decades from the "
      "decoder's range",
      region.name, count(inversion::prior::Verdict::inside), count(inversion::prior::Verdict::edge),
      count(inversion::prior::Verdict::outside),
      farthest == region.coverage.end() ? 0.0 : farthest->distance_decades);
}

}  // namespace

void add_learned_prior(const FinishedRun& run, io::run::InversionResult& result) {
  if (!run.first.codes) return;
  const ModelSpace& space = *run.first.codes;
  const bool polished = run.last.features.has_value();
  const Eigen::VectorXd unknowns = codes_of(run, result.log10_resistivity);
  io::run::LearnedPrior& prior = result.learned_prior.emplace();
  prior.subdomain = space.subdomains()->numbers();
  prior.decoded_log10_resistivity = space.to_log10(unknowns);
  prior.deviation_decades = result.log10_resistivity - prior.decoded_log10_resistivity;
  prior.polished = polished;
  prior.features_rms = polished ? run.last.features->rms : run.summary.rms;
  prior.final_rms = run.summary.rms;
  const auto& regions = space.subdomains()->regions();
  for (std::size_t r = 0; r < regions.size(); ++r) {
    prior.regions.push_back(region_of(regions[r], result.grid, space.coded()->codes_of(r, unknowns)));
    const io::run::LearnedRegion& region = prior.regions.back();
    core::log::info("learned prior, {}: mean square of the codes {:.2f} (draws have 1)", region.name,
                    region.mean_square_code());
  }
  add_coverage(space, run.first.earth, result);
  for (const io::run::LearnedRegion& region : prior.regions) log_coverage(region);
  core::log::info("learned prior: {}", io::run::verdict_on_prior(result));
}

}  // namespace lodestone::mt_invert::method
