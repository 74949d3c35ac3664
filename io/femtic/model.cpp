// SPDX-License-Identifier: Apache-2.0
#include "io/femtic/model.hpp"

#include "engine/core/error.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

namespace lodestone::io::femtic {
namespace {

constexpr const char* reader = "io::femtic::read_model";
constexpr int most_along_axis = 100'000;
constexpr int most_cells = 100'000'000;
constexpr double same_m = 1e-3;              // nodes of one plane differ by less
constexpr std::size_t n_words_of_cell = 15;  // number, six neighbours, eight nodes
constexpr int unset = -1;

using Words = std::vector<std::string_view>;

/// A text with its lines.
struct File {
  explicit File(std::string path) : bytes(text::read_text(path)), lines(bytes, std::move(path), reader, "") {}

  /// Goes to the next line and returns its words. errors: FormatError with fewer than `least` of them.
  Words words(const std::string& what, std::size_t least) {
    lines.require_next(what);
    Words words = text::words(lines.text());
    if (words.size() < least)
      lines.refuse("short_line",
                   fmt::format("expected {}, at least {} numbers, got {}", what, least, words.size()));
    return words;
  }
  /// Checks that the file can hold so many lines. errors: FormatError.
  void require_lines(std::size_t n, const char* what) const {
    if (n > bytes.size())
      lines.refuse("cut_off",
                   fmt::format("expected {} lines of {}, but the file has only {} bytes; is it cut off?", n,
                               what, bytes.size()));
  }

  std::string bytes;
  text::LineReader lines;
};

using Point = std::array<double, 3>;

/// Returns the planes on which points lie along an axis, increasing.
std::vector<double> planes_of(const std::vector<Point>& nodes, std::size_t axis) {
  std::vector<double> values;
  for (const Point& node : nodes) values.push_back(node.at(axis));
  std::ranges::sort(values);
  std::vector<double> planes;
  for (const double value : values) {
    if (planes.empty() || value - planes.back() > same_m) planes.push_back(value);
  }
  return planes;
}

/// Returns the number of the plane at a place, `unset` without one.
int plane_at(const std::vector<double>& planes, double value) {
  const auto next = std::ranges::lower_bound(planes, value - same_m);
  return next != planes.end() && *next <= value + same_m ? static_cast<int>(next - planes.begin()) : unset;
}

/// A mesh of bricks: planes along x, y and z, and the place of each cell between them.
struct Mesh {
  std::array<std::vector<double>, 3> planes;
  std::vector<std::array<int, 3>> cells;
  int n_air = 0;
};

/// Reads `mesh.dat`.
class MeshReader {
 public:
  explicit MeshReader(std::string path) : file_(std::move(path)) {}

  Mesh read() {
    read_head();
    const std::vector<Point> nodes = read_nodes();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      mesh_.planes.at(axis) = planes_of(nodes, axis);
      if (mesh_.planes.at(axis).size() != n_.at(axis) + 1)
        file_.lines.refuse("not_a_grid",
                           fmt::format("expected nodes on {} planes along {}, got them on {}; a model is a "
                                       "grid of bricks here",
                                       n_.at(axis) + 1, "xyz"[axis], mesh_.planes.at(axis).size()));
    }
    if (const double top = mesh_.planes[2].at(static_cast<std::size_t>(mesh_.n_air)); std::abs(top) > same_m)
      file_.lines.refuse("surface_not_at_zero",
                         fmt::format("expected the surface at z = 0 below {} layers of air, got it at {} m",
                                     mesh_.n_air, top));
    for (std::size_t i = 0; i < n_[0] * n_[1] * n_[2]; ++i) mesh_.cells.push_back(read_cell(nodes));
    return std::move(mesh_);
  }

 private:
  void read_head() {
    Words words = file_.words("the kind of the mesh, HEXA", 1);
    if (!text::equals_ignoring_case(words.front(), "HEXA"))
      file_.lines.refuse(
          "other_mesh",
          fmt::format("expected a mesh of bricks, HEXA, got \"{}\"; cells of other shapes have no place on a "
                      "grid: make a model of bricks, or a table of points on a grid (XYZ)",
                      text::printable(words.front())));
    words.erase(words.begin());
    if (words.empty()) words = file_.words("numbers of cells along x, y and z, and of layers of air", 4);
    if (words.size() < 4)
      file_.lines.refuse("short_line", fmt::format("expected four numbers after HEXA, got {}", words.size()));
    for (std::size_t axis = 0; axis < 3; ++axis)
      n_.at(axis) =
          static_cast<std::size_t>(file_.lines.whole(words[axis], "a number of cells", 1, most_along_axis));
    mesh_.n_air = file_.lines.whole(words[3], "a number of layers of air", 0, static_cast<int>(n_[2]) - 1);
    file_.require_lines((n_[0] + 1) * (n_[1] + 1) * (n_[2] + 1), "nodes");
  }

  std::vector<Point> read_nodes() {
    std::vector<Point> nodes((n_[0] + 1) * (n_[1] + 1) * (n_[2] + 1));
    for (Point& node : nodes) {
      const Words words = file_.words("a node: number, x, y, z", 4);
      for (std::size_t axis = 0; axis < 3; ++axis)
        node.at(axis) =
            file_.lines.within(words[axis + 1], "a coordinate", physics::mt::largest_coordinate_m);
    }
    return nodes;
  }

  /// Reads a cell by its least and its largest corner, the first and the seventh of its nodes.
  std::array<int, 3> read_cell(const std::vector<Point>& nodes) {
    constexpr std::size_t first = 7, seventh = 13;
    const Words words = file_.words("a cell: number, 6 neighbours, 8 nodes", n_words_of_cell);
    const auto node = [&](std::size_t word) -> const Point& {
      return nodes[static_cast<std::size_t>(
          file_.lines.whole(words[word], "a node", 0, static_cast<int>(nodes.size()) - 1))];
    };
    const Point &low = node(first), &high = node(seventh);
    std::array<int, 3> cell{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      cell.at(axis) = plane_at(mesh_.planes.at(axis), low.at(axis));
      if (plane_at(mesh_.planes.at(axis), high.at(axis)) != cell.at(axis) + 1)
        file_.lines.refuse(
            "not_a_brick",
            fmt::format("expected a cell between neighbouring planes along {}, got one from {} "
                        "to {} m",
                        "xyz"[axis], low.at(axis), high.at(axis)));
    }
    return cell;
  }

  File file_;
  std::array<std::size_t, 3> n_{};
  Mesh mesh_;
};

/// Reads the resistivities of cells, in the order of their numbers.
std::vector<double> read_cells(const std::string& path, std::size_t n_of_mesh) {
  File file(path);
  const Words head = file.words("numbers of cells and of blocks", 2);
  const auto n_cells =
                 static_cast<std::size_t>(file.lines.whole(head[0], "a number of cells", 1, most_cells)),
             n_blocks =
                 static_cast<std::size_t>(file.lines.whole(head[1], "a number of blocks", 1, most_cells));
  if (n_cells != n_of_mesh)
    file.lines.refuse("other_mesh",
                      fmt::format("expected the {} cells of mesh.dat, got {}; do the files belong together?",
                                  n_of_mesh, n_cells));
  file.require_lines(n_cells + n_blocks, "cells and blocks");
  std::vector<int> blocks(n_cells, unset);
  for (std::size_t i = 0; i < n_cells; ++i) {
    const Words words = file.words("a cell and its block", 2);
    int& block = blocks[static_cast<std::size_t>(
        file.lines.whole(words[0], "a cell", 0, static_cast<int>(n_cells) - 1))];
    if (block != unset)
      file.lines.refuse("repeated_cell", fmt::format("expected each cell once, got {} twice", words[0]));
    block = file.lines.whole(words[1], "a block", 0, static_cast<int>(n_blocks) - 1);
  }
  std::vector<double> of_block(n_blocks, 0.0);
  for (std::size_t i = 0; i < n_blocks; ++i) {
    const Words words = file.words("a block and its resistivity", 2);
    double& value = of_block[static_cast<std::size_t>(
        file.lines.whole(words[0], "a block", 0, static_cast<int>(n_blocks) - 1))];
    if (value != 0.0)
      file.lines.refuse("repeated_block", fmt::format("expected each block once, got {} twice", words[0]));
    value = file.lines.finite(words[1], "a resistivity");
    if (!(value > 0.0))
      file.lines.refuse("not_positive", fmt::format("expected a resistivity above 0 ohm m, got {}", value));
  }
  std::vector<double> cells;
  for (const int block : blocks) cells.push_back(of_block[static_cast<std::size_t>(block)]);
  return cells;
}

}  // namespace

physics::mesh::Model read_model(const std::string& path) {
  const std::string mesh_path = (std::filesystem::path(path).parent_path() / "mesh.dat").string();
  if (!std::filesystem::exists(mesh_path))
    throw core::FileError("io::femtic::read_model#no_mesh",
                          "{}: expected mesh.dat beside it, which has the cells of its blocks, found none",
                          path);
  const Mesh mesh = MeshReader(mesh_path).read();
  const std::vector<double> resistivity = read_cells(path, mesh.cells.size());
  std::vector<double> z_m(mesh.planes[2].begin() + mesh.n_air, mesh.planes[2].end());
  z_m.front() = 0.0;
  physics::mesh::TensorGrid grid(
      physics::mesh::Edges{.x_m = mesh.planes[0], .y_m = mesh.planes[1], .z_m = std::move(z_m)});
  Eigen::VectorXd values =
      Eigen::VectorXd::Constant(grid.n_cells(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < mesh.cells.size(); ++i) {
    const auto [ix, iy, iz] = mesh.cells[i];
    if (iz < mesh.n_air) continue;
    if (!physics::mt::is_in_resistivity_range(resistivity[i]))
      throw core::FormatError(
          "io::femtic::read_model#resistivity_out_of_range",
          "{}: expected resistivities of {:g} to {:g} ohm m below the surface, got {:g} in cell {}", path,
          physics::mt::least_resistivity_ohm_m, physics::mt::largest_resistivity_ohm_m, resistivity[i], i);
    values[grid.index(iz - mesh.n_air, iy, ix)] = resistivity[i];
  }
  if (values.hasNaN())
    throw core::FormatError(
        "io::femtic::read_model#missing_cell",
        "{}: expected a cell in each place of the grid, got none in some and two in others", mesh_path);
  return physics::mesh::resistivity_model({std::move(grid), physics::mesh::Surface()}, std::move(values));
}

bool is_resistivity_block(std::string_view bytes) {
  constexpr std::size_t looked_at = 4;
  const auto is_whole = [](std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  };
  std::size_t line = 0;
  for (const auto text : text::split_lines(bytes)) {
    const auto words = text::words(text);
    if (words.size() != 2 || !is_whole(words[0]) || !is_whole(words[1])) return false;
    if (line > 0 && words[0] != std::to_string(line - 1)) return false;
    if (++line == looked_at) return true;
  }
  return false;
}

}  // namespace lodestone::io::femtic
