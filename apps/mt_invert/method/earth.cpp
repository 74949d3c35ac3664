// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/earth.hpp"

#include "apps/mt_invert/method/model_surface.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "inversion/mt/soundings.hpp"
#include "io/model/read.hpp"
#include "physics/mt/grid_design.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::method {
namespace {

namespace mt = physics::mt;
using physics::mesh::TensorGrid;

std::string extent_text(const TensorGrid& grid) {
  return fmt::format("the grid spans y {:g} … {:g} m and depths {:g} … {:g} m", grid.y_edges_m().front(),
                     grid.y_edges_m().back(), grid.z_edges_m().front(), grid.z_edges_m().back());
}

mt::GridOptions options_of(const config::GridConfig& config) {
  return {config.n_columns, config.n_layers, config.margin, config.first_layer_m, config.layer_factor};
}

/// errors: ConfigError when the sea's level is below the whole surface.
void check_sea(const config::Config& config, const physics::mesh::SurfaceLine& surface) {
  if (!config.sea) return;
  const double lowest_m = std::ranges::max(surface.z_m());
  if (config.sea->level_m >= lowest_m)
    throw core::ConfigError("configuration",
                            "{}: expected a sea with water in it, got level_m = {} and a surface that "
                            "nowhere lies lower than z = {} m (z is "
                            "down: a level above that is less); correct level_m, give the sea floor by "
                            "profile.elevation = \"file\" or "
                            "\"stations\", or remove [sea]",
                            config.sea_place, config.sea->level_m, lowest_m);
}

/// `key`: of the model's file, for the warning about another surface.
Eigen::VectorXd make_model(const config::ModelConfig& config, const physics::mesh::Earth& ground,
                           const char* key) {
  if (config.file.empty())
    return Eigen::VectorXd::Constant(ground.grid.n_cells(), std::log10(config.resistivity_ohm_m));
  const auto model = io::model::read_model(config.file);
  const std::string difference = difference_of_surfaces(model, ground);
  if (!difference.empty())
    core::log::warning(
        "{} ({}): {}; give profile.elevation, profile.surface_file and [sea] as they were for that model, or "
        "expect this",
        config.file, key, difference);
  return sampled_log10(model, ground.grid);
}

/// Where cells are: a grid on the datum begins at the highest point of the ground.
physics::mesh::Box extent_of(const physics::mesh::Earth& earth) {
  physics::mesh::Box extent = earth.grid.extent();
  if (earth.grid.reference() == physics::mesh::DepthReference::datum)
    extent.z_m.from = std::min(extent.z_m.from, earth.surface.highest_m());
  return extent;
}

void warn_of_pieces_outside(const config::TearConfig& config, const physics::mesh::Earth& earth) {
  std::string pieces;
  for (const auto& piece : pieces_outside(config.tear, extent_of(earth)))
    pieces += fmt::format("{}{:g} m from y = {:g} m, z = {:g} m to y = {:g} m, z = {:g} m",
                          pieces.empty() ? "" : "; ", piece.length_m, piece.from.y_m, piece.from.z_m,
                          piece.to.y_m, piece.to.z_m);
  if (!pieces.empty())
    core::log::warning(
        "{}: a part of the line lies outside the grid and tears nothing: {} ({}); end the line there or "
        "widen the grid",
        config.place, pieces, extent_text(earth.grid));
}

}  // namespace

Eigen::VectorXd sampled_log10(const physics::mesh::Model& model, const TensorGrid& grid) {
  const TensorGrid& from = model.earth.grid;
  const Eigen::VectorXd values = log10_resistivity(model);
  Eigen::VectorXd result(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const double depth_m = grid.z_centre_m(iz), y_m = grid.y_centre_m(iy);
      const double z_m =
          from.reference() == grid.reference() ? depth_m : depth_m + model.earth.surface.z_at(0.0, y_m);
      result[grid.index(iz, iy)] = values[from.index(from.row_of(z_m), from.column_of(y_m))];
    }
  }
  return result;
}

TensorGrid grid_of(const config::Config& config, const mt::ObservedData& data) {
  TensorGrid grid = config.grid.from_model ? io::model::read_model(config.start.file).earth.grid
                                           : mt::design_grid(data, options_of(config.grid));
  core::log::info("grid: {} × {} cells, columns from {:.2f} km ({:.3f} km wide), layers to {:.2f} km",
                  grid.n_y(), grid.n_z(), grid.y_edges_m().front() / 1e3,
                  (grid.y_edges_m()[1] - grid.y_edges_m()[0]) / 1e3, grid.z_edges_m().back() / 1e3);
  return grid;
}

void fix_regions(const std::vector<config::FixedRegionConfig>& regions, Earth& earth) {
  const TensorGrid& grid = earth.grid;
  std::vector<bool> held(static_cast<std::size_t>(grid.n_cells()), false);
  for (const config::FixedRegionConfig& region : regions) {
    Eigen::Index n = 0;
    for (int iz = 0; iz < grid.n_z(); ++iz) {
      for (int iy = 0; iy < grid.n_y(); ++iy) {
        if (!region.polygon.contains({0.0, grid.y_centre_m(iy), grid.z_centre_m(iz)})) continue;
        const Eigen::Index cell = grid.index(iz, iy);
        held[static_cast<std::size_t>(cell)] = true;
        if (region.resistivity_ohm_m) earth.reference_log10[cell] = std::log10(*region.resistivity_ohm_m);
        earth.start_log10[cell] = earth.reference_log10[cell];
        ++n;
      }
    }
    if (n == 0)
      throw core::ConfigError(
          "configuration", "{}: expected a region with the centre of at least one cell inside, got none ({})",
          region.place, extent_text(grid));
    core::log::info("fixed region: {} cells", n);
  }
  earth.free_cells.clear();
  for (Eigen::Index cell = 0; cell < grid.n_cells(); ++cell) {
    if (!held[static_cast<std::size_t>(cell)]) earth.free_cells.push_back(cell);
  }
  if (earth.free_cells.empty())
    throw core::ConfigError("configuration",
                            "{}: the fixed regions hold every cell; leave some to invert for",
                            regions.back().place);
}

void check_tears(const std::vector<config::TearConfig>& tears, const physics::mesh::Earth& earth) {
  const physics::mesh::Cells cells = physics::mesh::cells(earth);
  for (const config::TearConfig& each : tears) {
    const auto n = n_faces_crossed(cells, each.tear);
    if (n == 0)
      throw core::ConfigError("configuration",
                              "{}: expected a line between cells, got one that separates no two of them ({})",
                              each.place, extent_text(earth.grid));
    core::log::info("tear: across {} faces between cells", n);
    warn_of_pieces_outside(each, earth);
  }
}

Earth make_earth(const config::Config& config, const Observations& observations) {
  check_sea(config, observations.surface);
  TensorGrid grid = grid_of(config, observations.data);
  Eigen::VectorXd of_soundings;
  if (config.start.from_soundings || config.reference.from_soundings) {
    const auto models = inversion::mt::invert_soundings(config.soundings, observations.data, grid);
    of_soundings =
        inversion::mt::stitched(models, observations.data.survey.stations, grid, observations.surface);
  }
  const physics::mesh::Earth ground{std::move(grid), observations.surface, config.sea};
  Eigen::VectorXd start =
      config.start.from_soundings ? of_soundings : make_model(config.start, ground, "start.model_file");
  const bool same_file = !config.reference.file.empty() && config.reference.file == config.start.file;
  Eigen::VectorXd reference = config.reference.from_soundings ? of_soundings
                              : same_file                     ? start
                                          : make_model(config.reference, ground, "reference.model_file");
  check_tears(config.regularization.tears, ground);
  Earth earth{ground, std::move(start), std::move(reference)};
  fix_regions(config.regularization.fixed, earth);
  return earth;
}

}  // namespace lodestone::mt_invert::method
