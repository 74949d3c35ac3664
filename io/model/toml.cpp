// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/model/cells.hpp"
#include "io/model/read.hpp"
#include "io/model/shapes.hpp"
#include "io/toml/options.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io::model {
namespace {

using physics::mesh::Axis;
using physics::mesh::DepthReference;
using physics::mesh::Interval;
using physics::mesh::Surface;
using physics::mesh::TensorGrid;

constexpr double outer_column_m =
    1000.0;  ///< least width of the outermost columns, which continue without end anyway
constexpr double most_cells = 4e6;

/// Returns the values sorted, without values closer than a micrometre.
std::vector<double> distinct(std::vector<double> values) {
  constexpr double same_m = 1e-6;
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }),
               values.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end(), [](double a, double b) { return b - a < same_m; }),
               values.end());
  return values;
}

/// Returns the edges of the shapes along x or y with one column of background on each side; the surface's
/// nodes lie inside.
std::vector<double> lateral_edges(const Shapes& shapes, const Surface& surface, Axis axis) {
  std::vector<double> lines = shapes.lines_m(axis);
  const std::vector<double>& nodes = axis == Axis::x ? surface.x_m() : surface.y_m();
  std::vector<double> edges = distinct(lines);
  lines.insert(lines.end(), nodes.begin(), nodes.end());
  const std::vector<double> all = distinct(std::move(lines));
  const double low = all.empty() ? 0.0 : all.front(), high = all.empty() ? 0.0 : all.back();
  const double margin = std::max(outer_column_m, high - low);
  edges.insert(edges.begin(), low - margin);
  edges.push_back(high + margin);
  return edges;
}

/// Returns the edges of the shapes from the top of the earth to one row below the deepest.
std::vector<double> z_edges(const Shapes& shapes, const Surface& surface, DepthReference reference) {
  std::vector<double> edges = shapes.lines_m(Axis::z);
  edges.push_back(0.0);
  if (reference == DepthReference::datum) edges.push_back(surface.highest_m());
  edges = distinct(std::move(edges));
  if (reference == DepthReference::surface) {
    edges.erase(edges.begin(), std::lower_bound(edges.begin(), edges.end(), 0.0));
  }
  edges.push_back(edges.back() + std::max(outer_column_m, edges.back() - edges.front()));
  return edges;
}

Eigen::VectorXd fill(const TensorGrid& grid, const Shapes& shapes) {
  const auto range = [&](Axis axis, int i) {
    const auto& edges = grid.edges_m(axis);
    const auto at = static_cast<std::size_t>(i);
    return grid.has(axis) ? Interval{edges[at], edges[at + 1]} : Interval{};
  };
  Eigen::VectorXd resistivity(grid.n_cells());
  Shapes::Strips strips;
  for (int iy = 0; iy < grid.n_y(); ++iy) {
    for (int ix = 0; ix < grid.n_x(); ++ix) {
      for (int iz = 0; iz < grid.n_z(); ++iz) {
        resistivity[grid.index(iz, iy, ix)] =
            shapes.resistivity_ohm_m({range(Axis::x, ix), range(Axis::y, iy), range(Axis::z, iz)}, strips);
      }
    }
  }
  return resistivity;
}

/// Refuses grids whose cells would fill the memory.
void require_few_cells(const physics::mesh::Edges& edges, const std::string& path) {
  std::vector<std::size_t> n;
  double n_cells = 1.0;
  for (const Axis axis : physics::mesh::all_axes) {
    if (edges[axis].empty()) continue;
    n.push_back(edges[axis].size() - 1);
    n_cells *= static_cast<double>(n.back());
  }
  if (n_cells > most_cells)
    throw core::ConfigError("io::model::read_model_toml#too_many_cells",
                            "{}: the model needs {} cells, more than {:.0f}; raise resolution_m or "
                            "leave shapes out",
                            path, fmt::join(n, " × "), most_cells);
}

/// Reads layers and bodies. errors: ConfigError with file:line.
physics::mesh::Model read_shapes_model(const core::Options& root, const std::string& path, double refine) {
  // Corners of polygons are places, layers and boxes mostly depths.
  const auto usual = root.has("polygon") ? DepthReference::datum : DepthReference::surface;
  const auto reference = root.choice<DepthReference>("depth_reference", usual);
  if (!root.has("background"))
    throw core::ConfigError(
        "io::model::read_model_toml#no_background",
        "{}:1: expected a table [background] with resistivity_ohm_m, or [cells], found none", path);
  Shapes shapes = read_shapes(root, reference);
  shapes.refine = refine;
  Surface surface = read_surface(root, shapes.dimension);
  const auto sea = read_sea(root, surface);
  root.require_all_used();
  physics::mesh::Edges edges{.y_m = lateral_edges(shapes, surface, Axis::y),
                             .z_m = z_edges(shapes, surface, reference)};
  if (shapes.dimension == 3) edges.x_m = lateral_edges(shapes, surface, Axis::x);
  require_few_cells(edges, path);
  TensorGrid grid(std::move(edges), reference);
  Eigen::VectorXd resistivity = fill(grid, shapes);
  return physics::mesh::resistivity_model({std::move(grid), std::move(surface), sea}, std::move(resistivity));
}

}  // namespace

physics::mesh::Model read_model_toml(const std::string& path, double refine) {
  return read_placed_toml(path, refine).model;
}

PlacedModel read_placed_toml(const std::string& path, double refine) {
  const core::Options root = toml::read_options_toml(path);
  physics::mesh::Frame frame = read_frame_table(root);
  if (root.has("cells")) {
    physics::mesh::Model model = read_cell_model(root);
    root.require_all_used();
    return {std::move(model), std::move(frame)};
  }
  return {read_shapes_model(root, path, refine), std::move(frame)};
}

}  // namespace lodestone::io::model
