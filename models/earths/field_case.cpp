// SPDX-License-Identifier: Apache-2.0
#include "models/earths/field_case.hpp"

#include "engine/core/error.hpp"
#include "models/earths/section_lines.hpp"

namespace lodestone::models::earths {
namespace {

void check_rest(const FieldCaseOptions& options) {
  if (!(options.strong_share >= 0.0 && options.strong_share <= 1.0)) {
    throw core::InvalidArgument("models::FieldCase#wrong_strong_share",
                                "expected strong_share from 0 to 1, got {}", options.strong_share);
  }
  if (options.n_steps < 1)
    throw core::InvalidArgument("models::FieldCase#no_steps", "expected n_steps of 1 or more, got {}",
                                options.n_steps);
  if (options.steps_from.upper > options.steps_to.lower) {
    throw core::InvalidArgument(
        "models::FieldCase#steps_overlap",
        "expected steps_from to end where steps_to begins or before, got {:g} and {:g}",
        options.steps_from.upper, options.steps_to.lower);
  }
  const double deepest = options.conductor_top_m.upper + options.conductor_thickness_m.upper;
  if (!(options.steps_bottom_m >= deepest)) {
    throw core::InvalidArgument(
        "models::FieldCase#steps_end_too_high",
        "expected steps_bottom_m at or below the deepest bottom of the conductor, {:g} m, got {:g} m",
        deepest, options.steps_bottom_m);
  }
}

/// Makes background, conductor and steps.
Layers sharp_profile(const FieldCaseOptions& options, Draws& draws) {
  Layers layers;
  const double top = draws.uniform(options.conductor_top_m),
               bottom = top + draws.uniform(options.conductor_thickness_m);
  layers.value.push_back(draws.uniform(options.background));
  layers.value.push_back(
      draws.uniform(draws.chance(options.strong_share) ? options.strong_conductor : options.weak_conductor));
  const double from = draws.uniform(options.steps_from), to = draws.uniform(options.steps_to);
  const std::vector<double> steps = draws.sorted(options.n_steps, {from, to});
  const std::vector<double> interfaces = draws.sorted(options.n_steps - 1, {bottom, options.steps_bottom_m});
  layers.interface_m = {top, bottom};
  layers.interface_m.insert(layers.interface_m.end(), interfaces.begin(), interfaces.end());
  layers.value.insert(layers.value.end(), steps.begin(), steps.end());
  return layers;
}

}  // namespace

FieldCase::FieldCase(const FieldCaseOptions& options) : options_(options) {
  check_log10(options_.background, "background");
  check(options_.conductor_top_m, "conductor_top_m", 0.0);
  check_positive(options_.conductor_thickness_m, "conductor_thickness_m");
  check_log10(options_.strong_conductor, "strong_conductor");
  check_log10(options_.weak_conductor, "weak_conductor");
  check_log10(options_.steps_from, "steps_from");
  check_log10(options_.steps_to, "steps_to");
  check_rest(options_);
  check(options_.bumps);
  check(options_.smoothing);
}

Eigen::MatrixXd FieldCase::draw(const core::Philox& random, const TensorGrid& grid) const {
  const TensorGrid whole = continued_to_surface(grid);
  Draws draws(random);
  Eigen::MatrixXd profile = cell_averages(sharp_profile(options_, draws), whole.z_edges_m());
  add_bumps(profile, options_.bumps, draws);
  smooth(profile, options_.smoothing);
  return profile.bottomRows(grid.n_z()).replicate(1, grid.n_columns());
}

}  // namespace lodestone::models::earths
