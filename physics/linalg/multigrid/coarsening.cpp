// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/multigrid/coarsening.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::physics::linalg::multigrid {

namespace {

constexpr double slack = 1.6;         // of a merged cell over the threshold
constexpr double kept_share = 0.7;    // of the cells, at most
constexpr int most_last_lines = 4;    // inner vertical lines of the coarsest grid
constexpr int least_kept_layers = 6;  // while there are more, the ground stays a line
constexpr double largest_threshold_m = 1e12;

std::vector<int> merged(const std::vector<double>& widths, double limit, int kept) {
  std::vector<int> lines{0};
  const int n = static_cast<int>(widths.size());
  for (int i = 0; i < n;) {
    const bool two = i + 1 < n && i + 1 != kept && widths[i] + widths[i + 1] <= limit;
    lines.push_back(i += two ? 2 : 1);
  }
  if (lines.size() < 3 && n >= 2) return {0, n / 2, n};  // one inner line remains
  return lines;
}

std::array<std::vector<int>, 3> merged_lines(const fem::EdgeGrid& fine, int ground, double threshold_m) {
  const int kept = fine.n(2) > least_kept_layers ? ground : -1;
  std::array<std::vector<int>, 3> lines;
  for (int axis = 0; axis < 3; ++axis)
    lines[axis] = merged(fine.widths_m(axis), slack * threshold_m, axis == 2 ? kept : -1);
  return lines;
}

double n_cells(const std::array<std::vector<int>, 3>& lines) {
  double n = 1.0;
  for (const auto& list : lines) n *= static_cast<double>(list.size() - 1);
  return n;
}

}  // namespace

std::optional<Coarsening> coarser(const fem::EdgeGrid& fine, int ground, double threshold_m) {
  if ((fine.n(0) - 1) * (fine.n(1) - 1) <= most_last_lines) return {};
  std::array<std::vector<int>, 3> lines;
  do {
    threshold_m *= 2.0;
    lines = merged_lines(fine, ground, threshold_m);
  } while (n_cells(lines) > kept_share * static_cast<double>(fine.n_cells()) &&
           threshold_m < largest_threshold_m);
  std::array<std::vector<double>, 3> coarse_m;
  for (int axis = 0; axis < 3; ++axis) {
    for (const int line : lines[axis]) coarse_m[axis].push_back(fine.lines_m(axis)[line]);
  }
  const auto found = std::find(lines[2].begin(), lines[2].end(), ground);
  const int kept = found == lines[2].end() ? -1 : static_cast<int>(found - lines[2].begin());
  return Coarsening{fem::EdgeGrid(std::move(coarse_m)), std::move(lines), kept, threshold_m};
}

double first_threshold_m(const fem::EdgeGrid& grid) {
  const auto least = [&grid](int axis) {
    return *std::min_element(grid.widths_m(axis).begin(), grid.widths_m(axis).end());
  };
  return std::min(least(0), least(1));
}

Eigen::VectorXd volume_means(const fem::EdgeGrid& fine, const Coarsening& coarse,
                             const Eigen::VectorXd& values) {
  const auto& lines = coarse.fine_line;
  Eigen::VectorXd result = Eigen::VectorXd::Zero(coarse.grid.n_cells());
  for (int k_coarse = 0; k_coarse < coarse.grid.n(2); ++k_coarse) {
    for (int k = lines[2][k_coarse]; k < lines[2][k_coarse + 1]; ++k) {
      for (int j_coarse = 0; j_coarse < coarse.grid.n(1); ++j_coarse) {
        for (int j = lines[1][j_coarse]; j < lines[1][j_coarse + 1]; ++j) {
          const double share = fine.width_m(2, k) * fine.width_m(1, j) /
                               (coarse.grid.width_m(2, k_coarse) * coarse.grid.width_m(1, j_coarse));
          for (int i_coarse = 0; i_coarse < coarse.grid.n(0); ++i_coarse) {
            for (int i = lines[0][i_coarse]; i < lines[0][i_coarse + 1]; ++i)
              result[coarse.grid.cell(i_coarse, j_coarse, k_coarse)] +=
                  share * fine.width_m(0, i) / coarse.grid.width_m(0, i_coarse) * values[fine.cell(i, j, k)];
          }
        }
      }
    }
  }
  return result;
}

Eigen::VectorXd volume_means(const fem::ReliefGrid& fine, const Coarsening& coarse,
                             const Eigen::VectorXd& values) {
  std::array<std::vector<int>, 3> coarse_of;
  for (int axis = 0; axis < 3; ++axis) {
    for (int cell = 0; cell < coarse.grid.n(axis); ++cell)
      coarse_of[axis].resize(coarse.fine_line[axis][cell + 1], cell);
  }
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(coarse.grid.n_cells()), volume = sum;
  for (int k = 0; k < fine.lines().n(2); ++k) {
    for (int j = 0; j < fine.lines().n(1); ++j) {
      for (int i = 0; i < fine.lines().n(0); ++i) {
        const auto cell = coarse.grid.cell(coarse_of[0][i], coarse_of[1][j], coarse_of[2][k]);
        const double of_cell = fine.volume_m3(i, j, k);
        sum[cell] += of_cell * values[fine.lines().cell(i, j, k)];
        volume[cell] += of_cell;
      }
    }
  }
  return sum.cwiseQuotient(volume);
}

Eigen::VectorXd edge_masses(const fem::EdgeGrid& grid, const Eigen::VectorXd& values) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(grid.n_edges());
  for (int k = 0; k < grid.n(2); ++k) {
    for (int j = 0; j < grid.n(1); ++j) {
      for (int i = 0; i < grid.n(0); ++i) {
        const double quarter = 0.25 * values[grid.cell(i, j, k)];
        const double hx = grid.width_m(0, i), hy = grid.width_m(1, j), hz = grid.width_m(2, k);
        for (int a = 0; a < 2; ++a) {
          for (int b = 0; b < 2; ++b) {
            result[grid.edge(0, i, j + a, k + b)] += quarter * hy * hz / hx;
            result[grid.edge(1, i + a, j, k + b)] += quarter * hx * hz / hy;
            result[grid.edge(2, i + a, j + b, k)] += quarter * hx * hy / hz;
          }
        }
      }
    }
  }
  return result;
}

}  // namespace lodestone::physics::linalg::multigrid
