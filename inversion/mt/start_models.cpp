// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/start_models.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "physics/mesh/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::inversion::mt {
namespace {

using physics::mesh::Axis;
using physics::mesh::TensorGrid;

std::string extent_text(const TensorGrid& grid) {
  const physics::mesh::Box extent = grid.extent();
  std::string text = "the grid spans ";
  for (const Axis axis : {Axis::x, Axis::y}) {
    if (grid.has(axis))
      text += fmt::format("{} {:g} … {:g} m and ", name(axis), extent[axis].from, extent[axis].to);
  }
  return text + fmt::format("depths {:g} … {:g} m", extent.z_m.from, extent.z_m.to);
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
        core::log::Id("inversion::mt::start_models#other_surface"),
        "{}.model_file: {}. Set profile.elevation, profile.surface_file and [sea] as they were for that "
        "model",
        key, difference);
  if (model.earth.grid.has(Axis::x) && !earth.grid.has(Axis::x))
    core::log::warning(core::log::Id("inversion::mt::start_models#volume_for_section"),
                       "{}.model_file: the model is a volume, and the section takes its plane x = 0 alone. "
                       "Give a model whose "
                       "y axis is the line, or invert a volume: --dim 3",
                       key);
  return physics::mesh::sampled_log10(model, earth.grid);
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
  const auto place = [&](const physics::mesh::Point& at) {
    const auto [u_m, v_m] = flat(at, line.tear.plane);
    return line.tear.plane == physics::mesh::Plane::section ? fmt::format("y = {:g} m, z = {:g} m", u_m, v_m)
                                                            : fmt::format("x = {:g} m, y = {:g} m", u_m, v_m);
  };
  for (const auto& piece : pieces_outside(line.tear, extent_of(earth)))
    pieces += fmt::format("{}{:g} m from {} to {}", pieces.empty() ? "" : "; ", piece.length_m,
                          place(piece.from), place(piece.to));
  if (!pieces.empty())
    core::log::warning(
        core::log::Id("inversion::mt::start_models#tear_outside"),
        "{}: a part of the line lies outside the grid and tears nothing: {} ({}); end the line there or "
        "widen the grid",
        line.place, pieces, extent_text(earth.grid));
}

void check_shape(const CellAreas& areas, const physics::mesh::Cells& cells) {
  if (areas.shape == cells.shape) return;
  const auto& [n_z, n_y, n_x] = areas.shape;
  throw core::ConfigError("configuration#areas_of_another_grid",
                          "{}: expected areas of the {} × {} × {} cells of the grid, got {} × {} × {}; take "
                          "a file of this grid, or the grid of the model that belongs to the file "
                          "(grid.from_start_model = true)",
                          areas.place, cells.shape[2], cells.shape[1], cells.shape[0], n_x, n_y, n_z);
}

std::vector<Eigen::Index> cells_of_held_areas(const CellAreas& areas) {
  std::vector<Eigen::Index> cells;
  for (std::size_t cell = 0; cell < areas.areas.of_cell.size(); ++cell) {
    if (std::ranges::find(areas.held, areas.areas.of_cell[cell]) != areas.held.end())
      cells.push_back(static_cast<Eigen::Index>(cell));
  }
  return cells;
}

}  // namespace

std::vector<Eigen::Index> hold_cells(const std::vector<FixedRegion>& regions,
                                     const std::optional<CellAreas>& areas, const physics::mesh::Cells& cells,
                                     StartModels& models) {
  std::vector<bool> held(static_cast<std::size_t>(cells.n_cells()), false);
  const auto hold = [&](Eigen::Index cell) {
    held[static_cast<std::size_t>(cell)] = true;
    models.start[cell] = models.reference[cell];
  };
  if (areas) {
    check_shape(*areas, cells);
    const std::vector<Eigen::Index> inside = cells_of_held_areas(*areas);
    std::ranges::for_each(inside, hold);
    core::log::info("areas: {} cells are held", inside.size());
  }
  for (const FixedRegion& region : regions) {
    std::vector<Eigen::Index> inside = cells.inside(region.shape);
    std::erase_if(inside, [&](Eigen::Index cell) {
      return !region.z_m.contains(cells.centre[static_cast<std::size_t>(cell)].z_m);
    });
    if (inside.empty())
      throw core::ConfigError(
          "configuration#no_cell_inside",
          "{}: expected a region with the centre of at least one cell inside, but it contains no centre ({})",
          region.place, extent_text(cells.grid));
    for (const Eigen::Index cell : inside) {
      if (region.resistivity_ohm_m) models.reference[cell] = std::log10(*region.resistivity_ohm_m);
      hold(cell);
    }
    core::log::info("fixed region: {} cells", inside.size());
  }
  std::vector<Eigen::Index> free_cells;
  for (Eigen::Index cell = 0; cell < cells.n_cells(); ++cell) {
    if (!held[static_cast<std::size_t>(cell)]) free_cells.push_back(cell);
  }
  if (free_cells.empty())
    throw core::ConfigError("configuration#no_free_cell",
                            "{}: fixed regions and held areas leave no cell; leave some to invert for",
                            regions.empty() ? areas->place : regions.back().place);
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

StartModels start_models(const ProblemOptions& options, const physics::mt::Observations& data,
                         const physics::mesh::Earth& earth) {
  Eigen::VectorXd of_soundings;
  if (needs_soundings(options))
    of_soundings = stitched(invert_soundings(options.soundings, data, earth.grid), data.survey.stations,
                            earth.grid, earth.surface);
  Eigen::VectorXd start = values_of(options.start, earth, of_soundings, "start");
  Eigen::VectorXd reference =
      options.reference ? values_of(*options.reference, earth, of_soundings, "reference") : start;
  return {std::move(start), std::move(reference)};
}

}  // namespace lodestone::inversion::mt
