// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/findings.hpp"

#include "engine/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::inversion::prior {
namespace {

constexpr double far_out = 2.0;  // of the mean square of codes, 1 for draws
constexpr double hardly_less =
    0.95;  // of the rms that a polish started from: what it gained is no fault of the prior
constexpr double rounding = 1.01;  // of the target

/// Describes how far the codes lie from their prior, where there is no coverage.
std::string about_codes(const PriorFindings& prior) {
  std::string text;
  for (const RegionFindings& region : prior.regions) {
    if (region.mean_square_code() > far_out)
      text += fmt::format(
          " In region \"{}\" it took codes far out in the prior: their mean square is {:.1f}, that of draws "
          "1.",
          region.name, region.mean_square_code());
  }
  return text;
}

/// Tests whether the final model has a subdomain that is no draw.
bool leaves_prior(const PriorFindings& prior) {
  return std::ranges::any_of(prior.regions, [](const RegionFindings& region) {
    return std::ranges::any_of(region.coverage,
                               [](const SubdomainCoverage& row) { return row.verdict == Verdict::outside; });
  });
}

}  // namespace

PriorFindings::Deviation PriorFindings::deviation(int region) const {
  double first = 0.0, last = 1e300;  // subdomains of the region: [first, last)
  if (region >= 0) {
    for (int r = 0; r < region; ++r)
      first += static_cast<double>(regions[static_cast<std::size_t>(r)].codes.cols());
    last = first + static_cast<double>(regions[static_cast<std::size_t>(region)].codes.cols());
  }
  double squares = 0.0, largest = 0.0, n = 0.0;
  for (Eigen::Index cell = 0; cell < subdomain.size(); ++cell) {
    if (!(subdomain[cell] >= first && subdomain[cell] < last)) continue;
    squares += deviation_decades[cell] * deviation_decades[cell];
    largest = std::max(largest, std::abs(deviation_decades[cell]));
    ++n;
  }
  return {n > 0.0 ? std::sqrt(squares / n) : 0.0, largest};
}

Eigen::VectorXd PriorFindings::in_cells(const std::function<double(const SubdomainCoverage&)>& number) const {
  std::vector<double> of_subdomain;
  for (const RegionFindings& region : regions) {
    for (const SubdomainCoverage& row : region.coverage) of_subdomain.push_back(number(row));
  }
  return subdomain.unaryExpr([&](double of_cell) {
    const auto k = static_cast<std::ptrdiff_t>(of_cell);
    return k >= 0 && k < std::ssize(of_subdomain) ? of_subdomain[static_cast<std::size_t>(k)]
                                                  : std::numeric_limits<double>::quiet_NaN();
  });
}

void check(const PriorFindings& prior, Eigen::Index n_cells) {
  for (const RegionFindings& region : prior.regions) {
    if (!region.coverage.empty() && std::ssize(region.coverage) != region.codes.cols())
      throw core::ShapeError("inversion::PriorFindings#wrong_coverage",
                             "region \"{}\": expected coverage of {} subdomains, got {}", region.name,
                             region.codes.cols(), region.coverage.size());
  }
  for (const auto& [name, values] : {std::pair{"subdomain", &prior.subdomain},
                                     {"decoded_log10_resistivity", &prior.decoded_log10_resistivity},
                                     {"deviation_decades", &prior.deviation_decades}}) {
    if (values->size() != n_cells)
      throw core::ShapeError("inversion::PriorFindings#wrong_size", "expected {} values in {}, got {}",
                             n_cells, name, values->size());
  }
}

std::string in_words(const PriorFindings& prior, double target_rms) {
  const bool fits = prior.features_rms <= rounding * target_rms;
  const std::string reached = fmt::format(
      "with the regions kept to what their prior allows the rms on the meshes of the steps comes to {:.3f}, "
      "the target is {:.3g}",
      prior.features_rms, target_rms);
  const bool strained = fits && !prior.polished && leaves_prior(prior);
  std::string text =
      strained
          ? fmt::format("The prior fits the data, but partly with earths at the edge of its training: {}.",
                        reached)
      : fits ? fmt::format("The prior fits the data: {}.", reached)
             : fmt::format("The prior does not fit the data to the target: {}.", reached);
  const std::string of_subdomains =
      prior.coverage_in_words.empty() ? about_codes(prior) : " " + prior.coverage_in_words;
  if (!prior.polished) return text + of_subdomains;
  const PriorFindings::Deviation deviation = prior.deviation();
  text += fmt::format(
      " The polish moved the cells on their own to rms {:.3f} and left the prior by {:.2f} decades rms, "
      "{:.2f} at most.",
      prior.final_rms, deviation.rms, deviation.largest);
  if (!fits && prior.final_rms > hardly_less * prior.features_rms)
    text += " Free cells hardly fit better: the prior is not the cause of the remaining misfit.";
  return text + of_subdomains;
}

}  // namespace lodestone::inversion::prior
