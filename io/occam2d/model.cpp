// SPDX-License-Identifier: Apache-2.0
#include "io/occam2d/model.hpp"

#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>
#include <vector>

namespace lodestone::io::occam2d {
namespace {

constexpr const char* reader = "io::occam2d::read_model";
constexpr int most_cells = 100'000'000;

/// Returns the value of a line "Key: value"; empty for another key.
std::string_view value_of(std::string_view line, std::string_view key) {
  const auto colon = line.find(':');
  const bool is_it = colon != std::string_view::npos &&
                     text::equals_ignoring_case(text::trimmed(line.substr(0, colon)), key);
  return is_it ? text::trimmed(line.substr(colon + 1)) : std::string_view{};
}

/// Reads one of the three files.
class File {
 public:
  explicit File(std::string path, std::string comment_marks = "!")
      : path_(std::move(path)), bytes_(text::read_text(path_)), lines(bytes_, path_, reader, comment_marks) {}

  /// Goes to the entry of this key and returns its value. errors: FormatError at the end of the file.
  std::string_view entry(std::string_view key) {
    while (lines.next()) {
      if (const auto value = value_of(lines.text(), key); !value.empty()) return value;
    }
    lines.refuse("no_entry", fmt::format("expected \"{}: …\", found none to the end of the file", key));
  }

  void require_format(std::string_view format) {
    lines.require_next(fmt::format("\"Format: {}\"", format));
    if (!text::upper(value_of(lines.text(), "format")).starts_with(format))
      lines.refuse("other_format",
                   fmt::format("expected \"Format: {}\", got \"{}\"", format, text::printable(lines.text())));
  }

  /// Reads so many numbers in lines of any length, each of which `is_good`.
  std::vector<double> numbers(std::size_t n, const std::string& what,
                              const std::function<bool(double)>& is_good) {
    std::vector<double> list;
    while (list.size() < n) {
      lines.require_next(fmt::format("{}, number {} of {}", what, list.size() + 1, n));
      for (const auto word : text::words(lines.text())) {
        list.push_back(lines.finite(word, what));
        if (!is_good(list.back()))
          lines.refuse("out_of_range", fmt::format("expected {}, got {}", what, list.back()));
      }
    }
    if (list.size() > n)
      lines.refuse("too_many", fmt::format("expected {} numbers in the list, got {}", n, list.size()));
    return list;
  }

  [[nodiscard]] std::string beside(std::string_view name) const {
    return (std::filesystem::path(path_).parent_path() / std::string(name)).string();
  }

 private:
  std::string path_, bytes_;

 public:
  text::LineReader lines;
};

/// A layer of blocks: the rows of the mesh in it, and the columns of the mesh in each block.
struct Layer {
  int n_rows;
  std::vector<int> n_columns;
};

/// The blocks of the model file.
struct Blocks {
  std::string mesh_path;
  double binding_offset_m = 0.0;
  std::vector<Layer> layers;
  std::size_t n_columns = 0, n_rows = 0, n_blocks = 0;
};

Layer read_layer(File& file) {
  file.lines.require_next("the numbers of rows and blocks of a layer");
  const auto head = text::words(file.lines.text());
  if (head.size() != 2)
    file.lines.refuse(
        "wrong_layer",
        fmt::format("expected the numbers of rows and blocks of a layer, got {} words", head.size()));
  Layer layer{file.lines.whole(head[0], "a number of rows", 1, most_cells), {}};
  const int n_blocks = file.lines.whole(head[1], "a number of blocks", 1, most_cells);
  const auto is_count = [](double n) { return n >= 1.0 && n <= most_cells && n == std::floor(n); };
  for (const double n :
       file.numbers(static_cast<std::size_t>(n_blocks), "a whole number of columns", is_count))
    layer.n_columns.push_back(static_cast<int>(n));
  return layer;
}

Blocks read_blocks(const std::string& path) {
  File file(path);
  file.require_format("OCCAM2MTMOD_1.0");
  Blocks blocks;
  blocks.mesh_path = file.beside(file.entry("mesh file"));
  blocks.binding_offset_m =
      file.lines.within(file.entry("binding offset"), "an offset in m", physics::mt::largest_coordinate_m);
  const int n_layers = file.lines.whole(file.entry("num layers"), "a number of layers", 1, most_cells);
  for (int i = 0; i < n_layers; ++i) {
    const Layer layer = read_layer(file);
    const auto n_columns = static_cast<std::size_t>(
        std::accumulate(layer.n_columns.begin(), layer.n_columns.end(), std::int64_t{0}));
    if (i > 0 && n_columns != blocks.n_columns)
      file.lines.refuse("other_columns",
                        fmt::format("expected the {} columns of the first layer, got {} in layer {}",
                                    blocks.n_columns, n_columns, i + 1));
    blocks.n_columns = n_columns;
    blocks.n_rows += static_cast<std::size_t>(layer.n_rows);
    blocks.n_blocks += layer.n_columns.size();
    blocks.layers.push_back(layer);
  }
  return blocks;
}

std::vector<double> edges_from(double from_m, const std::vector<double>& widths_m) {
  std::vector<double> edges{from_m};
  for (const double width : widths_m) edges.push_back(edges.back() + width);
  return edges;
}

/// Checks that every triangle of the mesh is free: four lines of a letter per column for each row.
void require_free(File& mesh, const Blocks& blocks) {
  for (std::size_t row = 0; row < 4 * blocks.n_rows; ++row) {
    mesh.lines.require_next(fmt::format("row {} of {} of the elements", row / 4 + 1, blocks.n_rows));
    const std::string_view letters = mesh.lines.text();
    if (letters.size() != blocks.n_columns)
      mesh.lines.refuse("wrong_row", fmt::format("expected {} letters, one per column, got {}",
                                                 blocks.n_columns, letters.size()));
    if (const auto at = letters.find_first_not_of('?'); at != std::string_view::npos)
      mesh.lines.refuse(
          "fixed_element",
          fmt::format("expected free elements (?), got \"{}\" in column {}; meshes with air, sea or "
                      "fixed elements are not read",
                      text::printable(letters.substr(at, 1)), at + 1));
  }
}

physics::mesh::TensorGrid read_grid(const Blocks& blocks) {
  File mesh(blocks.mesh_path, "");
  mesh.lines.require_next("a title");
  mesh.lines.require_next("the counts of the mesh");
  const auto is_width = [](double m) { return m > 0.0 && m <= physics::mt::largest_coordinate_m; };
  const auto widths = mesh.numbers(blocks.n_columns, "a column width in m", is_width),
             heights = mesh.numbers(blocks.n_rows, "a row height in m", is_width);
  mesh.lines.require_next("the number of fixed resistivities");
  if (mesh.lines.whole(mesh.lines.text(), "the number of fixed resistivities", 0, most_cells) != 0)
    mesh.lines.refuse("fixed_resistivities", "expected 0 fixed resistivities, as others are not read");
  require_free(mesh, blocks);
  const auto n_left = static_cast<std::ptrdiff_t>(blocks.layers.front().n_columns.front());
  const double left_m = std::accumulate(widths.begin(), widths.begin() + n_left, 0.0);
  auto y_m = edges_from(blocks.binding_offset_m - left_m, widths), z_m = edges_from(0.0, heights);
  for (const auto* edges : {&y_m, &z_m}) {
    const bool grows = std::ranges::adjacent_find(*edges, std::greater_equal<>()) == edges->end();
    if (!grows || !physics::mt::is_in_coordinate_range(edges->back()))
      mesh.lines.refuse("width_out_of_range", fmt::format("expected edges that grow up to {:g} m",
                                                          physics::mt::largest_coordinate_m));
  }
  return physics::mesh::TensorGrid::section(std::move(y_m), std::move(z_m));
}

}  // namespace

physics::mesh::Model read_model(const std::string& path) {
  File file(path);
  file.require_format("OCCAMITER_FLEX");
  const std::string model_path = file.beside(file.entry("model file"));
  const int n = file.lines.whole(file.entry("param count"), "a number of parameters", 1, most_cells);
  const Blocks blocks = read_blocks(model_path);
  if (static_cast<std::size_t>(n) != blocks.n_blocks)
    file.lines.refuse("wrong_count", fmt::format("expected {} parameters, one per block of {}, got {}",
                                                 blocks.n_blocks, model_path, n));
  const auto values =
      file.numbers(blocks.n_blocks, "log10 of a resistivity from 1e-6 to 1e12 ohm m",
                   [](double v) { return physics::mt::is_in_resistivity_range(std::pow(10.0, v)); });
  physics::mesh::TensorGrid grid = read_grid(blocks);
  Eigen::VectorXd resistivity(grid.n_cells());
  std::size_t first = 0;
  Eigen::Index cell = 0;
  for (const Layer& layer : blocks.layers) {
    for (int row = 0; row < layer.n_rows; ++row) {
      for (std::size_t block = 0; block < layer.n_columns.size(); ++block)
        for (int column = 0; column < layer.n_columns[block]; ++column)
          resistivity[cell++] = std::pow(10.0, values[first + block]);
    }
    first += layer.n_columns.size();
  }
  return physics::mesh::resistivity_model({std::move(grid)}, std::move(resistivity));
}

bool is_iteration(std::string_view bytes) {
  for (const auto line : text::split_lines(bytes)) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '!') continue;
    return text::upper(value_of(text, "format")).starts_with("OCCAMITER");
  }
  return false;
}

}  // namespace lodestone::io::occam2d
