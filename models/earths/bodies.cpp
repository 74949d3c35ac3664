// SPDX-License-Identifier: Apache-2.0
#include "models/earths/bodies.hpp"

#include "engine/core/error.hpp"
#include "models/earths/section_lines.hpp"

#include <cmath>
#include <utility>

namespace lodestone::models::earths {

Bodies::Bodies(BodiesOptions options) : options_(std::move(options)) {
  if (!options_.background)
    throw core::InvalidArgument("models::Bodies#no_background",
                                "expected a generator as background, found none");
  if (!(options_.section_width_m >= 0.0) || !std::isfinite(options_.section_width_m)) {
    throw core::InvalidArgument("models::Bodies#wrong_section_width",
                                "expected section_width_m of 0 or more, got {}", options_.section_width_m);
  }
}

void Bodies::check_grid(const TensorGrid& grid) const {
  options_.background->check_grid(grid);
  if (least_depth_m() >= grid.z_edges_m().back())
    throw core::InvalidArgument("models::Bodies#below_grid",
                                "expected bodies within the grid, which ends at a depth of {:g} m, got "
                                "bodies from {:g} m down: none would "
                                "ever be seen; correct top_m",
                                grid.z_edges_m().back(), least_depth_m());
}

Eigen::MatrixXd Bodies::draw(const core::Philox& random, const TensorGrid& grid) const {
  Eigen::MatrixXd section = options_.background->draw(branch(random, 0), grid);
  Draws draws(random);
  const SectionLines lines = section_lines(grid, options_.section_width_m, draws);
  for (const Body& body : bodies(draws, lines.width_m)) {
    const Eigen::ArrayXXd shares = cell_shares(body.outline, grid, lines);
    section.array() += shares * (body.log10_resistivity - section.array());
  }
  return section;
}

}  // namespace lodestone::models::earths
