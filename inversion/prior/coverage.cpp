// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/coverage.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::prior {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check(const SubdomainMap& map, const core::ConstVectorRef& model,
           const std::vector<DecoderScores>& scores, const VectorXd& reduction, const CoverageOptions& o) {
  if (model.size() != map.size_out() || (reduction.size() != 0 && reduction.size() != map.size_out()))
    throw core::ShapeError("inversion::coverage#wrong_size",
                           "expected a model and a variance reduction of {} cells, got {} and {}",
                           map.size_out(), model.size(), reduction.size());
  if (scores.size() != map.regions().size())
    throw core::ShapeError("inversion::coverage#wrong_number_of_scores",
                           "expected scores of the {} regions, got {}", map.regions().size(), scores.size());
  for (std::size_t r = 0; r < scores.size(); ++r) {
    const DecoderScores& s = scores[r];
    const Region& region = map.regions()[r];
    if (!(s.rms > 0.0) || !(s.reduced_chi_square > 0.0) || s.n_active < 0 ||
        s.n_active > region.decoder->n_codes())
      throw core::InvalidArgument("inversion::coverage#wrong_scores",
                                  "region \"{}\": expected rms > 0, reduced_chi_square > 0 and 0 to {} "
                                  "active codes, got {}, {} and {}",
                                  region.name, region.decoder->n_codes(), s.rms, s.reduced_chi_square,
                                  s.n_active);
  }
  if (!(o.inside_distance > 0.0) || !(o.outside_distance >= o.inside_distance) || !(o.outside_tail >= 0.0) ||
      !(o.inside_tail >= o.outside_tail) || o.max_iterations < 0)
    throw core::InvalidArgument("inversion::coverage#wrong_options",
                                "expected 0 < inside_distance ≤ outside_distance and 0 ≤ outside_tail ≤ "
                                "inside_tail, got {}, {}, {}, {}",
                                o.inside_distance, o.outside_distance, o.outside_tail, o.inside_tail);
}

Verdict verdict_of(const SubdomainCoverage& row, const CoverageOptions& o) {
  if (row.relative_distance > o.outside_distance || row.tail < o.outside_tail) return Verdict::outside;
  if (row.relative_distance > o.inside_distance || row.tail < o.inside_tail) return Verdict::edge;
  return Verdict::inside;
}

/// The scores' own draws have |v|²/n_codes = reduced_chi_square on average, and n_active codes vary: |v|²
/// n_active/(n_codes reduced_chi_square) is taken as chi-square with n_active degrees of freedom, which has
/// the right mean.
void rate_code(SubdomainCoverage& row, const VectorXd& code, const DecoderScores& scores) {
  const auto n = static_cast<double>(code.size()),
             active = scores.n_active > 0 ? static_cast<double>(scores.n_active) : n;
  row.chi_square = code.squaredNorm() / (n * scores.reduced_chi_square);
  row.tail = chi_square_tail(active * row.chi_square, active);
}

/// Returns "region \"crust\": 4, 5, 9; region \"basin\": 0".
std::string numbers_of(const std::vector<SubdomainCoverage>& rows, Verdict verdict) {
  constexpr int most = 12;  // of a region that are named
  std::string text;
  const std::string* region = nullptr;
  int n_named = 0;
  for (const SubdomainCoverage& row : rows) {
    if (row.verdict != verdict) continue;
    if (region == nullptr || *region != row.region) {
      text += fmt::format("{}region \"{}\": {}", region == nullptr ? "" : "; ", row.region, row.subdomain);
      region = &row.region;
      n_named = 1;
    } else if (++n_named <= most) {
      text += fmt::format(", {}", row.subdomain);
    } else if (n_named == most + 1) {
      text += ", …";
    }
  }
  return text;
}

std::string of_data(const std::vector<SubdomainCoverage>& rows) {
  double sum = 0.0;
  int n_data = 0, n_prior = 0;
  for (const SubdomainCoverage& row : rows) {
    if (!row.data_share) return "";
    sum += *row.data_share;
    (*row.data_share >= 0.5 ? n_data : n_prior) += 1;
  }
  return fmt::format(
      " The data take away {:.0f} % of the prior's variance on average, more than half in {} of {} "
      "subdomains; in {} the prior prevails.",
      100.0 * sum / static_cast<double>(rows.size()), n_data, rows.size(), n_prior);
}

}  // namespace

std::vector<SubdomainCoverage> coverage(const SubdomainMap& map, const core::ConstVectorRef& model,
                                        const std::vector<DecoderScores>& scores,
                                        const VectorXd& variance_reduction, const CoverageOptions& options) {
  check(map, model, scores, variance_reduction, options);
  std::vector<SubdomainCoverage> rows;
  for (std::size_t r = 0; r < map.regions().size(); ++r) {
    const Region& region = map.regions()[r];
    MatrixXd cells(region.decoder->n_cells(), std::ssize(region.subdomains));
    for (Index s = 0; s < cells.cols(); ++s)
      cells.col(s) = model(region.subdomains[static_cast<std::size_t>(s)]);
    const MatrixXd codes = encode_by_least_squares(
        *region.decoder, cells, {.sigma_decades = scores[r].rms, .max_iterations = options.max_iterations});
    const MatrixXd misfit = cells - region.decoder->decode(codes);
    for (Index s = 0; s < cells.cols(); ++s) {
      SubdomainCoverage row{.region = region.name, .subdomain = static_cast<int>(s)};
      row.distance_decades = std::sqrt(misfit.col(s).squaredNorm() / static_cast<double>(misfit.rows()));
      row.relative_distance = row.distance_decades / scores[r].rms;
      rate_code(row, codes.col(s), scores[r]);
      if (variance_reduction.size() > 0)
        row.data_share = variance_reduction(region.subdomains[static_cast<std::size_t>(s)]).mean();
      row.verdict = verdict_of(row, options);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string in_words(const std::vector<SubdomainCoverage>& rows) {
  constexpr double usual_tail = 0.05;
  if (rows.empty()) return "There are no subdomains.";
  const auto count = [&](Verdict verdict) {
    return std::count_if(rows.begin(), rows.end(),
                         [verdict](const SubdomainCoverage& row) { return row.verdict == verdict; });
  };
  const auto n_outside = count(Verdict::outside), n_edge = count(Verdict::edge);
  std::string text;
  if (n_outside == 0) {
    text = fmt::format("All {} subdomains lie within the range of the training models.", rows.size());
  } else {
    const auto worst = std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.relative_distance < b.relative_distance;
    });
    const auto rarest = std::min_element(rows.begin(), rows.end(),
                                         [](const auto& a, const auto& b) { return a.tail < b.tail; });
    text = fmt::format("{} of {} subdomains lie outside the range of the training models ({}): ", n_outside,
                       rows.size(), numbers_of(rows, Verdict::outside));
    const bool is_far = worst->relative_distance > 1.0,
               is_rare = rarest->tail < usual_tail;  // else it was the other alone
    if (is_far)
      text +=
          fmt::format("the model is up to {:.1f} times as far from the decoder's range as its training draws",
                      worst->relative_distance);
    if (is_far && is_rare) text += ", ";
    if (is_rare) text += fmt::format("the rarest code has probability {:.1g}", rarest->tail);
    text += ".";
  }
  if (n_edge > 0) text += fmt::format(" At its edge: {} ({}).", n_edge, numbers_of(rows, Verdict::edge));
  return text + of_data(rows);
}

namespace {

constexpr double tiny = 1e-300, precision = 1e-16;
constexpr int most_terms = 10000;

/// Returns P(a, x) = x^a e^−x/Γ(a + 1) · Σ x^n/((a + 1)…(a + n)).
double lower_series(double a, double x) {
  double term = 1.0, sum = 1.0;
  for (int n = 1; n < most_terms && term > precision * sum; ++n) sum += term *= x / (a + n);
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a + 1.0));
}

/// Returns Q(a, x) = x^a e^−x/Γ(a) · 1/(x + 1 − a − 1(1 − a)/(x + 3 − a − 2(2 − a)/(…))); the fraction is
/// evaluated from the front (modified Lentz).
double upper_fraction(double a, double x) {
  double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, value = d;
  for (int n = 1; n < most_terms; ++n) {
    const double numerator = -n * (n - a);
    b += 2.0;
    d = numerator * d + b;
    if (std::abs(d) < tiny) d = tiny;
    c = b + numerator / c;
    if (std::abs(c) < tiny) c = tiny;
    d = 1.0 / d;
    value *= d * c;
    if (std::abs(d * c - 1.0) < precision) break;
  }
  return value * std::exp(a * std::log(x) - x - std::lgamma(a));
}

}  // namespace

double chi_square_tail(double x, double k) {
  if (!(x >= 0.0) || !(k > 0.0))
    throw core::InvalidArgument("inversion::chi_square_tail#wrong_arguments",
                                "expected x ≥ 0 and k > 0, got {} and {}", x, k);
  const double a = 0.5 * k, half = 0.5 * x;
  if (half == 0.0) return 1.0;
  if (!std::isfinite(half)) return 0.0;
  return half < a + 1.0 ? 1.0 - lower_series(a, half) : upper_fraction(a, half);
}

}  // namespace lodestone::inversion::prior
