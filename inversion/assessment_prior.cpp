// SPDX-License-Identifier: Apache-2.0
#include "engine/core/log.hpp"
#include "inversion/assessment.hpp"
#include "inversion/prior/coverage.hpp"

#include <algorithm>
#include <vector>

namespace lodestone::inversion {
namespace {

prior::RegionFindings findings_of(const prior::CutRegion& region, const physics::mesh::TensorGrid& grid,
                                  Eigen::MatrixXd codes) {
  const auto edge = [](const std::vector<double>& edges_m, int i) {
    return edges_m[static_cast<std::size_t>(i)];
  };
  const prior::DecoderCard& card = region.card();
  std::optional<physics::mesh::Interval> x_m;
  if (const std::vector<double>& x_edges_m = grid.edges_m(physics::mesh::Axis::x); !x_edges_m.empty())
    x_m = {edge(x_edges_m, region.x.first), edge(x_edges_m, region.x.end())};
  return {.name = region.options.name,
          .network = card.file,
          .decoder = card.kind,
          .origin = card.origin,
          .y_from_m = edge(grid.y_edges_m(), region.y.first),
          .y_to_m = edge(grid.y_edges_m(), region.y.end()),
          .z_from_m = edge(grid.z_edges_m(), region.z.first),
          .z_to_m = edge(grid.z_edges_m(), region.z.end()),
          .reconstruction_rms_decades = card.scores.rms,
          .codes = std::move(codes),
          .x_m = x_m};
}

/// Returns the codes of the final model: the unknowns themselves, the codes that made decoded cells, or else
/// the nearest ones.
Eigen::VectorXd codes_of(const EndedRun& run, const Eigen::VectorXd& model) {
  const Unknowns& codes = *run.first.codes;
  if (run.last.features) return codes.from_cells(model);
  return run.first.alternates() ? codes.decoded_from(model) : run.summary.model.head(codes.n_of_cells());
}

void log_row(const prior::SubdomainCoverage& row) {
  core::log::debug(
      "coverage, {}, subdomain {}: {:.3f} decades from the decoder's range ({:.2f} of its own rms), code "
      "{:.2f}, tail {:.2g}: {}",
      row.region, row.subdomain, row.distance_decades, row.relative_distance, row.chi_square, row.tail,
      core::word(row.verdict));
}

/// Adds the coverage of every subdomain of the final model to the regions.
void add_coverage(const EndedRun& run, const Eigen::VectorXd& model,
                  const std::optional<uncertainty::Uncertainty>& uncertainty,
                  prior::PriorFindings& findings) {
  const Unknowns& codes = *run.first.codes;
  std::vector<prior::DecoderScores> scores;
  for (const prior::CutRegion& region : codes.regions()->regions()) scores.push_back(region.card().scores);
  Eigen::VectorXd of_data;
  if (uncertainty && uncertainty->posterior)
    of_data = uncertainty->posterior->variance_reduction(codes.free_cells());
  const auto rows = prior::coverage(*codes.coded(), model(codes.free_cells()), scores, of_data);
  auto row = rows.begin();
  for (prior::RegionFindings& region : findings.regions) {
    for (Eigen::Index s = 0; s < region.codes.cols(); ++s, ++row) {
      region.coverage.push_back(*row);
      log_row(*row);
    }
  }
  findings.coverage_in_words = prior::in_words(rows);
}

void log_coverage(const prior::RegionFindings& region) {
  const auto count = [&](prior::Verdict verdict) {
    return std::ranges::count(region.coverage, verdict, &prior::SubdomainCoverage::verdict);
  };
  const auto farthest =
      std::ranges::max_element(region.coverage, {}, &prior::SubdomainCoverage::distance_decades);
  core::log::info(
      "coverage, {}: {} inside the prior, {} at its edge, {} outside; at most {:.4f} decades from the "
      "decoder's range",
      region.name, count(prior::Verdict::inside), count(prior::Verdict::edge), count(prior::Verdict::outside),
      farthest == region.coverage.end() ? 0.0 : farthest->distance_decades);
}

}  // namespace

prior::PriorFindings find_prior(const EndedRun& run, const Eigen::VectorXd& model,
                                const std::optional<uncertainty::Uncertainty>& uncertainty,
                                double target_rms) {
  const Unknowns& codes = *run.first.codes;
  const bool polished = run.last.features.has_value();
  const Eigen::VectorXd unknowns = codes_of(run, model);
  prior::PriorFindings findings;
  findings.subdomain = codes.regions()->numbers();
  findings.decoded_log10_resistivity = codes.to_cells(unknowns);
  findings.deviation_decades = model - findings.decoded_log10_resistivity;
  findings.polished = polished;
  findings.features_rms = polished ? run.last.features->rms : run.summary.rms;
  findings.final_rms = run.summary.rms;
  const auto& regions = codes.regions()->regions();
  for (std::size_t r = 0; r < regions.size(); ++r) {
    findings.regions.push_back(
        findings_of(regions[r], run.first.problem->earth.grid, codes.coded()->codes_of(r, unknowns)));
    const prior::RegionFindings& region = findings.regions.back();
    core::log::info("learned prior, {}: mean square of the codes {:.2f} (draws have 1)", region.name,
                    region.mean_square_code());
  }
  add_coverage(run, model, uncertainty, findings);
  for (const prior::RegionFindings& region : findings.regions) log_coverage(region);
  core::log::info("learned prior: {}", prior::in_words(findings, target_rms));
  return findings;
}

}  // namespace lodestone::inversion
