// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/model/read.hpp"
#include "io/model/shapes.hpp"
#include "io/toml/options.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io::model {
namespace {

using physics::mesh::DepthReference;
using physics::mesh::SurfaceLine;
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

/// Returns the edges of the shapes with one column of background on each side; the surface's nodes lie
/// inside.
std::vector<double> y_edges(const SectionShapes& shapes, const SurfaceLine& surface) {
  std::vector<double> edges = distinct(shapes.y_lines_m());
  const auto& nodes = surface.y_m();
  const double low = edges.empty() ? nodes.front() : std::min(edges.front(), nodes.front());
  const double high = edges.empty() ? nodes.back() : std::max(edges.back(), nodes.back());
  const double margin = std::max(outer_column_m, high - low);
  edges.insert(edges.begin(), low - margin);
  edges.push_back(high + margin);
  return edges;
}

/// Returns the edges of the shapes from the top of the earth to one row below the deepest.
std::vector<double> z_edges(const SectionShapes& shapes, const SurfaceLine& surface,
                            DepthReference reference) {
  std::vector<double> edges = shapes.z_lines_m();
  edges.push_back(0.0);
  if (reference == DepthReference::datum)
    edges.push_back(*std::min_element(surface.z_m().begin(), surface.z_m().end()));
  edges = distinct(std::move(edges));
  if (reference == DepthReference::surface) {
    edges.erase(edges.begin(), std::lower_bound(edges.begin(), edges.end(), 0.0));
  }
  edges.push_back(edges.back() + std::max(outer_column_m, edges.back() - edges.front()));
  return edges;
}

Eigen::VectorXd fill(const TensorGrid& grid, const SectionShapes& shapes) {
  const auto &y = grid.y_edges_m(), &z = grid.z_edges_m();
  Eigen::VectorXd resistivity(grid.n_cells());
  for (std::size_t iz = 0; iz + 1 < z.size(); ++iz) {
    for (std::size_t iy = 0; iy + 1 < y.size(); ++iy) {
      resistivity[grid.index(static_cast<int>(iz), static_cast<int>(iy))] =
          shapes.resistivity_ohm_m({.y_m = {y[iy], y[iy + 1]}, .z_m = {z[iz], z[iz + 1]}});
    }
  }
  return resistivity;
}

}  // namespace

physics::mesh::Model read_model_toml(const std::string& path, double refine) {
  const core::Options root = toml::read_options_toml(path);
  // Corners of polygons are places, layers and boxes mostly depths.
  const auto usual = root.has("polygon") ? DepthReference::datum : DepthReference::surface;
  const auto reference = root.choice<DepthReference>("depth_reference", usual);
  if (!root.has("background"))
    throw core::ConfigError("io::model::read_model_toml#no_background",
                            "{}:1: expected a table [background] with resistivity_ohm_m, found none", path);
  SectionShapes shapes = read_section_shapes(root, reference);
  shapes.refine = refine;
  SurfaceLine surface = read_section_surface(root);
  const auto sea = read_section_sea(root, surface);
  root.require_all_used();
  auto y = y_edges(shapes, surface), z = z_edges(shapes, surface, reference);
  if (static_cast<double>(y.size()) * static_cast<double>(z.size()) > most_cells)
    throw core::ConfigError("io::model::read_model_toml#too_many_cells",
                            "{}: the model needs {} × {} cells, more than {:.0f}; raise resolution_m", path,
                            y.size(), z.size(), most_cells);
  TensorGrid grid = TensorGrid::section(std::move(y), std::move(z), reference);
  Eigen::VectorXd resistivity = fill(grid, shapes);
  return physics::mesh::resistivity_model({std::move(grid), std::move(surface), sea}, std::move(resistivity));
}

}  // namespace lodestone::io::model
