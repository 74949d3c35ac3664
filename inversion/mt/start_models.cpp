// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/start_models.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::inversion::mt {
namespace {

using physics::mesh::TensorGrid;

std::string extent_text(const TensorGrid& grid) {
  return fmt::format("the grid spans y {:g} … {:g} m and depths {:g} … {:g} m", grid.y_edges_m().front(),
                     grid.y_edges_m().back(), grid.z_edges_m().front(), grid.z_edges_m().back());
}

/// Returns a model on the cells of an earth. `of_soundings`: the layered earths side by side. `key`: the
/// table of the model in a configuration, for messages.
Eigen::VectorXd values_of(const ModelSource& source, const physics::mesh::Earth& earth,
                          const Eigen::VectorXd& of_soundings, const char* key) {
  if (std::holds_alternative<FromSoundings>(source)) return of_soundings;
  if (const double* resistivity_ohm_m = std::get_if<double>(&source))
    return Eigen::VectorXd::Constant(earth.grid.n_cells(), std::log10(*resistivity_ohm_m));
  const auto& model = std::get<physics::mesh::Model>(source);
  const std::string difference = difference_of_surfaces(model, earth);
  if (!difference.empty())
    core::log::warning(
        "{}.model_file: {}. Set profile.elevation, profile.surface_file and [sea] as they were for that "
        "model",
        key, difference);
  return sampled_log10(model, earth.grid);
}

bool needs_soundings(const ProblemOptions& options) {
  return std::holds_alternative<FromSoundings>(options.start) ||
         (options.reference && std::holds_alternative<FromSoundings>(*options.reference));
}

/// Returns the extent of the cells: a grid on the datum begins at the highest point of the ground.
physics::mesh::Box extent_of(const physics::mesh::Earth& earth) {
  physics::mesh::Box extent = earth.grid.extent();
  if (earth.grid.reference() == physics::mesh::DepthReference::datum)
    extent.z_m.from = std::min(extent.z_m.from, earth.surface.highest_m());
  return extent;
}

void warn_of_pieces_outside(const TearLine& line, const physics::mesh::Earth& earth) {
  std::string pieces;
  for (const auto& piece : pieces_outside(line.tear, extent_of(earth)))
    pieces += fmt::format("{}{:g} m from y = {:g} m, z = {:g} m to y = {:g} m, z = {:g} m",
                          pieces.empty() ? "" : "; ", piece.length_m, piece.from.y_m, piece.from.z_m,
                          piece.to.y_m, piece.to.z_m);
  if (!pieces.empty())
    core::log::warning(
        "{}: a part of the line lies outside the grid and tears nothing: {} ({}); end the line there or "
        "widen the grid",
        line.place, pieces, extent_text(earth.grid));
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

std::vector<Eigen::Index> hold_regions(const std::vector<FixedRegion>& regions, const TensorGrid& grid,
                                       StartModels& models) {
  std::vector<bool> held(static_cast<std::size_t>(grid.n_cells()), false);
  for (const FixedRegion& region : regions) {
    Eigen::Index n = 0;
    for (int iz = 0; iz < grid.n_z(); ++iz) {
      for (int iy = 0; iy < grid.n_y(); ++iy) {
        if (!region.polygon.contains({0.0, grid.y_centre_m(iy), grid.z_centre_m(iz)})) continue;
        const Eigen::Index cell = grid.index(iz, iy);
        held[static_cast<std::size_t>(cell)] = true;
        if (region.resistivity_ohm_m) models.reference[cell] = std::log10(*region.resistivity_ohm_m);
        models.start[cell] = models.reference[cell];
        ++n;
      }
    }
    if (n == 0)
      throw core::ConfigError(
          "configuration#no_cell_inside",
          "{}: expected a region with the centre of at least one cell inside, got none ({})", region.place,
          extent_text(grid));
    core::log::info("fixed region: {} cells", n);
  }
  std::vector<Eigen::Index> free_cells;
  for (Eigen::Index cell = 0; cell < grid.n_cells(); ++cell) {
    if (!held[static_cast<std::size_t>(cell)]) free_cells.push_back(cell);
  }
  if (free_cells.empty())
    throw core::ConfigError("configuration#no_free_cell",
                            "{}: the fixed regions hold every cell; leave some to invert for",
                            regions.back().place);
  return free_cells;
}

void check_tears(const std::vector<TearLine>& tears, const physics::mesh::Earth& earth) {
  const physics::mesh::Cells cells = physics::mesh::cells(earth);
  for (const TearLine& each : tears) {
    const auto n = n_faces_crossed(cells, each.tear);
    if (n == 0)
      throw core::ConfigError("configuration#no_face_crossed",
                              "{}: expected a line between cells, got one that separates no two of them ({})",
                              each.place, extent_text(earth.grid));
    core::log::info("tear: across {} faces between cells", n);
    warn_of_pieces_outside(each, earth);
  }
}

StartModels start_models(const ProblemOptions& options, const physics::mt::ObservedData& data,
                         const physics::mesh::Earth& earth) {
  Eigen::VectorXd of_soundings;
  if (needs_soundings(options))
    of_soundings = stitched(invert_soundings(options.soundings, data, earth.grid), data.survey.stations,
                            earth.grid, earth.surface.profile());
  Eigen::VectorXd start = values_of(options.start, earth, of_soundings, "start");
  Eigen::VectorXd reference =
      options.reference ? values_of(*options.reference, earth, of_soundings, "reference") : start;
  return {std::move(start), std::move(reference)};
}

}  // namespace lodestone::inversion::mt
