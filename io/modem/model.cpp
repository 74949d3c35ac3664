// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/modem/words.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>

namespace lodestone::io::modem {
namespace {

using physics::mesh::Model;

/// The words of a file one after the other, each with its line.
class Words {
 public:
  Words(const std::string& bytes, const std::string& path) : lines_(text::split_lines(bytes)), path_(path) {}

  /// Returns the words of the first line that is neither empty nor a comment.
  std::vector<std::string_view> first_line() {
    while (line_ < lines_.size()) {
      const auto text = text::trimmed(lines_[line_++]);
      if (!text.empty() && text.front() != '#') return text::words(text);
    }
    throw core::FormatError("io::modem::read_model#empty_file",
                            "{}:1: expected a line `Ny Nz [LOGE|LOG10]`, got an empty file", path_);
  }

  double next_number(std::string_view what) {
    while (word_ == row_.size()) {
      if (line_ == lines_.size()) {
        throw core::FormatError("io::modem::read_model#cut_off",
                                "{}:{}: expected {}, got the end of the file; is it cut off?", path_,
                                lines_.size(), what);
      }
      row_ = text::words(lines_[line_++]);
      word_ = 0;
    }
    const auto value = text::number(row_[word_]);
    if (!value || !std::isfinite(*value)) {
      throw core::FormatError("io::modem::read_model#not_a_number", "{}:{}: expected {}, got \"{}\"", path_,
                              line_, what, text::printable(row_[word_]));
    }
    ++word_;
    return *value;
  }

  void require_end() {
    while (word_ == row_.size() && line_ < lines_.size()) {
      row_ = text::words(lines_[line_++]);
      word_ = 0;
    }
    if (word_ < row_.size()) {
      throw core::FormatError(
          "io::modem::read_model#too_many_values",
          "{}:{}: expected the end of the file after the last resistivity, got \"{}\"; are Ny and Nz right?",
          path_, line_, text::printable(row_[word_]));
    }
  }

  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  std::vector<std::string_view> lines_, row_;
  const std::string& path_;
  std::size_t line_ = 0, word_ = 0;
};

std::vector<double> edges_from_widths(Words& file, int n, const char* what, const std::string& path) {
  std::vector<double> edges{0.0};
  for (int i = 0; i < n; ++i) {
    const double width = file.next_number(what);
    if (!(width > 0.0))
      throw core::FormatError("io::modem::read_model#width_not_positive",
                              "{}:{}: expected {} above 0, got {}", path, file.line(), what, width);
    edges.push_back(edges.back() + width);
    if (!(edges.back() > edges[edges.size() - 2]) || edges.back() > physics::mt::largest_coordinate_m)
      throw core::FormatError("io::modem::read_model#width_out_of_range",
                              "{}:{}: expected {} with which edges increase up to {:g} m, got {}", path,
                              file.line(), what, physics::mt::largest_coordinate_m, width);
  }
  return edges;
}

ModemScale scale_of(const std::vector<std::string_view>& head, const std::string& path, std::size_t line) {
  if (head.size() < 3 || text::equals_ignoring_case(head[2], "LINEAR")) return ModemScale::linear;
  if (text::equals_ignoring_case(head[2], "LOGE")) return ModemScale::loge;
  if (text::equals_ignoring_case(head[2], "LOG10")) return ModemScale::log10;
  throw core::FormatError("io::modem::read_model#unknown_scale",
                          "{}:{}: expected LOGE, LOG10 or LINEAR after the counts, got \"{}\"", path, line,
                          text::printable(head[2]));
}

double resistivity_from(double value, ModemScale scale) {
  switch (scale) {
    case ModemScale::loge:
      return std::exp(value);
    case ModemScale::log10:
      return std::pow(10.0, value);
    default:
      return value;
  }
}

double value_of(double resistivity, ModemScale scale) {
  switch (scale) {
    case ModemScale::loge:
      return std::log(resistivity);
    case ModemScale::log10:
      return std::log10(resistivity);
    default:
      return resistivity;
  }
}

/// Counts that the bytes of the file can hold: each number takes two.
void check_head(const std::optional<ModemModelHead>& head, const std::vector<std::string_view>& line,
                const std::string& path, std::size_t n_bytes) {
  if (head && head->dimensions == 3) {
    throw core::FormatError("io::modem::read_model#model_3d",
                            "{}:1: expected a 2-D model `Ny Nz [LOGE]`, got a 3-D model of {} x {} x {} "
                            "cells; give a 2-D section",
                            path, head->n_x, head->n_y, head->n_z);
  }
  if (!head) {
    throw core::FormatError("io::modem::read_model#no_counts",
                            "{}:1: expected a line `Ny Nz [LOGE|LOG10]`, got \"{}\"", path,
                            line.empty() ? "" : text::printable(line.front()));
  }
  if (2.0 * head->n_y * head->n_z > static_cast<double>(n_bytes)) {
    throw core::FormatError(
        "io::modem::read_model#counts_too_large",
        "{}:1: expected {} x {} resistivities, but the file has only {} bytes; is it cut off?", path,
        head->n_y, head->n_z, n_bytes);
  }
}

template <class Values>
void append_rows(std::string& text, const Values& values, std::size_t per_line) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{}", values[i],
                   (i + 1) % per_line == 0 || i + 1 == values.size() ? '\n' : ' ');
  }
}

std::vector<double> widths_of(const std::vector<double>& edges) {
  std::vector<double> widths;
  for (std::size_t i = 1; i < edges.size(); ++i) widths.push_back(edges[i] - edges[i - 1]);
  return widths;
}

}  // namespace

Model read_model(const std::string& path) {
  const std::string bytes = text::read_text(path);
  Words file(bytes, path);
  const auto first = file.first_line();
  const auto head = modem_model_head(bytes);
  check_head(head, first, path, bytes.size());
  const ModemScale scale = scale_of(first, path, file.line());
  auto y = edges_from_widths(file, head->n_y, "a column width in m", path);
  auto z = edges_from_widths(file, head->n_z, "a row height in m", path);
  (void)file.next_number("the marker 0 or 1 before the resistivities");
  Eigen::VectorXd resistivity(static_cast<Eigen::Index>(head->n_y) * head->n_z);
  for (double& value : resistivity) {
    value = resistivity_from(file.next_number("a resistivity"), scale);
    if (!physics::mt::is_in_resistivity_range(value)) {
      throw core::FormatError("io::modem::read_model#resistivity_out_of_range",
                              "{}:{}: expected a resistivity of {:g} to {:g} ohm m, got {}; is the word LOGE "
                              "or LOG10 missing in line 1?",
                              path, file.line(), physics::mt::least_resistivity_ohm_m,
                              physics::mt::largest_resistivity_ohm_m, value);
    }
  }
  file.require_end();
  return physics::mesh::resistivity_model({physics::mesh::TensorGrid::section(std::move(y), std::move(z))},
                                          std::move(resistivity));
}

void write_model(const std::string& path, const Model& model, ModemScale scale) {
  physics::mesh::require_section(model.earth, "io::write_model");
  if (!model.earth.surface.is_flat()) {
    throw core::InvalidArgument(
        "io::modem::write_model#has_topography",
        "{}: expected a section with a level surface, as the format has no topography; write HDF5 instead",
        path);
  }
  constexpr std::size_t per_line = 10;
  constexpr std::array<std::string_view, 3> scale_words{"LINEAR", "LOGE", "LOG10"};
  const physics::mesh::TensorGrid& grid = model.earth.grid;
  const Eigen::VectorXd resistivity = resistivity_ohm_m(model);
  std::string text =
      fmt::format("{} {} {}\n", grid.n_y(), grid.n_z(), scale_words.at(static_cast<std::size_t>(scale)));
  append_rows(text, widths_of(grid.y_edges_m()), per_line);
  append_rows(text, widths_of(grid.z_edges_m()), per_line);
  text += "0\n";
  std::vector<double> row(static_cast<std::size_t>(grid.n_y()));
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      row[static_cast<std::size_t>(iy)] = value_of(resistivity[grid.index(iz, iy)], scale);
    }
    append_rows(text, row, row.size());
  }
  text::write_bytes_atomically(path, text);
}

}  // namespace lodestone::io::modem
