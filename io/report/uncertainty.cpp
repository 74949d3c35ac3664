// SPDX-License-Identifier: Apache-2.0
#include "io/report/uncertainty.hpp"

#include "io/report/reach.hpp"
#include "io/report/slice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace lodestone::io::report {

Canvas percentiles_picture(const inversion::Outcome& outcome) {
  const inversion::uncertainty::EnsembleSpread& ensemble = *outcome.findings.uncertainty->ensemble;
  std::vector<SectionPanel> panels;
  using inversion::uncertainty::EnsembleSpread;
  const bool many = ensemble.n_samples >= EnsembleSpread::fewest;
  const bool all_fit = ensemble.fitting(outcome.ending.target_rms) == inversion::uncertainty::Fitting::all;
  const auto title_of = [&](const char* percentile, const char* side, const char* extreme) {
    if (!many) return fmt::format("{} of the models", extreme);
    return all_fit ? fmt::format("{} percentile: resistivity is {} with 95 % probability", percentile, side)
                   : fmt::format("{} percentile of the models", percentile);
  };
  for (const auto& [title, values] :
       {std::pair{title_of("5th", "higher", "Lowest"), &ensemble.p5_log10_resistivity},
        {std::string("Median of the models"), &ensemble.p50_log10_resistivity},
        {title_of("95th", "lower", "Highest"), &ensemble.p95_log10_resistivity}})
    panels.push_back(panel_of(outcome, title, *values, panels.empty() ? Sites::shown : Sites::hidden));
  return sections_picture(panels, shown_part(outcome).picture());
}

Canvas deviations_picture(const inversion::Outcome& outcome) {
  const inversion::uncertainty::Uncertainty& uncertainty = *outcome.findings.uncertainty;
  std::vector<SectionPanel> panels;
  double widest = 0.0;  // what the colours reach is a round number
  if (uncertainty.posterior) widest = std::max(widest, uncertainty.posterior->deviation_decades.maxCoeff());
  if (uncertainty.ensemble) widest = std::max(widest, uncertainty.ensemble->deviation_decades.maxCoeff());
  if (uncertainty.posterior)
    panels.push_back(
        panel_of(outcome, "Linearized posterior", uncertainty.posterior->deviation_decades, Sites::shown));
  if (uncertainty.ensemble)
    panels.push_back(panel_of(outcome, "Ensemble", uncertainty.ensemble->deviation_decades,
                              panels.empty() ? Sites::shown : Sites::hidden));
  const double top = widest > 0.5 ? 1.0 : widest > 0.2 ? 0.5 : widest > 0.1 ? 0.2 : 0.1;
  SectionPictureOptions options = shown_part(outcome).picture();
  options.quantity = SectionQuantity::deviation;
  options.min_log10 = 0.0;
  options.max_log10 = top;
  return sections_picture(panels, options);
}

}  // namespace lodestone::io::report
