// SPDX-License-Identifier: Apache-2.0
#include "physics/fem/edge_operator.hpp"

namespace lodestone::physics::fem {

using Index = EdgeGrid::Index;

Face face_at(const EdgeGrid& grid, int axis, int i, int j, int k) {
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;  // the face turns from a to b
  const std::array<int, 3> at{i, j, k};
  std::array<int, 3> beyond_a = at, beyond_b = at;
  ++beyond_a[a];
  ++beyond_b[b];
  const auto edge = [&grid](int along, const std::array<int, 3>& from) {
    return grid.edge(along, from[0], from[1], from[2]);
  };
  return {.edges = {edge(a, at), edge(b, beyond_a), edge(a, beyond_b), edge(b, at)},
          .signs = {1.0, 1.0, -1.0, -1.0},
          .factor = grid.dual_m(axis, at[axis]) / (grid.width_m(a, at[a]) * grid.width_m(b, at[b]))};
}

Eigen::VectorXcd curl_curl(const EdgeGrid& grid, const Eigen::VectorXcd& circulation) {
  Eigen::VectorXcd result = Eigen::VectorXcd::Zero(grid.n_edges());
  for_each_face(grid, [&](const Face& face) {
    const auto& e = face.edges;
    const std::complex<double> curl =
        face.factor * ((circulation[e[1]] - circulation[e[3]]) - (circulation[e[2]] - circulation[e[0]]));
    result[e[0]] += curl;
    result[e[1]] += curl;
    result[e[2]] -= curl;
    result[e[3]] -= curl;
  });
  return result;
}

namespace {

/// Calls visit(edge, first node, last node).
template <class Visit>
void for_each_difference(const EdgeGrid& grid, Visit visit) {
  for_each_edge(grid, [&](int axis, int i, int j, int k) {
    visit(grid.edge(axis, i, j, k), grid.node(i, j, k),
          grid.node(i + (axis == 0), j + (axis == 1), k + (axis == 2)));
  });
}

}  // namespace

Eigen::VectorXcd gradient(const EdgeGrid& grid, const Eigen::VectorXcd& potential) {
  Eigen::VectorXcd result(grid.n_edges());
  for_each_difference(
      grid, [&](Index edge, Index from, Index to) { result[edge] = potential[to] - potential[from]; });
  return result;
}

Eigen::VectorXcd gradient_transposed(const EdgeGrid& grid, const Eigen::VectorXcd& residual) {
  Eigen::VectorXcd result = Eigen::VectorXcd::Zero(grid.n_nodes());
  for_each_difference(grid, [&](Index edge, Index from, Index to) {
    result[to] += residual[edge];
    result[from] -= residual[edge];
  });
  return result;
}

Eigen::VectorXd sum_at_nodes(const EdgeGrid& grid, const Eigen::VectorXd& values) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(grid.n_nodes());
  for_each_difference(grid, [&](Index edge, Index from, Index to) {
    result[from] += values[edge];
    result[to] += values[edge];
  });
  return result;
}

void clear_boundary_edges(const EdgeGrid& grid, Eigen::Ref<Eigen::VectorXcd> edges) {
  for_each_edge(grid, [&](int axis, int i, int j, int k) {
    if (!grid.is_inner_edge(axis, i, j, k)) edges[grid.edge(axis, i, j, k)] = 0.0;
  });
}

void clear_boundary_nodes(const EdgeGrid& grid, Eigen::Ref<Eigen::VectorXcd> nodes) {
  for_each_node(grid, [&](int i, int j, int k) {
    if (!grid.is_inner_node(i, j, k)) nodes[grid.node(i, j, k)] = 0.0;
  });
}

ComplexRows pair_matrix(const EdgeGrid& grid, const Eigen::VectorXd& mass, const PairUnknowns& unknowns) {
  using Triplet = Eigen::Triplet<std::complex<double>>;
  std::vector<Triplet> entries;
  entries.reserve(static_cast<std::size_t>(60 * grid.n_nodes()));
  for_each_face(grid, [&](const Face& face) {
    for (int a = 0; a < 4; ++a) {
      const int row = unknowns.edges[face.edges[a]];
      for (int b = 0; b < 4; ++b) {
        const int column = unknowns.edges[face.edges[b]];
        if (row >= 0 && column >= 0)
          entries.emplace_back(row, column, face.signs[a] * face.signs[b] * face.factor);
      }
    }
  });
  for_each_difference(grid, [&](Index edge, Index from, Index to) {
    const std::array<int, 3> parts{unknowns.edges[edge], unknowns.nodes[from], unknowns.nodes[to]};
    constexpr std::array<double, 3> signs{1.0, -1.0, 1.0};
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        if (parts[a] >= 0 && parts[b] >= 0)
          entries.emplace_back(parts[a], parts[b],
                               std::complex<double>(0.0, signs[a] * signs[b] * mass[edge]));
      }
    }
  });
  ComplexRows matrix(unknowns.count, unknowns.count);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

}  // namespace lodestone::physics::fem
