// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/gocad/sgrid.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

namespace lodestone::io::gocad {
namespace {

using physics::mesh::Scale;

constexpr const char* reader = "io::gocad::read_model";
constexpr int most_nodes = 100'000;
constexpr double same_m = 1e-3;  ///< nodes of one line differ by less in files with rounded numbers

/// The head of an SGrid.
struct Head {
  std::array<std::size_t, 3> n{};  ///< nodes along I, J and K
  std::string data_path{};
  std::size_t n_properties = 0, property = 0;  ///< the property that is read counts from 0
  Scale scale = Scale::linear;
  bool has_property = false, is_of_cells = false, z_is_depth = false;
  [[nodiscard]] std::size_t n_nodes() const { return n[0] * n[1] * n[2]; }
  [[nodiscard]] std::size_t at(std::size_t i, std::size_t j, std::size_t k) const {
    return (k * n[1] + j) * n[0] + i;
  }
};

std::string_view unquoted(std::string_view word) {
  if (word.size() > 1 && word.front() == '"' && word.back() == '"') return word.substr(1, word.size() - 2);
  return word;
}

void take_property(std::string_view quoted, Head& head) {
  const std::string name = text::lower(unquoted(quoted));
  if (!head.has_property && name.find("res") != std::string::npos) {
    head.has_property = true;
    head.property = head.n_properties;
    head.scale = name.find("log") != std::string::npos ? Scale::log10 : Scale::linear;
  }
  ++head.n_properties;
}

/// Takes a line of the head. errors: FormatError at the line.
void take_line(const text::LineReader& lines, const std::string& path, Head& head) {
  const auto words = text::words(lines.text());
  const std::string key = text::upper(words.front());
  if (key == "AXIS_N") {
    if (words.size() != 4) lines.refuse("wrong_axes", "expected AXIS_N and three numbers of nodes");
    for (std::size_t axis = 0; axis < 3; ++axis)
      head.n.at(axis) =
          static_cast<std::size_t>(lines.whole(words[axis + 1], "a number of nodes", 2, most_nodes));
  } else if (key == "PROP_ALIGNMENT") {
    head.is_of_cells = words.size() > 1 && text::equals_ignoring_case(words[1], "CELLS");
    if (!head.is_of_cells)
      lines.refuse(
          "other_alignment",
          "expected PROP_ALIGNMENT CELLS, as models have a number in each cell; export properties of "
          "cells");
  } else if (key == "ASCII_DATA_FILE" && words.size() > 1) {
    head.data_path = (std::filesystem::path(path).parent_path() / std::string(unquoted(words[1]))).string();
  } else if (key == "POINTS_FILE") {
    lines.refuse("binary",
                 "expected ASCII_DATA_FILE, as binary tables are not read; export the grid with ascii:on");
  } else if (key == "PROPERTY" && words.size() > 2) {
    take_property(words[2], head);
  } else if (key == "ZPOSITIVE" && words.size() > 1) {
    head.z_is_depth = text::equals_ignoring_case(words[1], "DEPTH");
  }
}

Head read_head(const std::string& path) {
  const std::string bytes = text::read_text(path);
  text::LineReader lines(bytes, path, reader, "#");
  Head head;
  while (lines.next() && !text::equals_ignoring_case(lines.text(), "END")) take_line(lines, path, head);
  const char* missing = head.n_nodes() == 0      ? "AXIS_N"
                        : !head.is_of_cells      ? "PROP_ALIGNMENT CELLS"
                        : head.data_path.empty() ? "ASCII_DATA_FILE"
                        : !head.has_property     ? "a PROPERTY whose name has \"res\" in it"
                                                 : nullptr;
  if (missing != nullptr)
    lines.refuse("no_entry", fmt::format("expected {}, found none to the end of the head", missing));
  return head;
}

/// The nodes of a grid and the values of its cells, both by node.
struct Nodes {
  std::vector<double> x, y, z_down, values;
};

Nodes read_nodes(const Head& head) {
  const std::string bytes = text::read_text(head.data_path);
  text::LineReader lines(bytes, head.data_path, reader, "*#");
  const std::size_t n_words = 3 + head.n_properties + 3;
  if (head.n_nodes() > bytes.size())
    lines.refuse("cut_off", fmt::format("expected {} nodes, but the file has only {} bytes; is it cut off?",
                                        head.n_nodes(), bytes.size()));
  Nodes nodes;
  const std::vector<double> missing(head.n_nodes(), std::numeric_limits<double>::quiet_NaN());
  nodes.x = nodes.y = nodes.z_down = nodes.values = missing;
  std::size_t n_seen = 0;
  while (lines.next()) {
    const auto words = text::words(lines.text());
    if (words.size() < n_words)
      lines.refuse("short_row", fmt::format("expected X Y Z, {} properties and I J K, got {} words",
                                            head.n_properties, words.size()));
    std::array<std::size_t, 3> at{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      at.at(axis) = static_cast<std::size_t>(lines.whole(words[3 + head.n_properties + axis], "a node", 0,
                                                         static_cast<int>(head.n.at(axis)) - 1));
    const std::size_t node = head.at(at[0], at[1], at[2]);
    if (std::isnan(nodes.x[node])) ++n_seen;
    constexpr double most_m = physics::mt::largest_coordinate_m;
    nodes.x[node] = lines.within(words[0], "X", most_m);
    nodes.y[node] = lines.within(words[1], "Y", most_m);
    nodes.z_down[node] = (head.z_is_depth ? 1.0 : -1.0) * lines.within(words[2], "Z", most_m) + 0.0;
    nodes.values[node] = lines.finite(words[3 + head.property], "a value of the property");
  }
  if (n_seen != head.n_nodes())
    lines.refuse("missing_nodes", fmt::format("expected each of {} nodes, found {}", head.n_nodes(), n_seen));
  return nodes;
}

/// Turns the table of nodes into a volume.
class Volume {
 public:
  Volume(const Head& head, Nodes nodes) : head_(head), nodes_(std::move(nodes)) {}
  [[nodiscard]] physics::mesh::Model model();

 private:
  [[noreturn]] void refuse(std::string_view id, const std::string& text) const {
    throw core::FormatError(fmt::format("{}#{}", reader, id), "{}: {}", head_.data_path, text);
  }
  void orient();
  /// Exchanges nodes: `from` gives the old index along each axis.
  template <class From>
  void reorder(const std::array<std::size_t, 3>& n, const From& from);
  [[nodiscard]] std::vector<double> line(const std::vector<double>& of, std::size_t axis) const;
  void require_lines(const std::vector<double>& of, std::size_t axis, const char* name) const;
  [[nodiscard]] physics::mesh::Surface surface(const std::vector<double>& x_m,
                                               const std::vector<double>& y_m) const;
  [[nodiscard]] std::vector<double> depths() const;

  Head head_;
  Nodes nodes_;
};

template <class From>
void Volume::reorder(const std::array<std::size_t, 3>& n, const From& from) {
  Head head = head_;
  head.n = n;
  for (std::vector<double>* list : {&nodes_.x, &nodes_.y, &nodes_.z_down, &nodes_.values}) {
    std::vector<double> out(list->size());
    for (std::size_t k = 0; k < n[2]; ++k)
      for (std::size_t j = 0; j < n[1]; ++j)
        for (std::size_t i = 0; i < n[0]; ++i) {
          // Values stand at the least corner of their cell, which another one becomes when an axis is turned.
          const auto at = from(i, j, k, list == &nodes_.values);
          out[head.at(i, j, k)] = (*list)[head_.at(at[0], at[1], at[2])];
        }
    *list = std::move(out);
  }
  head_ = head;
}

std::vector<double> Volume::line(const std::vector<double>& of, std::size_t axis) const {
  std::vector<double> values;
  for (std::size_t m = 0; m < head_.n.at(axis); ++m)
    values.push_back(of[head_.at(axis == 0 ? m : 0, axis == 1 ? m : 0, axis == 2 ? m : 0)]);
  return values;
}

/// Makes I count along X, J along Y and K downwards.
void Volume::orient() {
  using At = std::array<std::size_t, 3>;
  const auto x_by_i = line(nodes_.x, 0), x_by_j = line(nodes_.x, 1);
  if (std::abs(x_by_i.back() - x_by_i.front()) < std::abs(x_by_j.back() - x_by_j.front()))
    reorder({head_.n[1], head_.n[0], head_.n[2]}, [](std::size_t i, std::size_t j, std::size_t k, bool) {
      return At{j, i, k};
    });
  const std::vector<double>* coordinates[] = {&nodes_.x, &nodes_.y, &nodes_.z_down};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto values = line(*coordinates[axis], axis);
    if (values.back() >= values.front()) continue;
    const std::size_t last = head_.n.at(axis) - 1;
    reorder(head_.n, [&](std::size_t i, std::size_t j, std::size_t k, bool is_value) {
      At at{i, j, k};
      const std::size_t turned = last - at.at(axis);
      at.at(axis) = is_value && turned > 0 ? turned - 1 : turned;
      return at;
    });
  }
}

void Volume::require_lines(const std::vector<double>& of, std::size_t axis, const char* name) const {
  const auto values = line(of, axis);
  for (std::size_t k = 0; k < head_.n[2]; ++k)
    for (std::size_t j = 0; j < head_.n[1]; ++j)
      for (std::size_t i = 0; i < head_.n[0]; ++i) {
        const double got = of[head_.at(i, j, k)], expected = values[axis == 0 ? i : j];
        if (std::abs(got - expected) > same_m)
          refuse("not_a_grid",
                 fmt::format("expected {} to depend on one of I and J alone, as in grids along X and Y, got "
                             "{} in place of {} at node {} {} {}",
                             name, got, expected, i, j, k));
      }
}

std::vector<double> Volume::depths() const {
  const auto z = line(nodes_.z_down, 2);
  for (std::size_t j = 0; j < head_.n[1]; ++j)
    for (std::size_t i = 0; i < head_.n[0]; ++i)
      for (std::size_t k = 0; k < head_.n[2]; ++k) {
        const double shift = nodes_.z_down[head_.at(i, j, 0)] - z.front();
        if (std::abs(nodes_.z_down[head_.at(i, j, k)] - z[k] - shift) > same_m)
          refuse("not_draped", fmt::format("expected columns of nodes that differ by a shift, got another "
                                           "thickness at node {} {} {}",
                                           i, j, k));
      }
  std::vector<double> depths;
  const double top = z.front();
  for (const double each : z)
    depths.push_back(physics::mt::preimage(each, each - top, [top](double depth) { return top + depth; }));
  return depths;
}

physics::mesh::Surface Volume::surface(const std::vector<double>& x_m, const std::vector<double>& y_m) const {
  Eigen::MatrixXd z_m(std::ssize(x_m), std::ssize(y_m));
  for (Eigen::Index j = 0; j < z_m.rows(); ++j)
    for (Eigen::Index i = 0; i < z_m.cols(); ++i)
      z_m(j, i) = nodes_.z_down[head_.at(static_cast<std::size_t>(i), static_cast<std::size_t>(j), 0)];
  if (z_m.minCoeff() == z_m.maxCoeff()) return physics::mesh::Surface(z_m(0, 0));
  return {x_m, y_m, std::move(z_m)};
}

physics::mesh::Model Volume::model() {
  orient();
  require_lines(nodes_.x, 0, "X");
  require_lines(nodes_.y, 1, "Y");
  std::vector<double> x_m = line(nodes_.y, 1), y_m = line(nodes_.x, 0), z_m = depths();
  for (const auto* edges : {&x_m, &y_m, &z_m}) {
    if (!std::ranges::is_sorted(*edges, std::less_equal<>()))
      refuse("not_increasing", "expected nodes at different places along each axis");
  }
  physics::mesh::Surface top = surface(x_m, y_m);
  physics::mesh::TensorGrid grid(
      physics::mesh::Edges{.x_m = std::move(x_m), .y_m = std::move(y_m), .z_m = std::move(z_m)});
  Eigen::VectorXd values(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz)
    for (int iy = 0; iy < grid.n_y(); ++iy)
      for (int ix = 0; ix < grid.n_x(); ++ix) {
        const double value = nodes_.values[head_.at(
            static_cast<std::size_t>(iy), static_cast<std::size_t>(ix), static_cast<std::size_t>(iz))];
        const double ohm_m = head_.scale == Scale::log10 ? std::pow(10.0, value) : value;
        if (!physics::mt::is_in_resistivity_range(ohm_m))
          refuse(
              "resistivity_out_of_range",
              fmt::format("expected resistivities of {:g} to {:g} ohm m, got the value {} of cell {} {} {}",
                          physics::mt::least_resistivity_ohm_m, physics::mt::largest_resistivity_ohm_m, value,
                          iy, ix, iz));
        values[grid.index(iz, iy, ix)] = value;
      }
  return {{std::move(grid), std::move(top)}, {.scale = head_.scale}, std::move(values)};
}

}  // namespace

physics::mesh::Model read_model(const std::string& path) {
  const Head head = read_head(path);
  return Volume(head, read_nodes(head)).model();
}

bool is_sgrid(std::string_view bytes) {
  const auto lines = text::split_lines(bytes.substr(0, 200));
  return !lines.empty() && text::upper(text::trimmed(lines.front())).starts_with("GOCAD SGRID");
}

}  // namespace lodestone::io::gocad
