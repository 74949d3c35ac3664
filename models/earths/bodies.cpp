// SPDX-License-Identifier: Apache-2.0
#include "models/earths/bodies.hpp"

#include "engine/core/error.hpp"
#include "models/earths/section_lines.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace lodestone::models::earths {
namespace {

using physics::mesh::Axis;
using physics::mesh::Interval;

/// Returns the share of a row of cells that a body fills along x, the first of which begins at `from_m`.
double share_along_x(const Body& body, const TensorGrid& grid, int ix, double from_m) {
  const double low = from_m + grid.edges_m(Axis::x)[static_cast<std::size_t>(ix)],
               width = grid.width_m(Axis::x, ix);
  return std::max(0.0, std::min(body.x_m.to, low + width) - std::max(body.x_m.from, low)) / width;
}

}  // namespace

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
  if (!has_length()) refuse_volume(grid);
  check_length(grid);
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
  std::vector<Body> drawn = bodies(draws, lines.width_m);
  Interval x_m;
  if (grid.has(Axis::x)) {
    const double length_m = std::max(options_.section_width_m, grid.extent().x_m.length());
    place_along_x(drawn, draws, length_m);
    x_m.from = draws.uniform({0.0, length_m - grid.extent().x_m.length()});
  }
  for (const Body& body : drawn) {
    const Eigen::ArrayXXd shares = cell_shares(body.outline, grid, lines);
    for (int column = 0; column < grid.n_columns(); ++column) {
      const double share_x =
          grid.has(Axis::x) ? share_along_x(body, grid, column % grid.n_x(), x_m.from) : 1.0;
      auto cells = section.col(column).array();
      cells += share_x * shares.col(column / grid.n_x()) * (body.log10_resistivity - cells);
    }
  }
  return section;
}

void Blocks::place_along_x(std::vector<Body>& bodies, Draws& draws, double length_m) const {
  for (Body& block : bodies) {
    const double half = 0.5 * draws.log_uniform(options_.length_m.value_or(options_.width_m));
    const double middle = draws.uniform({0.0, length_m});
    block.x_m = {middle - half, middle + half};
  }
}

void Blocks::check_length(const TensorGrid& grid) const {
  if (options_.length_m && !grid.has(Axis::x))
    throw core::InvalidArgument("models::Blocks#length_of_section",
                                "expected a grid with cells along x for blocks with length_m, got one of a "
                                "section; remove length_m");
}

Blocks::Blocks(const BlocksOptions& options) : Bodies(options.bodies), options_(options) {
  check(options_.number, "number", 1);
  check(options_.top_m, "top_m", 0.0);
  check_positive(options_.width_m, "width_m");
  check_positive(options_.height_m, "height_m");
  if (options_.length_m) check_positive(*options_.length_m, "length_m");
  check(options_.tilt_deg, "tilt_deg");
  check_log10(options_.log10_resistivity, "log10_resistivity");
}

std::vector<Body> Blocks::bodies(Draws& draws, double section_width_m) const {
  std::vector<Body> blocks(static_cast<std::size_t>(draws.integer(options_.number)));
  for (Body& block : blocks) {
    const double half_width = 0.5 * draws.log_uniform(options_.width_m),
                 half_height = 0.5 * draws.log_uniform(options_.height_m);
    const double y = draws.uniform({0.0, section_width_m}), z = draws.uniform(options_.top_m) + half_height;
    const double tilt = draws.uniform(options_.tilt_deg) * std::numbers::pi / 180.0, c = std::cos(tilt),
                 s = std::sin(tilt);
    for (const auto& [side, end] : {std::pair{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}}) {
      const double along = side * half_width, down = end * half_height;
      block.outline.push_back({0.0, y + c * along - s * down, z + s * along + c * down});
    }
    block.log10_resistivity = draws.uniform(options_.log10_resistivity);
  }
  return blocks;
}

/// Tilted, one end of the top rises.
double Blocks::least_depth_m() const {
  const double most_deg =
      std::min(90.0, std::max(std::abs(options_.tilt_deg.lower), std::abs(options_.tilt_deg.upper)));
  return options_.top_m.lower - 0.5 * options_.width_m.upper * std::sin(most_deg * std::numbers::pi / 180.0);
}

Wedge::Wedge(const WedgeOptions& options) : Bodies(options.bodies), options_(options) {
  check(options_.top_m, "top_m", 0.0);
  check_positive(options_.length_m, "length_m");
  check_positive(options_.thickness_m, "thickness_m");
  check(options_.thin_share, "thin_share", 0.0);
  if (options_.thin_share.upper > 1.0)
    throw core::InvalidArgument("models::Wedge#share_above_one", "expected thin_share within 0 … 1, got {:g}",
                                options_.thin_share.upper);
  check(options_.dip_deg, "dip_deg", -80.0);
  if (options_.dip_deg.upper > 80.0)
    throw core::InvalidArgument("models::Wedge#dip_out_of_range", "expected dip_deg within ±80, got {:g}",
                                options_.dip_deg.upper);
  check_log10(options_.log10_resistivity, "log10_resistivity");
}

std::vector<Body> Wedge::bodies(Draws& draws, double section_width_m) const {
  const double middle = draws.uniform({0.0, section_width_m}), top = draws.uniform(options_.top_m);
  const double half_length = 0.5 * draws.log_uniform(options_.length_m);
  const double fall = half_length * std::tan(draws.uniform(options_.dip_deg) * std::numbers::pi / 180.0);
  double left = draws.log_uniform(options_.thickness_m), right = left * draws.uniform(options_.thin_share);
  if (draws.chance(0.5)) std::swap(left, right);
  return {{{{0.0, middle - half_length, top - fall},
            {0.0, middle + half_length, top + fall},
            {0.0, middle + half_length, top + fall + right},
            {0.0, middle - half_length, top - fall + left}},
           draws.uniform(options_.log10_resistivity)}};
}

/// One end of the top rises.
double Wedge::least_depth_m() const {
  const double most_deg = std::max(std::abs(options_.dip_deg.lower), std::abs(options_.dip_deg.upper));
  return options_.top_m.lower - 0.5 * options_.length_m.upper * std::tan(most_deg * std::numbers::pi / 180.0);
}

namespace {

constexpr int n_chords = 64;  // of the floor

}  // namespace

Basin::Basin(const BasinOptions& options) : Bodies(options.bodies), options_(options) {
  check(options_.top_m, "top_m", 0.0);
  check_positive(options_.width_m, "width_m");
  check_positive(options_.thickness_m, "thickness_m");
  check(options_.shape, "shape", 1.0);
  check_log10(options_.log10_resistivity, "log10_resistivity");
}

std::vector<Body> Basin::bodies(Draws& draws, double section_width_m) const {
  const double middle = draws.uniform({0.0, section_width_m}), top = draws.uniform(options_.top_m);
  const double half_width = 0.5 * draws.log_uniform(options_.width_m),
               thickness = draws.log_uniform(options_.thickness_m);
  const double shape = draws.uniform(options_.shape);
  Body fill{{}, draws.uniform(options_.log10_resistivity)};
  for (int k = 0; k <= n_chords; ++k) {
    const double s = 2.0 * k / n_chords - 1.0;
    fill.outline.push_back(
        {0.0, middle + s * half_width, top + thickness * (1.0 - std::pow(std::abs(s), shape))});
  }
  return {fill};
}

Dikes::Dikes(const DikesOptions& options) : Bodies(options.bodies), options_(options) {
  check(options_.number, "number", 1);
  check(options_.top_m, "top_m", 0.0);
  check_positive(options_.width_m, "width_m");
  check_positive(options_.height_m, "height_m");
  check(options_.dip_deg, "dip_deg", 10.0);
  if (options_.dip_deg.upper > 170.0)
    throw core::InvalidArgument("models::Dikes#dip_out_of_range",
                                "expected dip_deg within 10 … 170, got {:g}", options_.dip_deg.upper);
  check_log10(options_.log10_resistivity, "log10_resistivity");
}

std::vector<Body> Dikes::bodies(Draws& draws, double section_width_m) const {
  std::vector<Body> dikes(static_cast<std::size_t>(draws.integer(options_.number)));
  for (Body& dike : dikes) {
    const double y = draws.uniform({0.0, section_width_m}), top = draws.uniform(options_.top_m);
    const double half_width = 0.5 * draws.log_uniform(options_.width_m),
                 bottom = top + draws.log_uniform(options_.height_m);
    const double shift =
        (bottom - top) * std::tan((90.0 - draws.uniform(options_.dip_deg)) * std::numbers::pi / 180.0);
    dike.outline = {{0.0, y - half_width, top},
                    {0.0, y + half_width, top},
                    {0.0, y + shift + half_width, bottom},
                    {0.0, y + shift - half_width, bottom}};
    dike.log10_resistivity = draws.uniform(options_.log10_resistivity);
  }
  return dikes;
}

}  // namespace lodestone::models::earths
