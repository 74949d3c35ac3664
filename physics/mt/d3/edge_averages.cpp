// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/edge_averages.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d3 {

namespace {

/// Edges of the parameter grid without the outermost, which continue without end.
std::vector<double> inner_edges(const mesh::Earth& earth, mesh::Axis axis) {
  const auto& edges = earth.grid.edges_m(axis);
  if (edges.size() < 3) return {};
  std::vector<double> inner(edges.begin() + 1, edges.end() - 1);
  if (axis == mesh::Axis::z && earth.grid.reference() == mesh::DepthReference::datum) {
    for (double& edge : inner) edge -= earth.surface.lowest_m();
  }
  return inner;
}

}  // namespace

EdgeAverages::EdgeAverages(const mesh::Earth& earth, const fem::EdgeGrid& grid) : grid_(grid) {
  for (int axis = 0; axis < 3; ++axis) {
    const mesh::Axis of = mesh::all_axes[axis];
    parameter_edges_[axis] = inner_edges(earth, of);
    n_parameters_[axis] = earth.grid.n(of);
    const auto& lines = grid.lines_m(axis);
    std::vector<double> middles{lines.front()};
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) middles.push_back(0.5 * (lines[i] + lines[i + 1]));
    middles.push_back(lines.back());
    cells_[axis] = overlaps(axis, {lines.begin(), lines.end() - 1}, {lines.begin() + 1, lines.end()});
    duals_[axis] = overlaps(axis, {middles.begin(), middles.end() - 1}, {middles.begin() + 1, middles.end()});
  }
}

EdgeAverages::Overlaps EdgeAverages::overlaps(int axis, const std::vector<double>& begin,
                                              const std::vector<double>& end) const {
  Overlaps result(begin.size());
  std::vector<double> cuts = parameter_edges_[axis];
  if (axis == 2) {  // the air is interval −1
    std::erase_if(cuts, [](double z) { return z <= 0.0; });
    cuts.insert(cuts.begin(), 0.0);
  }
  const int first = axis == 2 ? n_parameters_[2] - 1 - static_cast<int>(cuts.size()) : 0;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const auto cut_after = [&](double x) {
      return static_cast<int>(std::upper_bound(cuts.begin(), cuts.end(), x) - cuts.begin());
    };
    const double length = end[i] - begin[i];
    double from = begin[i];
    for (int cut = cut_after(from); from < end[i]; ++cut) {
      const double to = cut < static_cast<int>(cuts.size()) ? std::min(cuts[cut], end[i]) : end[i];
      if (to - from > 1e-12 * length)
        result[i].push_back({axis == 2 && cut == 0 ? -1 : first + cut, (to - from) / length});
      from = to;
    }
  }
  return result;
}

Eigen::Index EdgeAverages::parameter(std::array<int, 3> at) const {
  return (static_cast<Eigen::Index>(at[2]) * n_parameters_[1] + at[1]) * n_parameters_[0] + at[0];
}

double EdgeAverages::conductivity(const Eigen::VectorXd& resistivity, const std::array<int, 3>& at) const {
  return at[2] < 0 ? air_conductivity : 1.0 / resistivity[parameter(at)];
}

template <class Visit>
void EdgeAverages::visit_across(int axis, const std::array<int, 3>& edge, int along, Visit visit) const {
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  std::array<int, 3> at{};
  at[axis] = along;
  for (const Overlap& first : duals_[a][edge[a]]) {
    for (const Overlap& second : duals_[b][edge[b]]) {
      at[a] = first.index;
      at[b] = second.index;
      visit(at, first.share * second.share);
    }
  }
}

std::vector<EdgeAverages::Piece> EdgeAverages::pieces_of(const Eigen::VectorXd& resistivity, int axis,
                                                         const std::array<int, 3>& edge) const {
  std::vector<Piece> pieces;
  for (const Overlap& along : cells_[axis][edge[axis]]) {
    double mean = 0.0;
    visit_across(axis, edge, along.index, [&](const std::array<int, 3>& at, double share) {
      mean += share * conductivity(resistivity, at);
    });
    pieces.push_back({along.share, mean, along.index});
  }
  return pieces;
}

double EdgeAverages::area_over_length(int axis, const std::array<int, 3>& edge) const {
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  return grid_.dual_m(a, edge[a]) * grid_.dual_m(b, edge[b]) / grid_.width_m(axis, edge[axis]);
}

namespace {

/// Returns the series mean of pieces; exactly their value where there is one.
template <class Pieces>
double series_mean(const Pieces& pieces) {
  if (pieces.size() == 1) return pieces.front().conductivity;
  double resistance = 0.0;
  for (const auto& piece : pieces) resistance += piece.share / piece.conductivity;
  return 1.0 / resistance;
}

}  // namespace

Eigen::VectorXd EdgeAverages::masses(const Eigen::VectorXd& resistivity) const {
  Eigen::VectorXd result(grid_.n_edges());
  fem::for_each_edge(grid_, [&](int axis, int i, int j, int k) {
    const std::array<int, 3> edge{i, j, k};
    result[grid_.edge(axis, i, j, k)] =
        area_over_length(axis, edge) * series_mean(pieces_of(resistivity, axis, edge));
  });
  return result;
}

core::SparseRows EdgeAverages::mass_derivative(const Eigen::VectorXd& resistivity) const {
  core::SparseRows result(grid_.n_edges(), resistivity.size());
  Eigen::VectorXi n_terms(grid_.n_edges());  // a row without room moves all that follow
  fem::for_each_edge(grid_, [&](int axis, int i, int j, int k) {
    const std::array<int, 3> edge{i, j, k};
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    n_terms[grid_.edge(axis, i, j, k)] = static_cast<int>(
        cells_[axis][edge[axis]].size() * duals_[a][edge[a]].size() * duals_[b][edge[b]].size());
  });
  result.reserve(n_terms);
  fem::for_each_edge(grid_, [&](int axis, int i, int j, int k) {
    const std::array<int, 3> edge{i, j, k};
    const auto pieces = pieces_of(resistivity, axis, edge);
    const double mean = series_mean(pieces), factor = area_over_length(axis, edge);
    for (const Piece& piece : pieces) {
      const double of_piece = piece.share * (mean / piece.conductivity) * (mean / piece.conductivity);
      visit_across(axis, edge, piece.along, [&](const std::array<int, 3>& at, double share) {
        if (at[2] < 0) return;
        const Eigen::Index p = parameter(at);
        result.coeffRef(grid_.edge(axis, i, j, k), p) -=
            factor * of_piece * share / (resistivity[p] * resistivity[p]);
      });
    }
  });
  result.makeCompressed();
  return result;
}

Eigen::VectorXd EdgeAverages::cell_conductivities(const Eigen::VectorXd& resistivity) const {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(grid_.n_cells());
  for (int k = 0; k < grid_.n(2); ++k) {
    for (int j = 0; j < grid_.n(1); ++j) {
      for (int i = 0; i < grid_.n(0); ++i) {
        double& mean = result[grid_.cell(i, j, k)];
        for (const Overlap& z : cells_[2][k]) {
          for (const Overlap& y : cells_[1][j]) {
            for (const Overlap& x : cells_[0][i])
              mean += z.share * y.share * x.share * conductivity(resistivity, {x.index, y.index, z.index});
          }
        }
      }
    }
  }
  return result;
}

}  // namespace lodestone::physics::mt::d3
