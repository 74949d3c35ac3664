// SPDX-License-Identifier: Apache-2.0
#include "models/earths/sections.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::models::earths {
namespace {

constexpr const char* component = "models::Sections";

void check_edges(const std::vector<double>& edges, const std::string& name, const char* what) {
  const bool increases = std::ranges::adjacent_find(edges, std::greater_equal<>()) == edges.end();
  if (edges.size() < 2 || !increases ||
      !std::ranges::all_of(edges, [](double edge) { return std::isfinite(edge); })) {
    throw core::InvalidArgument("models::Sections#wrong_edges",
                                "section '{}': expected at least two finite {} that increase", name, what);
  }
}

void check_section(const Section& section) {
  check_edges(section.depth_m, section.name, "depths");
  check_edges(section.y_m, section.name, "edges of columns");
  const Eigen::MatrixXd& values = section.log10_resistivity;
  if (values.rows() != std::ssize(section.depth_m) - 1 || values.cols() != std::ssize(section.y_m) - 1) {
    throw core::ShapeError("models::Sections#wrong_size",
                           "section '{}': expected ({}, {}) values for its edges, got ({}, {})", section.name,
                           section.depth_m.size() - 1, section.y_m.size() - 1, values.rows(), values.cols());
  }
  for (Eigen::Index iz = 0; iz < values.rows(); ++iz) {
    for (Eigen::Index iy = 0; iy < values.cols(); ++iy) {
      if (!std::isfinite(values(iz, iy))) {
        throw core::InvalidArgument("models::Sections#not_finite",
                                    "section '{}': expected finite log10 resistivities, row {}, column {} "
                                    "has {}; cut it to the earth",
                                    section.name, iz + 1, iy + 1, values(iz, iy));
      }
    }
  }
}

/// Returns the share of each cell of a line that lies in each cell of another; what lies beyond its ends
/// counts to its outermost. shapes: → (n_to, n_from).
Eigen::MatrixXd overlap(const std::vector<double>& to, const std::vector<double>& from, double shift_m) {
  const Eigen::Index n_to = std::ssize(to) - 1, n_from = std::ssize(from) - 1;
  Eigen::MatrixXd shares = Eigen::MatrixXd::Zero(n_to, n_from);
  for (Eigen::Index i = 0; i < n_to; ++i) {
    const double begin = to[static_cast<std::size_t>(i)] + shift_m,
                 end = to[static_cast<std::size_t>(i) + 1] + shift_m;
    for (Eigen::Index j = 0; j < n_from; ++j) {
      const double low = j == 0 ? begin : std::max(begin, from[static_cast<std::size_t>(j)]);
      const double high = j + 1 == n_from ? end : std::min(end, from[static_cast<std::size_t>(j) + 1]);
      shares(i, j) = std::max(high - low, 0.0) / (end - begin);
    }
  }
  return shares;
}

double room_m(const Section& section, const TensorGrid& grid) {
  return section.y_m.back() - section.y_m.front() - grid.extent().y_m.length();
}

}  // namespace

Section section_of(const physics::mesh::Model& model, std::string name) {
  physics::mesh::require_section(model.earth, component);
  const physics::mesh::TensorGrid& grid = model.earth.grid;
  const Eigen::VectorXd log10_rho = log10_resistivity(model);
  double surface_m = 0.0;
  if (grid.reference() == physics::mesh::DepthReference::datum) {
    const double highest = model.earth.surface.highest_m(), lowest = model.earth.surface.lowest_m();
    if (lowest - highest > 1.0)
      throw core::InvalidArgument("models::Sections#has_relief",
                                  "section '{}': expected a level surface, or depths that count from it, got "
                                  "relief of {:g} m; cut from an inversion's result.h5",
                                  name, lowest - highest);
    surface_m = highest;
  }
  const int top = grid.row_of(surface_m);
  Section section{
      .name = std::move(name), .depth_m = {0.0}, .y_m = grid.y_edges_m(), .log10_resistivity = {}};
  for (int iz = top; iz < grid.n_z(); ++iz)
    section.depth_m.push_back(grid.z_edges_m()[static_cast<std::size_t>(iz) + 1] - surface_m);
  section.log10_resistivity.resize(grid.n_z() - top, grid.n_y());
  for (int iz = top; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy)
      section.log10_resistivity(iz - top, iy) = log10_rho[grid.index(iz, iy)];
  }
  return section;
}

Section columns_within(const Section& section, const Range& y_m) {
  Section part{.name = section.name, .depth_m = section.depth_m, .y_m = {}, .log10_resistivity = {}};
  std::vector<Eigen::Index> columns;
  for (std::size_t i = 0; i + 1 < section.y_m.size(); ++i) {
    const double centre_m = 0.5 * (section.y_m[i] + section.y_m[i + 1]);
    if (centre_m < y_m.lower || centre_m > y_m.upper) continue;
    if (columns.empty()) part.y_m.push_back(section.y_m[i]);
    part.y_m.push_back(section.y_m[i + 1]);
    columns.push_back(static_cast<Eigen::Index>(i));
  }
  if (columns.empty())
    throw core::InvalidArgument("models::Sections#no_column",
                                "section '{}': expected the centre of at least one column between {:g} and "
                                "{:g} m, found none; its columns "
                                "lie between {:g} and {:g} m",
                                section.name, y_m.lower, y_m.upper, section.y_m.front(), section.y_m.back());
  part.log10_resistivity = section.log10_resistivity(Eigen::all, columns);
  return part;
}

Sections::Sections(SectionsOptions options) : options_(std::move(options)) {
  if (options_.sections.empty())
    throw core::InvalidArgument("models::Sections#no_section", "expected at least one section, found none");
  std::ranges::for_each(options_.sections, check_section);
}

Eigen::MatrixXd piece_of(const Section& section, const TensorGrid& grid, double y_m) {
  return overlap(grid.z_edges_m(), section.depth_m, 0.0) * section.log10_resistivity *
         overlap(grid.y_edges_m(), section.y_m, y_m).transpose();
}

Eigen::MatrixXd Sections::draw(const core::Philox& random, const TensorGrid& grid) const {
  Draws draws(random);
  std::vector<double> room;
  for (const Section& section : options_.sections) room.push_back(room_m(section, grid));
  const bool all_fit_exactly = std::ranges::none_of(room, [](double each) { return each > 0.0; });
  const Section& section =
      options_.sections[draws.one_of(all_fit_exactly ? std::vector<double>(room.size(), 1.0) : room)];
  const double left = section.y_m.front() + draws.uniform({0.0, std::max(room_m(section, grid), 0.0)});
  const Eigen::MatrixXd piece = piece_of(section, grid, left);
  if (!options_.mirrored || draws.chance(0.5)) return piece;
  // The mirrored grid has its columns in the other order; only equal widths make that the same as reversing
  // the piece.
  std::vector<double> turned = grid.y_edges_m();
  std::ranges::reverse(turned);
  for (double& edge : turned) edge = grid.extent().y_m.length() - edge;
  return piece_of(section, patch_grid(grid.z_edges_m(), std::move(turned)), left).rowwise().reverse();
}

void Sections::check_grid(const TensorGrid& grid) const {
  refuse_volume(grid);
  for (const Section& section : options_.sections) {
    if (room_m(section, grid) < -1e-9 * grid.extent().y_m.length()) {
      throw core::InvalidArgument(
          "models::Sections#too_narrow",
          "section '{}': expected {:g} m or more along the profile, the width of the grid, got {:g} m",
          section.name, grid.extent().y_m.length(), section.y_m.back() - section.y_m.front());
    }
  }
}

}  // namespace lodestone::models::earths
