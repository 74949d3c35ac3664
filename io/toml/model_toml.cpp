// SPDX-License-Identifier: Apache-2.0
#include "io/toml/model_toml.hpp"

#include "engine/core/error.hpp"
#include "io/toml/options_toml.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lodestone::io {
namespace {

using physics::mesh::DepthReference;
using physics::mesh::Section2D;
using physics::mesh::Surface2D;
using physics::mesh::TensorGrid2D;

constexpr const char* component = "io::read_model_toml";
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double outer_column_m = 1000.0;  ///< least width of the outermost columns, which continue without end anyway

struct Layers {
  std::vector<double> bottoms_m;  ///< of all but the last
  std::vector<double> resistivity_ohm_m;
  [[nodiscard]] double at(double z) const {
    const auto below = std::upper_bound(bottoms_m.begin(), bottoms_m.end(), z) - bottoms_m.begin();
    return resistivity_ohm_m[static_cast<std::size_t>(below)];
  }
};

struct Box {
  double y_min = -infinity, y_max = infinity, z_min = -infinity, z_max = infinity, resistivity_ohm_m = 0.0;
  [[nodiscard]] bool holds(double y, double z) const { return y > y_min && y < y_max && z > z_min && z < z_max; }
};

void require_positive(const std::vector<double>& values, const core::Options& table, const char* key) {
  for (const double v : values) {
    if (!(v > 0.0)) throw core::ConfigError(component, "{}: expected numbers above 0 in \"{}\", got {}", table.where(key), key, v);
  }
}

Layers read_layers(const core::Options& background) {
  Layers layers;
  layers.resistivity_ohm_m = background.reals("resistivity_ohm_m");
  const auto thickness = background.reals("thickness_m", std::vector<double>{});
  require_positive(layers.resistivity_ohm_m, background, "resistivity_ohm_m");
  require_positive(thickness, background, "thickness_m");
  if (layers.resistivity_ohm_m.size() != thickness.size() + 1) {
    throw core::ConfigError(component, "{}: expected one thickness less than resistivities (the last layer has no bottom), got {} and {}",
                            background.where("resistivity_ohm_m"), thickness.size(), layers.resistivity_ohm_m.size());
  }
  layers.bottoms_m.resize(thickness.size());
  std::partial_sum(thickness.begin(), thickness.end(), layers.bottoms_m.begin());
  return layers;
}

Box read_box(const core::Options& table, DepthReference reference) {
  Box box;
  const auto limit = [&](const char* key, double fallback) { return table.has(key) ? table.real(key) : fallback; };
  box.y_min = limit("y_min_m", -infinity);
  box.y_max = limit("y_max_m", infinity);
  box.z_min = limit("z_min_m", -infinity);
  box.z_max = limit("z_max_m", infinity);
  box.resistivity_ohm_m = table.real("resistivity_ohm_m");
  require_positive({box.resistivity_ohm_m}, table, "resistivity_ohm_m");
  if (!(box.y_min < box.y_max) || !(box.z_min < box.z_max)) {
    throw core::ConfigError(component, "{}: expected a box with y_min_m < y_max_m and z_min_m < z_max_m, got y {} … {} and z {} … {}",
                            table.where(""), box.y_min, box.y_max, box.z_min, box.z_max);
  }
  if (reference == DepthReference::surface && box.z_max <= 0.0) {
    throw core::ConfigError(component, "{}: expected a box below the surface, got z_max_m = {}; depths count from the surface, downwards",
                            table.where(""), box.z_max);
  }
  return box;
}

Surface2D read_surface(const core::Options& root) {
  if (!root.has("surface")) return Surface2D();
  const core::Options table = root.child("surface");
  try {
    return Surface2D(table.reals("y_m"), table.reals("z_m"));
  } catch (const core::ConfigError&) {
    throw;
  } catch (const core::Error& error) {
    throw core::ConfigError(component, "{}: {}", table.where(""), error.what());
  }
}

/// Sorted, without values closer than a micrometre.
std::vector<double> distinct(std::vector<double> values) {
  constexpr double same_m = 1e-6;
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }), values.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end(), [](double a, double b) { return b - a < same_m; }), values.end());
  return values;
}

/// Box edges with one column of background on each side; the surface's nodes lie inside.
std::vector<double> y_edges(const std::vector<Box>& boxes, const Surface2D& surface) {
  std::vector<double> edges;
  for (const Box& box : boxes) edges.insert(edges.end(), {box.y_min, box.y_max});
  edges = distinct(std::move(edges));
  const auto& nodes = surface.y_m();
  const double low = edges.empty() ? nodes.front() : std::min(edges.front(), nodes.front());
  const double high = edges.empty() ? nodes.back() : std::max(edges.back(), nodes.back());
  const double margin = std::max(outer_column_m, high - low);
  edges.insert(edges.begin(), low - margin);
  edges.push_back(high + margin);
  return edges;
}

/// Layer and box edges from the top of the earth to one row below the deepest.
std::vector<double> z_edges(const Layers& layers, const std::vector<Box>& boxes, const Surface2D& surface, DepthReference reference) {
  std::vector<double> edges = layers.bottoms_m;
  edges.push_back(0.0);
  for (const Box& box : boxes) edges.insert(edges.end(), {box.z_min, box.z_max});
  if (reference == DepthReference::datum) edges.push_back(*std::min_element(surface.z_m().begin(), surface.z_m().end()));
  edges = distinct(std::move(edges));
  if (reference == DepthReference::surface) {
    edges.erase(edges.begin(), std::lower_bound(edges.begin(), edges.end(), 0.0));
  }
  edges.push_back(edges.back() + std::max(outer_column_m, edges.back() - edges.front()));
  return edges;
}

}  // namespace

Section2D read_model_toml(const std::string& path) {
  const core::Options root = read_options_toml(path);
  const std::string reference_word = root.choice("depth_reference", {"surface", "datum"}, "surface");
  const auto reference = reference_word == "surface" ? DepthReference::surface : DepthReference::datum;
  if (!root.has("background"))
    throw core::ConfigError(component, "{}:1: expected a table [background] with resistivity_ohm_m, got none", path);
  const Layers layers = read_layers(root.child("background"));
  std::vector<Box> boxes;
  for (const core::Options& table : root.children("box")) boxes.push_back(read_box(table, reference));
  Surface2D surface = read_surface(root);
  root.require_all_used();
  TensorGrid2D grid(y_edges(boxes, surface), z_edges(layers, boxes, surface, reference), reference);
  Eigen::VectorXd resistivity(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const double y = grid.y_centre_m(iy), z = grid.z_centre_m(iz);
      const auto box = std::find_if(boxes.rbegin(), boxes.rend(), [&](const Box& b) { return b.holds(y, z); });
      resistivity[grid.index(iz, iy)] = box == boxes.rend() ? layers.at(z) : box->resistivity_ohm_m;
    }
  }
  return {std::move(grid), std::move(resistivity), std::move(surface)};
}

}  // namespace lodestone::io
