// SPDX-License-Identifier: Apache-2.0
#include "io/model/cells.hpp"

#include "engine/core/error.hpp"
#include "io/model/shapes.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace lodestone::io::model {
namespace {

using physics::mesh::Axis;
using physics::mesh::DepthReference;
using physics::mesh::Frame;
using physics::mesh::Scale;
using physics::mesh::Surface;
using physics::mesh::TensorGrid;

constexpr const char* linear_key = "resistivity_ohm_m";
constexpr const char* log10_key = "log10_resistivity";

std::string edges_key(Axis axis) { return std::string(name(axis)) + "_m"; }

std::vector<double> read_edges(const core::Options& cells, Axis axis) {
  const std::string key = edges_key(axis);
  std::vector<double> edges = cells.reals(key);
  const auto outside = std::ranges::find_if_not(edges, physics::mt::is_in_coordinate_range);
  if (outside != edges.end())
    throw core::ConfigError("io::model::cells#edge_out_of_range", "{}: expected edges within {:g} m, got {}",
                            cells.where(key), physics::mt::largest_coordinate_m, *outside);
  return edges;
}

/// Returns the resistivity that a value stands for.
double ohm_m_of(double value, Scale scale) { return scale == Scale::linear ? value : std::pow(10.0, value); }

void check_values(const std::vector<double>& values, const TensorGrid& grid, Scale scale,
                  const std::string& place) {
  if (std::ssize(values) != grid.n_cells())
    throw core::ConfigError(
        "io::model::cells#wrong_count",
        "{}: expected {} values, one for each of {} x {} x {} cells along x, y and z, got {}", place,
        grid.n_cells(), grid.n_x(), grid.n_y(), grid.n_z(), values.size());
  const auto wrong = std::ranges::find_if_not(
      values, [&](double value) { return physics::mt::is_in_resistivity_range(ohm_m_of(value, scale)); });
  if (wrong != values.end())
    throw core::ConfigError("io::model::cells#out_of_range",
                            "{}: expected resistivities of {:g} to {:g} ohm m, got {:g} as value {} (from 0)",
                            place, physics::mt::least_resistivity_ohm_m,
                            physics::mt::largest_resistivity_ohm_m, ohm_m_of(*wrong, scale),
                            wrong - values.begin());
}

/// Appends `key = [values]`, so many values to a line.
void append_list(std::string& text, std::string_view key, std::span<const double> values,
                 std::size_t per_line) {
  const bool is_short = values.size() <= per_line;
  fmt::format_to(std::back_inserter(text), "{} = [{}", key, is_short ? "" : "\n");
  for (std::size_t i = 0; i < values.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{}", values[i],
                   i + 1 == values.size()    ? ""
                   : (i + 1) % per_line == 0 ? ",\n"
                                             : ", ");
  text += "]\n";
}

constexpr std::size_t edges_per_line = 12;

void append_surface(std::string& text, const Surface& surface) {
  if (!surface.is_map() && surface.is_flat() && surface.highest_m() == 0.0) return;
  text += "\n[surface]\n";
  if (surface.is_map()) append_list(text, "x_m", surface.x_m(), edges_per_line);
  append_list(text, "y_m", surface.y_m(), edges_per_line);
  const Eigen::MatrixXd z_m = surface.z_m();
  if (!surface.is_map()) {
    append_list(text, "z_m", surface.profile().z_m(), edges_per_line);
    return;
  }
  text += "z_m = [\n";
  for (const auto& row : z_m.rowwise()) {
    const std::vector<double> values(row.begin(), row.end());
    fmt::format_to(std::back_inserter(text), "[{}],\n", fmt::join(values, ", "));
  }
  text += "]\n";
}

void append_frame(std::string& text, const Frame& frame) {
  if (!frame.is_on_map() || !frame.bends.empty()) return;
  fmt::format_to(std::back_inserter(text),
                 "\n[frame]\nprojection = \"{}\"\norigin_north_m = {}\norigin_east_m = {}\nazimuth_deg = {}\n"
                 "elevation_m = {}\n",
                 frame.projection, frame.origin_north_m, frame.origin_east_m, frame.azimuth_deg,
                 frame.elevation_m);
}

/// Returns the text; `values` stands at the end of the table of cells.
std::string text_of(const PlacedModel& placed, const std::string& values) {
  const auto& earth = placed.model.earth;
  std::string text = fmt::format("dimension = {}\ndepth_reference = \"{}\"\n\n[cells]\n",
                                 earth.grid.dimension(), core::word(earth.grid.reference()));
  for (const Axis axis : physics::mesh::all_axes) {
    if (earth.grid.has(axis)) append_list(text, edges_key(axis), earth.grid.edges_m(axis), edges_per_line);
  }
  text += values;
  append_surface(text, earth.surface);
  if (earth.sea)
    fmt::format_to(std::back_inserter(text), "\n[sea]\nlevel_m = {}\nresistivity_ohm_m = {}\n",
                   earth.sea->level_m, earth.sea->resistivity_ohm_m);
  append_frame(text, placed.frame);
  return text;
}

}  // namespace

physics::mesh::Earth read_cell_earth(const core::Options& root) {
  const auto dimension = root.integer("dimension", 2);
  const core::Options cells = root.child("cells");
  if (dimension != 2 && dimension != 3)
    throw core::ConfigError("io::model::cells#wrong_dimension", "{}: expected dimension = 2 or 3, got {}",
                            root.where("dimension"), dimension);
  if (cells.has("x_m") != (dimension == 3))
    throw core::ConfigError("io::model::cells#other_dimension",
                            "{}: expected edges x_m in [cells] with dimension = 3 and without it none, got "
                            "dimension = {}",
                            cells.where(""), dimension);
  physics::mesh::Edges edges{.y_m = read_edges(cells, Axis::y), .z_m = read_edges(cells, Axis::z)};
  if (dimension == 3) edges.x_m = read_edges(cells, Axis::x);
  const auto reference = root.choice<DepthReference>("depth_reference", DepthReference::surface);
  Surface surface = read_surface(root, static_cast<int>(dimension));
  const auto sea = read_sea(root, surface);
  try {
    return {TensorGrid(std::move(edges), reference), std::move(surface), sea};
  } catch (const core::InvalidArgument& error) {
    throw core::ConfigError("io::model::cells#wrong_edges", "{}: {}", cells.where(""), error.what());
  }
}

physics::mesh::Model read_cell_model(const core::Options& root) {
  for (const char* other : {"background", "box", "polygon", "prism"}) {
    if (root.has(other))
      throw core::ConfigError("io::model::cells#shapes_beside_cells",
                              "{}: expected either [cells] or layers and bodies, got both; remove {}",
                              root.where(other), other);
  }
  physics::mesh::Earth earth = read_cell_earth(root);
  const core::Options cells = root.child("cells");
  const bool is_linear = cells.has(linear_key);
  if (is_linear == cells.has(log10_key))
    throw core::ConfigError("io::model::cells#no_values",
                            "{}: expected either {} or {} in [cells], got {} of them", cells.where(""),
                            linear_key, log10_key, is_linear ? 2 : 0);
  const char* key = is_linear ? linear_key : log10_key;
  const Scale scale = is_linear ? Scale::linear : Scale::log10;
  const std::vector<double> values = cells.reals(key);
  check_values(values, earth.grid, scale, cells.where(key));
  return {std::move(earth),
          {.scale = scale},
          Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values))};
}

Frame read_frame_table(const core::Options& root) {
  if (!root.has("frame")) return {};
  const core::Options table = root.child("frame");
  Frame frame{.projection = table.text("projection"),
              .origin_north_m = table.real("origin_north_m", 0.0),
              .origin_east_m = table.real("origin_east_m", 0.0),
              .azimuth_deg = table.real("azimuth_deg", Frame{}.azimuth_deg),
              .elevation_m = table.real("elevation_m", 0.0)};
  return frame;
}

std::string geometry_toml(const PlacedModel& placed) { return text_of(placed, {}); }

std::string model_toml(const PlacedModel& placed) {
  const physics::mesh::Model& model = placed.model;
  if (model.earth.grid.dimension() != 3) require_section(model.earth, "io::model::write_model_toml");
  const bool is_linear = model.property.scale == Scale::linear;
  const Eigen::VectorXd values = is_linear ? resistivity_ohm_m(model) : log10_resistivity(model);
  const int row = model.earth.grid.dimension() == 3 ? model.earth.grid.n_x() : model.earth.grid.n_y();
  std::string text;
  append_list(text, is_linear ? linear_key : log10_key,
              {values.data(), static_cast<std::size_t>(values.size())}, static_cast<std::size_t>(row));
  return text_of(placed, text);
}

}  // namespace lodestone::io::model
