// SPDX-License-Identifier: Apache-2.0
#include "io/model/points.hpp"

#include "engine/core/error.hpp"
#include "io/csv/rows.hpp"
#include "io/csv/table.hpp"
#include "io/model/lattice.hpp"
#include "io/text/scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::io::model {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Returns the metres per unit of a length in the header, whose column must be called `name` and a unit.
double metres_of(const std::string& path, const csv::Rows& table, std::size_t column,
                 const std::vector<std::string>& names) {
  const std::string got = column < table.header.size() ? table.header[column] : "";
  for (const std::string& name : names) {
    if (got == name + "_m") return 1.0;
    if (got == name + "_km") return 1000.0;
  }
  throw core::FormatError("io::read_sections_csv#wrong_place_column",
                          "{}:1: expected {}_m or {}_km as column {}, got \"{}\"", path, names.front(),
                          names.front(), column + 1, text::printable(got));
}

/// Names of the sections from the header. errors: FormatError.
std::vector<std::string> section_names(const std::string& path, const csv::Rows& table) {
  constexpr std::string_view prefix = "log10_rho_";
  std::vector<std::string> names;
  for (std::size_t column = 2; column < table.header.size(); ++column) {
    const std::string& got = table.header[column];
    if (!got.starts_with(prefix) || got.size() == prefix.size())
      throw core::FormatError("io::read_sections_csv#wrong_column",
                              "{}:1: expected log10_rho_NAME as column {}, got \"{}\"", path, column + 1,
                              text::printable(got));
    names.push_back(got.substr(prefix.size()));
    std::ranges::replace(names.back(), '_', ' ');
  }
  if (names.empty())
    throw core::FormatError("io::read_sections_csv#no_column",
                            "{}:1: expected a column log10_rho_NAME, found none", path);
  return names;
}

}  // namespace

std::vector<NamedSection> read_sections_csv(const std::string& path) {
  constexpr const char* component = "io::read_sections_csv";
  const csv::Rows table = csv::read_rows(path, component);
  const double per_y = metres_of(path, table, 0, {"y", "x"}),
               per_depth = metres_of(path, table, 1, {"depth"});
  const std::vector<std::string> names = section_names(path, table);
  std::vector<double> y_m, depth_m;
  for (const auto& [line, fields] : table.rows) {
    y_m.push_back(per_y * csv::real_field(fields[0], path, line, component, table.header[0]));
    depth_m.push_back(per_depth * csv::real_field(fields[1], path, line, component, table.header[1]));
    if (depth_m.back() < 0.0)
      throw core::FormatError("io::read_sections_csv#negative_depth",
                              "{}:{}: expected a depth of 0 or more, got {}", path, line, fields[1]);
  }
  const auto columns = lattice_of(y_m, path, component, "positions"),
             rows = lattice_of(depth_m, path, component, "depths");
  const physics::mesh::TensorGrid grid = physics::mesh::TensorGrid::section(
      edges_around(columns, -std::numeric_limits<double>::infinity()), edges_around(rows, 0.0));
  std::vector<NamedSection> sections;
  for (const std::string& name : names)
    sections.push_back({name, physics::mesh::resistivity_model(
                                  {grid}, Eigen::VectorXd::Constant(grid.n_cells(), no_value))});
  std::vector<bool> seen(static_cast<std::size_t>(grid.n_cells()));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& [line, fields] = table.rows[i];
    const Eigen::Index cell = grid.index(rows.at(depth_m[i]), columns.at(y_m[i]));
    if (seen[static_cast<std::size_t>(cell)])
      throw core::FormatError("io::read_sections_csv#point_twice",
                              "{}:{}: expected each point once, got {}, {} twice", path, line, fields[0],
                              fields[1]);
    seen[static_cast<std::size_t>(cell)] = true;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (!fields[k + 2].empty())
        sections[k].section.values[cell] =
            std::pow(10.0, csv::real_field(fields[k + 2], path, line, component, table.header[k + 2]));
    }
  }
  return sections;
}

void write_section_csv(const std::string& path, const physics::mesh::Model& section) {
  physics::mesh::require_section(section.earth, "io::write_section_csv");
  const auto& grid = section.earth.grid;
  const auto &y = grid.y_edges_m(), &z = grid.z_edges_m();
  const Eigen::VectorXd resistivity = resistivity_ohm_m(section);
  core::Table table;
  for (const char* name : {"y_left_m", "y_right_m", "z_top_m", "z_bottom_m", "depth_m"})
    table.add_numbers(name, "m");
  table.add_numbers("resistivity_ohm_m", "ohm m");
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const auto row = static_cast<std::size_t>(iz), column = static_cast<std::size_t>(iy);
      const double surface = section.earth.surface.z_at(0.0, grid.y_centre_m(iy)),
                   top = true_z_m(grid, z[row], surface), bottom = true_z_m(grid, z[row + 1], surface);
      if (!(bottom > top)) continue;
      table.append_row({y[column], y[column + 1], top, bottom, 0.5 * (top + bottom) - surface,
                        resistivity[grid.index(iz, iy)]});
    }
  }
  csv::write_table(path, table);
}

}  // namespace lodestone::io::model
