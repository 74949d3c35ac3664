// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/gocad/sgrid.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/conventions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

namespace lodestone::io::gocad {
namespace {

using physics::mesh::Axis;
using physics::mesh::DepthReference;
using physics::mesh::Earth;
using physics::mesh::Model;
using physics::mesh::Point;
using physics::mesh::Scale;
using physics::mesh::TensorGrid;

constexpr double no_data = -99999.0;

/// Returns log10 of a resistivity, such that reading gives the same bits where a number does.
double log10_of(const Model& model, Eigen::Index cell) {
  const double value = model.values[cell];
  if (model.property.scale == Scale::log10) return value;
  return physics::mt::preimage(value, std::log10(value), [](double log) { return std::pow(10.0, log); });
}

/// Returns the nodes of a volume in true position: I along y, then J along x, then K downwards.
std::vector<Point> nodes_of(const Earth& earth) {
  std::vector<Point> nodes;
  for (const double z : earth.grid.z_edges_m()) {
    for (const double x : earth.grid.edges_m(Axis::x)) {
      for (const double y : earth.grid.y_edges_m()) {
        const Point in_grid{x, y, z};
        nodes.push_back({x, y, true_z_m(earth, in_grid)});
      }
    }
  }
  return nodes;
}

std::string head_of(const TensorGrid& grid, const std::string& name, const std::string& data_name,
                    const geodesy::MapSystem& system) {
  return fmt::format(
      "GOCAD SGrid 1\nHEADER {{\nname:{}\nascii:on\ndouble_precision_binary:off\n"
      "*painted*variable:log10_resistivity\n}}\n"
      "GOCAD_ORIGINAL_COORDINATE_SYSTEM\nNAME \"{}\"\nPROJECTION Unknown\nDATUM Unknown\n"
      "AXIS_NAME \"X\" \"Y\" \"Z\"\nAXIS_UNIT \"m\" \"m\" \"m\"\nZPOSITIVE Elevation\n"
      "END_ORIGINAL_COORDINATE_SYSTEM\n"
      "AXIS_N {} {} {}\nPROP_ALIGNMENT CELLS\nASCII_DATA_FILE {}\n"
      "PROPERTY 1 \"log10_resistivity\"\nPROP_UNIT 1 \"log10(ohm m)\"\nPROP_NO_DATA_VALUE 1 {}\nEND\n",
      name, system.is_local() ? "Default" : system.definition(), grid.n_y() + 1, grid.n_x() + 1,
      grid.n_z() + 1, data_name, no_data);
}

std::string data_of(const Model& model, const geodesy::MapSystem& system) {
  const TensorGrid& grid = model.earth.grid;
  const auto places = system.places(nodes_of(model.earth));
  std::string text = "*\n* X Y Z log10_resistivity I J K\n*\n";
  std::size_t node = 0;
  for (int k = 0; k <= grid.n_z(); ++k) {
    for (int j = 0; j <= grid.n_x(); ++j) {
      for (int i = 0; i <= grid.n_y(); ++i) {
        const auto& place = places[node++];
        const bool is_cell = k < grid.n_z() && j < grid.n_x() && i < grid.n_y();
        const double value = is_cell ? log10_of(model, grid.index(k, i, j)) : no_data;
        fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {} {}\n", place.east_m, place.north_m,
                       place.elevation_m + 0.0, value, i, j, k);
      }
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> write_model(const std::string& path, const Model& model,
                                     const geodesy::MapSystem& system) {
  if (model.earth.grid.dimension() != 3)
    throw core::InvalidArgument("io::gocad::write_model#not_a_volume",
                                "{}: expected a volume, as an SGrid has three axes, got a section; write XYZ "
                                "(.xyz) or VTK (.vtu) instead",
                                path);
  if (system.is_geographic())
    throw core::InvalidArgument("io::gocad::write_model#degrees",
                                "{}: expected a projected system in metres, as Z counts metres, got degrees "
                                "(EPSG:4326); give the code of a projection",
                                path);
  static_cast<void>(log10_resistivity(model));
  const std::filesystem::path head(path);
  const std::string stem = head.stem().string(), data_name = stem + "__ascii@@";
  std::vector<std::string> lost;
  if (model.earth.sea) lost.emplace_back("the sea and its resistivity");
  if (model.earth.grid.reference() == DepthReference::datum && !model.earth.surface.is_flat())
    lost.emplace_back("cells above the surface, whose nodes lie on it, so that the file is not read back");
  text::write_bytes_atomically((head.parent_path() / data_name).string(), data_of(model, system));
  text::write_bytes_atomically(path, head_of(model.earth.grid, stem, data_name, system));
  return lost;
}

}  // namespace lodestone::io::gocad
