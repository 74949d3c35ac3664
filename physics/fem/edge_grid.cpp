// SPDX-License-Identifier: Apache-2.0
#include "physics/fem/edge_grid.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <utility>

namespace lodestone::physics::fem {

namespace {

void check_lines(const std::vector<double>& lines, char axis) {
  if (lines.size() < 2)
    throw core::InvalidArgument("fem::EdgeGrid#too_few_lines", "expected at least two lines along {}, got {}",
                                axis, lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::isfinite(lines[i]) || (i > 0 && !(lines[i] > lines[i - 1])))
      throw core::InvalidArgument("fem::EdgeGrid#not_increasing",
                                  "expected finite, increasing lines along {}, got {} m at line {}; check "
                                  "the cell widths",
                                  axis, lines[i], i);
  }
}

}  // namespace

EdgeGrid::EdgeGrid(std::array<std::vector<double>, 3> lines_m) : lines_(std::move(lines_m)) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto& lines = lines_[axis];
    check_lines(lines, "xyz"[axis]);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) widths_[axis].push_back(lines[i + 1] - lines[i]);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const double before = i > 0 ? widths_[axis][i - 1] : 0.0,
                   after = i < lines.size() - 1 ? widths_[axis][i] : 0.0;
      duals_[axis].push_back(0.5 * (before + after));
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    Index edges = n(axis), faces = n(axis) + 1;
    for (int other = 0; other < 3; ++other) {
      edges *= other == axis ? 1 : n(other) + 1;
      faces *= other == axis ? 1 : n(other);
    }
    first_[axis + 1] = first_[axis] + edges;
    first_face_[axis + 1] = first_face_[axis] + faces;
  }
}

EdgeGrid::Index EdgeGrid::n_inner_edges() const {
  Index total = 0;
  for (int axis = 0; axis < 3; ++axis) {
    Index count = n(axis);
    for (int other = 0; other < 3; ++other) count *= other == axis ? 1 : n(other) - 1;
    total += count;
  }
  return total;
}

}  // namespace lodestone::physics::fem
