// SPDX-License-Identifier: Apache-2.0
#include "io/model/xyz.hpp"

#include "engine/core/error.hpp"
#include "io/model/cells.hpp"
#include "io/model/lattice.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/toml/options.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>

namespace lodestone::io::model {
namespace {

using physics::mesh::Axis;
using physics::mesh::Earth;
using physics::mesh::Model;
using physics::mesh::Point;
using physics::mesh::Scale;
using physics::mesh::TensorGrid;

constexpr const char* reader = "io::model::read_xyz";
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// The centre of a cell in true position, and its height.
struct Centre {
  Point at;
  double height_m, surface_m;
};

Centre centre_of(const Earth& earth, int iz, int iy, int ix) {
  const TensorGrid& grid = earth.grid;
  const double x = grid.centre_m(Axis::x, ix), y = grid.centre_m(Axis::y, iy);
  const auto row = static_cast<std::size_t>(iz);
  const double surface = earth.surface.z_at(x, y), top = true_z_m(grid, grid.z_edges_m()[row], surface),
               bottom = true_z_m(grid, grid.z_edges_m()[row + 1], surface);
  return {{x, y, 0.5 * (top + bottom)}, bottom - top, surface};
}

/// Calls `visit(cell, centre)` for each cell that is not above the surface, in the order of the grid.
template <class Visit>
void visit_cells(const Earth& earth, const Visit& visit) {
  for (int iz = 0; iz < earth.grid.n_z(); ++iz)
    for (int iy = 0; iy < earth.grid.n_y(); ++iy)
      for (int ix = 0; ix < earth.grid.n_x(); ++ix) {
        const Centre centre = centre_of(earth, iz, iy, ix);
        if (centre.height_m > 0.0) visit(earth.grid.index(iz, iy, ix), centre);
      }
}

double log10_of(const Model& model, Eigen::Index cell) {
  const double value = model.values[cell];
  if (model.property.scale == Scale::log10) return value;
  return physics::mt::preimage(value, std::log10(value), [](double log) { return std::pow(10.0, log); });
}

/// Returns a text with "# " before each of its lines.
std::string as_comment(const std::string& text) {
  std::string out;
  for (const auto line : text::split_lines(text)) {
    if (!line.empty()) fmt::format_to(std::back_inserter(out), "# {}\n", line);
  }
  return out;
}

constexpr std::string_view opening = "# geometry, by which the file is read back:\n";

std::string local_text(const PlacedModel& placed) {
  const Model& model = placed.model;
  const bool is_volume = model.earth.grid.dimension() == 3;
  std::string text = std::string(opening) + as_comment(geometry_toml(placed)) +
                     fmt::format("{}y_m z_m log10_resistivity\n", is_volume ? "x_m " : "");
  visit_cells(model.earth, [&](Eigen::Index cell, const Centre& centre) {
    if (is_volume) fmt::format_to(std::back_inserter(text), "{} ", centre.at.x_m);
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", centre.at.y_m, centre.at.z_m,
                   log10_of(model, cell));
  });
  return text;
}

std::string map_text(const Model& model, const geodesy::MapSystem& system) {
  std::string text = fmt::format(
      "# {}\n{} log10_resistivity\n", system.definition(),
      system.is_geographic() ? "longitude_deg latitude_deg depth_m" : "east_m north_m elevation_m");
  std::vector<Point> points;
  std::vector<double> depths, values;
  visit_cells(model.earth, [&](Eigen::Index cell, const Centre& centre) {
    points.push_back(centre.at);
    depths.push_back(centre.at.z_m - centre.surface_m);
    values.push_back(log10_of(model, cell));
  });
  const auto places = system.places(points);
  for (std::size_t i = 0; i < places.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{} {} {} {}\n", places[i].east_m, places[i].north_m,
                   system.is_geographic() ? depths[i] : places[i].elevation_m, values[i]);
  return text;
}

/// A table of points: the places of its columns, and its rows.
struct Table {
  bool is_volume = false;
  Scale scale = Scale::log10;
  std::vector<std::array<double, 3>> places;  ///< x (0 of a section), y, z
  std::vector<double> values;
  std::vector<int> lines;
};

std::string without_commas(std::string_view line) {
  std::string text(line);
  std::ranges::replace(text, ',', ' ');
  return text;
}

/// Takes the line that names the columns. errors: FormatError.
void take_columns(const text::LineReader& lines, Table& table) {
  const std::string text = without_commas(lines.text());
  auto names = text::words(text);
  if (names.size() < 3) names.resize(3);  // so that there are names to compare; the line is refused
  table.is_volume = names.front() == "x_m";
  const std::size_t n = table.is_volume ? 4 : 3;
  const bool is_linear = names.back() == "resistivity_ohm_m";
  if (names.size() != n || names[n - 3] != "y_m" || (names[n - 2] != "z_m" && names[n - 2] != "depth_m") ||
      (!is_linear && names.back() != "log10_resistivity"))
    lines.refuse("wrong_columns",
                 fmt::format("expected the columns x_m (of a volume), y_m, z_m or depth_m, and "
                             "log10_resistivity or resistivity_ohm_m, got \"{}\"; points of the map are not "
                             "read as a model",
                             text::printable(lines.text())));
  table.scale = is_linear ? Scale::linear : Scale::log10;
}

void take_row(const text::LineReader& lines, int line, Table& table) {
  const std::string text = without_commas(lines.text());
  const auto words = text::words(text);
  const std::size_t n = table.is_volume ? 4 : 3;
  if (words.size() != n)
    lines.refuse("wrong_row", fmt::format("expected {} numbers, got {} words", n, words.size()));
  std::array<double, 3> place{};
  for (std::size_t i = 0; i + 1 < n; ++i)
    place.at(i + 4 - n) = lines.within(words[i], "a coordinate in m", physics::mt::largest_coordinate_m);
  const double value = lines.finite(words.back(), "a resistivity"),
               ohm_m = table.scale == Scale::log10 ? std::pow(10.0, value) : value;
  if (!physics::mt::is_in_resistivity_range(ohm_m))
    lines.refuse(
        "resistivity_out_of_range",
        fmt::format("expected a resistivity of {:g} to {:g} ohm m, got {:g}",
                    physics::mt::least_resistivity_ohm_m, physics::mt::largest_resistivity_ohm_m, ohm_m));
  table.places.push_back(place);
  table.values.push_back(value);
  table.lines.push_back(line);
}

Table read_table(const std::string& bytes, const std::string& path) {
  text::LineReader lines(bytes, path, reader, "#");
  lines.require_next("a line that names the columns");
  Table table;
  take_columns(lines, table);
  while (lines.next()) take_row(lines, lines.line_number(), table);
  return table;
}

/// Returns the TOML in the comments of `write_xyz`, on the lines where they stand; empty without it.
std::string geometry_in(const std::string& bytes) {
  if (!bytes.starts_with(opening)) return {};
  std::string text;
  for (const auto line : text::split_lines(bytes)) {
    if (!line.starts_with('#')) break;
    text += text.empty() ? "\n" : std::string(line.substr(1)) + "\n";
  }
  return text;
}

[[noreturn]] void refuse_at(const std::string& path, int line, std::string_view id, const std::string& text) {
  throw core::FormatError(fmt::format("{}#{}", reader, id), "{}:{}: {}", path, line, text);
}

/// Gives cells above the surface, which have no row, the number below them.
void fill_upwards(const TensorGrid& grid, Eigen::VectorXd& values) {
  for (Eigen::Index cell = values.size() - grid.n_columns() - 1; cell >= 0; --cell)
    if (std::isnan(values[cell])) values[cell] = values[cell + grid.n_columns()];
}

/// Fills the cells of an earth from rows in its order.
Model in_cells(Earth earth, const Table& table, const std::string& path) {
  Eigen::VectorXd values = Eigen::VectorXd::Constant(earth.grid.n_cells(), no_value);
  std::size_t row = 0;
  const int last = table.lines.empty() ? 1 : table.lines.back();
  visit_cells(earth, [&](Eigen::Index cell, const Centre& centre) {
    const std::array<double, 3> expected{table.is_volume ? centre.at.x_m : 0.0, centre.at.y_m, centre.at.z_m};
    if (row == table.places.size())
      refuse_at(path, last, "too_few_rows",
                fmt::format("expected a row for each cell, got {} rows; is the file cut off?", row));
    if (table.places[row] != expected)
      refuse_at(
          path, table.lines[row], "other_order",
          fmt::format("expected the cell at ({}), as the comments on top state the cells, got ({}); keep "
                      "the order of the rows, or remove all comments",
                      fmt::join(expected, ", "), fmt::join(table.places[row], ", ")));
    values[cell] = table.values[row++];
  });
  if (row != table.places.size())
    refuse_at(path, table.lines[row], "too_many_rows",
              fmt::format("expected the end of the file after {} cells", row));
  fill_upwards(earth.grid, values);
  return {std::move(earth), {.scale = table.scale}, std::move(values)};
}

/// Returns the places of rows along an axis.
std::vector<double> along(const Table& table, std::size_t axis) {
  std::vector<double> values;
  for (const auto& place : table.places) values.push_back(place.at(axis));
  return values;
}

/// Makes cells around the points of a lattice.
Model around_points(const Table& table, const std::string& path) {
  constexpr double unlimited = -std::numeric_limits<double>::infinity();
  const auto y = lattice_of(along(table, 1), path, reader, "y"),
             z = lattice_of(along(table, 2), path, reader, "z");
  const auto x =
      table.is_volume ? lattice_of(along(table, 0), path, reader, "x") : std::map<double, int>{{0.0, 0}};
  physics::mesh::Edges edges{.y_m = edges_around(y, unlimited),
                             .z_m = edges_around(z, z.begin()->first >= 0.0 ? 0.0 : unlimited)};
  if (table.is_volume) edges.x_m = edges_around(x, unlimited);
  TensorGrid grid(std::move(edges));
  Eigen::VectorXd values = Eigen::VectorXd::Constant(grid.n_cells(), no_value);
  for (std::size_t row = 0; row < table.places.size(); ++row) {
    const auto& place = table.places[row];
    double& value = values[grid.index(z.at(place[2]), y.at(place[1]), x.at(place[0]))];
    if (!std::isnan(value))
      refuse_at(path, table.lines[row], "point_twice",
                fmt::format("expected each point once, got ({}) twice", fmt::join(place, ", ")));
    value = table.values[row];
  }
  if (std::ssize(table.places) != grid.n_cells())
    refuse_at(path, table.lines.back(), "missing_points",
              fmt::format("expected {} x {} x {} points along x, y and z, each once, got {}; interpolate the "
                          "points to a lattice, or round their coordinates so that rows agree",
                          x.size(), y.size(), z.size(), table.places.size()));
  return {{std::move(grid)}, {.scale = table.scale}, std::move(values)};
}

}  // namespace

std::vector<std::string> write_xyz(const std::string& path, const PlacedModel& placed,
                                   const geodesy::MapSystem& system) {
  if (placed.model.earth.grid.dimension() != 3) require_section(placed.model.earth, "io::model::write_xyz");
  static_cast<void>(log10_resistivity(placed.model));
  if (system.is_local()) {
    text::write_bytes_atomically(path, local_text(placed));
    return placed.frame.bends.empty() ? std::vector<std::string>{}
                                      : std::vector<std::string>{"the bends of the line on the map"};
  }
  text::write_bytes_atomically(path, map_text(placed.model, system));
  std::vector<std::string> lost{"edges of cells, so that the file is not read back"};
  if (placed.model.earth.sea) lost.emplace_back("the sea and its resistivity");
  return lost;
}

PlacedModel read_xyz(const std::string& path) {
  const std::string bytes = text::read_text(path);
  const Table table = read_table(bytes, path);
  if (table.places.empty()) refuse_at(path, 1, "no_rows", "expected rows of points, but the file has none");
  const std::string geometry = geometry_in(bytes);
  if (geometry.empty()) return {around_points(table, path)};
  const core::Options root = toml::parse_options_toml(geometry, path);
  Earth earth = read_cell_earth(root);
  physics::mesh::Frame frame = read_frame_table(root);
  root.require_all_used();
  if ((earth.grid.dimension() == 3) != table.is_volume)
    refuse_at(path, 1, "other_dimension", "expected x_m among the columns where the comments have x_m");
  return {in_cells(std::move(earth), table, path), std::move(frame)};
}

}  // namespace lodestone::io::model
