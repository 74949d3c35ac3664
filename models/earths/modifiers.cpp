// SPDX-License-Identifier: Apache-2.0
#include "models/earths/modifiers.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::models::earths {
namespace {

GeneratorPtr given(GeneratorPtr inner) {
  if (!inner)
    throw core::InvalidArgument("models::modifier#no_generator",
                                "expected a generator to modify, found none");
  return inner;
}

/// Returns the weight of the cells at distance 0, 1, …: the Gaussian at their centres times the share of the
/// cell within the window.
std::vector<double> window_weights(const SmoothingOptions& options) {
  std::vector<double> weights;
  for (int k = 0; 2 * k - 1 < options.window_cells; ++k) {
    const double share = std::clamp(0.5 * options.window_cells - k + 0.5, 0.0, 1.0);
    weights.push_back(share * std::exp(-0.5 * std::pow(k / options.sd_cells, 2)));
  }
  return weights;
}

}  // namespace

void check(const BumpsOptions& options) {
  check(options.number, "the number of bumps");
  check(options.width_cells, "the bumps' width_cells", 1);
  check_positive(options.sd_cells, "the bumps' sd_cells");
  check(options.peak, "the bumps' peak", 0.0);
}

void check(const SmoothingOptions& options) {
  if (options.window_cells < 1)
    throw core::InvalidArgument("models::modifier#wrong_window", "expected window_cells of 1 or more, got {}",
                                options.window_cells);
  if (!(options.sd_cells > 0.0) || !std::isfinite(options.sd_cells)) {
    throw core::InvalidArgument("models::modifier#wrong_sd", "expected a positive sd_cells, got {}",
                                options.sd_cells);
  }
}

void add_bumps(Eigen::MatrixXd& section, const BumpsOptions& options, Draws& draws) {
  const Eigen::Index n_z = section.rows();
  for (int left = draws.integer(options.number); left > 0; --left) {
    const int width = draws.integer(options.width_cells);
    const int first = draws.integer({0, static_cast<int>(n_z) - 1}) - width / 2;
    const double sd = draws.uniform(options.sd_cells), sign = draws.chance(0.5) ? 1.0 : -1.0;
    const double peak = sign * draws.uniform(options.peak), centre = first + 0.5 * (width - 1);
    for (Eigen::Index iz = std::max(first, 0); iz < std::min<Eigen::Index>(first + width, n_z); ++iz) {
      section.row(iz).array() += peak * std::exp(-0.5 * std::pow((static_cast<double>(iz) - centre) / sd, 2));
    }
  }
}

void smooth(Eigen::MatrixXd& section, const SmoothingOptions& options) {
  const std::vector<double> weights = window_weights(options);
  const Eigen::MatrixXd rough = section;
  const Eigen::Index n_z = section.rows(), reach = std::ssize(weights) - 1;
  for (Eigen::Index iz = 0; iz < n_z; ++iz) {
    double sum = 0.0;
    section.row(iz).setZero();
    for (Eigen::Index k = std::max<Eigen::Index>(iz - reach, 0); k <= std::min(iz + reach, n_z - 1); ++k) {
      const double weight = weights[static_cast<std::size_t>(std::abs(k - iz))];
      section.row(iz) += weight * rough.row(k);
      sum += weight;
    }
    section.row(iz) /= sum;
  }
}

Bumped::Bumped(GeneratorPtr inner, BumpsOptions options)
    : inner_(given(std::move(inner))), options_(options) {
  check(options_);
}

Eigen::MatrixXd Bumped::draw(const core::Philox& random, const TensorGrid& grid) const {
  Eigen::MatrixXd section = inner_->draw(branch(random, 0), grid);
  Eigen::MatrixXd bumps = Eigen::MatrixXd::Zero(continued_to_surface(grid).n_z(), 1);
  Draws draws(random);
  add_bumps(bumps, options_, draws);
  section.colwise() += bumps.bottomRows(grid.n_z()).col(0);
  return section;
}

void Bumped::check_grid(const TensorGrid& grid) const { inner_->check_grid(grid); }

Smoothed::Smoothed(GeneratorPtr inner, SmoothingOptions options)
    : inner_(given(std::move(inner))), options_(options) {
  check(options_);
}

Eigen::MatrixXd Smoothed::draw(const core::Philox& random, const TensorGrid& grid) const {
  Eigen::MatrixXd section = inner_->draw(branch(random, 0), continued_to_surface(grid));
  smooth(section, options_);
  return section.bottomRows(grid.n_z());
}

void Smoothed::check_grid(const TensorGrid& grid) const { inner_->check_grid(continued_to_surface(grid)); }

Clipped::Clipped(GeneratorPtr inner, Range log10_resistivity)
    : inner_(given(std::move(inner))), range_(log10_resistivity) {
  check_log10(range_, "the clip's log10_resistivity");
}

Eigen::MatrixXd Clipped::draw(const core::Philox& random, const TensorGrid& grid) const {
  return inner_->draw(branch(random, 0), grid).cwiseMax(range_.lower).cwiseMin(range_.upper);
}

}  // namespace lodestone::models::earths
