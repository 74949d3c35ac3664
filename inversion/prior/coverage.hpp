// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "inversion/prior/subdomain_map.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::inversion::prior {

/// The position of a subdomain relative to the range of its training models.
enum class Verdict { inside, edge, outside };
constexpr auto words(Verdict) {
  using enum Verdict;
  return core::Words<Verdict>{{inside, "inside"}, {edge, "edge"}, {outside, "outside"}};
}

struct CoverageOptions {
  double inside_distance = 2.0,
         outside_distance = 4.0;  ///< relative distance up to which it is inside, from which it is outside
  double inside_tail = 0.05,
         outside_tail =
             0.001;  ///< tail probability of the code down to which it is inside, below which it is outside
  int max_iterations = 40;  ///< iterations of the least squares that finds the nearest code
};

/// One subdomain of a model against its decoder.
struct SubdomainCoverage {
  std::string region;
  int subdomain = 0;               ///< in its region, from 0
  double distance_decades = 0.0;   ///< rms of m − Dec(v), v the nearest code by least squares
  double relative_distance = 0.0;  ///< distance over the decoder's own rms over its draws
  double chi_square = 0.0;         ///< |v|²/n_codes, relative to that of the draws: 1 is usual
  double tail = 1.0;               ///< probability that a draw's code is longer
  std::optional<double>
      data_share{};  ///< mean share of the cells' prior variance that the data took away, where it was given
  Verdict verdict = Verdict::inside;
};

/// Assesses every subdomain of a model, region by region. `scores`: one per region; `variance_reduction`: one
/// per cell (`Spread::variance_reduction`), or empty. rule: docs/theory/learned_prior.md. shapes: (n_model),
/// (n_regions), (n_model) or (0). errors: ShapeError, InvalidArgument.
[[nodiscard]] std::vector<SubdomainCoverage> coverage(const SubdomainMap& map,
                                                      const core::ConstVectorRef& model,
                                                      const std::vector<DecoderScores>& scores,
                                                      const Eigen::VectorXd& variance_reduction = {},
                                                      const CoverageOptions& options = {});

/// Returns sentences for the log and the report: how many subdomains lie within the range of the training
/// models, which lie at its edge or outside, and where data or prior decide.
[[nodiscard]] std::string in_words(const std::vector<SubdomainCoverage>& rows);

/// Returns the probability that a chi-square variable with k degrees of freedom exceeds x: the regularized
/// incomplete gamma function Q(k/2, x/2). source: NIST Digital Library of Mathematical Functions, 8.11.4
/// (series) and 8.9.2 (continued fraction). errors: InvalidArgument.
[[nodiscard]] double chi_square_tail(double x, double k);

}  // namespace lodestone::inversion::prior
