// SPDX-License-Identifier: Apache-2.0
#include "models/vae/prior/sections.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::models {
namespace {

constexpr const char* component = "models::Sections";

void check_edges(const std::vector<double>& edges, const std::string& name, const char* what) {
  const bool increases = std::ranges::adjacent_find(edges, std::greater_equal<>()) == edges.end();
  if (edges.size() < 2 || !increases || !std::ranges::all_of(edges, [](double edge) { return std::isfinite(edge); })) {
    throw core::InvalidArgument(component, "section '{}': expected at least two finite {} that increase", name, what);
  }
}

void check_section(const Section& section) {
  check_edges(section.depth_m, section.name, "depths");
  check_edges(section.y_m, section.name, "edges of columns");
  const Eigen::MatrixXd& values = section.log10_resistivity;
  if (values.rows() != std::ssize(section.depth_m) - 1 || values.cols() != std::ssize(section.y_m) - 1) {
    throw core::ShapeError(component, "section '{}': expected ({}, {}) values for its edges, got ({}, {})", section.name,
                           section.depth_m.size() - 1, section.y_m.size() - 1, values.rows(), values.cols());
  }
  for (Eigen::Index iz = 0; iz < values.rows(); ++iz) {
    for (Eigen::Index iy = 0; iy < values.cols(); ++iy) {
      if (!std::isfinite(values(iz, iy))) {
        throw core::InvalidArgument(component,
                                    "section '{}': expected finite log10 resistivities, row {}, column {} has {}; cut it to the earth",
                                    section.name, iz + 1, iy + 1, values(iz, iy));
      }
    }
  }
}

/// Share of each cell of a line that lies in each cell of another; what lies beyond its ends counts to its outermost. shapes: → (n_to, n_from).
Eigen::MatrixXd overlap(const std::vector<double>& to, const std::vector<double>& from, double shift_m) {
  const Eigen::Index n_to = std::ssize(to) - 1, n_from = std::ssize(from) - 1;
  Eigen::MatrixXd shares = Eigen::MatrixXd::Zero(n_to, n_from);
  for (Eigen::Index i = 0; i < n_to; ++i) {
    const double begin = to[static_cast<std::size_t>(i)] + shift_m, end = to[static_cast<std::size_t>(i) + 1] + shift_m;
    for (Eigen::Index j = 0; j < n_from; ++j) {
      const double low = j == 0 ? begin : std::max(begin, from[static_cast<std::size_t>(j)]);
      const double high = j + 1 == n_from ? end : std::min(end, from[static_cast<std::size_t>(j) + 1]);
      shares(i, j) = std::max(high - low, 0.0) / (end - begin);
    }
  }
  return shares;
}

double room_m(const Section& section, const PatchGrid& grid) { return section.y_m.back() - section.y_m.front() - grid.width_m(); }

}  // namespace

Sections::Sections(SectionsOptions options) : options_(std::move(options)) {
  if (options_.sections.empty()) throw core::InvalidArgument(component, "expected at least one section, got none");
  std::ranges::for_each(options_.sections, check_section);
}

Eigen::MatrixXd piece_of(const Section& section, const PatchGrid& grid, double y_m) {
  return overlap(grid.depth_m, section.depth_m, 0.0) * section.log10_resistivity * overlap(grid.y_m, section.y_m, y_m).transpose();
}

Eigen::MatrixXd Sections::draw(const core::Philox& random, const PatchGrid& grid) const {
  Draws draws(random);
  std::vector<double> room;
  for (const Section& section : options_.sections) room.push_back(room_m(section, grid));
  const bool all_fit_exactly = std::ranges::none_of(room, [](double each) { return each > 0.0; });
  const Section& section = options_.sections[draws.one_of(all_fit_exactly ? std::vector<double>(room.size(), 1.0) : room)];
  const double left = section.y_m.front() + draws.uniform({0.0, std::max(room_m(section, grid), 0.0)});
  const Eigen::MatrixXd piece = piece_of(section, grid, left);
  if (!options_.mirrored || draws.chance(0.5)) return piece;
  // The mirrored grid has its columns in the other order; only equal widths make that the same as reversing the piece.
  PatchGrid turned = grid;
  std::ranges::transform(grid.y_m.rbegin(), grid.y_m.rend(), turned.y_m.begin(), [&](double edge) { return grid.width_m() - edge; });
  return piece_of(section, turned, left).rowwise().reverse();
}

void Sections::check_grid(const PatchGrid& grid) const {
  for (const Section& section : options_.sections) {
    if (room_m(section, grid) < -1e-9 * grid.width_m()) {
      throw core::InvalidArgument(component, "section '{}': expected {:g} m or more along the profile, the width of the grid, got {:g} m",
                                  section.name, grid.width_m(), section.y_m.back() - section.y_m.front());
    }
  }
}

}  // namespace lodestone::models
