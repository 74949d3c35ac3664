// SPDX-License-Identifier: Apache-2.0
#include "physics/fem/relief_operator.hpp"

#include "engine/core/parallel.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::physics::fem {

using Index = EdgeGrid::Index;

namespace {

constexpr Index rows_of_a_share = 4096;

/// Calls work(row) for all rows, in threads.
template <class Work>
void for_each_row(Index n, Work work) {
  const Index n_shares = (n + rows_of_a_share - 1) / rows_of_a_share;
  core::parallel_for(n_shares, [&](std::ptrdiff_t share) {
    const Index end = std::min(n, (share + 1) * rows_of_a_share);
    for (Index row = share * rows_of_a_share; row < end; ++row) work(row);
  });
}

}  // namespace

Eigen::VectorXcd product(const RealRows& matrix, const Eigen::VectorXcd& values) {
  Eigen::VectorXcd result(matrix.rows());
  const int* begin = matrix.outerIndexPtr();
  const int* column = matrix.innerIndexPtr();
  const double* entry = matrix.valuePtr();
  for_each_row(matrix.rows(), [&](Index row) {
    double re = 0.0, im = 0.0;
    for (int i = begin[row]; i < begin[row + 1]; ++i) {
      re += entry[i] * values[column[i]].real();
      im += entry[i] * values[column[i]].imag();
    }
    result[row] = {re, im};
  });
  return result;
}

namespace {

/// Calls visit(first face, its four edges, n) for every row of n faces along x. Numbers of both rise
/// together.
template <class Visit>
void for_each_face_row(const EdgeGrid& grid, Visit visit) {
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 0; k < grid.n(2) + (axis == 2); ++k) {
      for (int j = 0; j < grid.n(1) + (axis == 1); ++j)
        visit(grid.face(axis, 0, j, k), face_at(grid, axis, 0, j, k).edges, grid.n(0) + (axis == 0));
    }
  }
}

}  // namespace

Eigen::VectorXcd curl(const EdgeGrid& grid, const Eigen::VectorXcd& circulation) {
  Eigen::VectorXcd result(grid.n_faces());
  for_each_face_row(grid, [&](Index face, const std::array<Index, 4>& e, int n) {
    for (int i = 0; i < n; ++i)
      result[face + i] =
          (circulation[e[1] + i] - circulation[e[3] + i]) - (circulation[e[2] + i] - circulation[e[0] + i]);
  });
  return result;
}

Eigen::VectorXcd curl_transposed(const EdgeGrid& grid, const Eigen::VectorXcd& faces) {
  Eigen::VectorXcd result = Eigen::VectorXcd::Zero(grid.n_edges());
  for_each_face_row(grid, [&](Index face, const std::array<Index, 4>& e, int n) {
    for (int i = 0; i < n; ++i) result[e[0] + i] += faces[face + i];
    for (int i = 0; i < n; ++i) result[e[1] + i] += faces[face + i];
    for (int i = 0; i < n; ++i) result[e[2] + i] -= faces[face + i];
    for (int i = 0; i < n; ++i) result[e[3] + i] -= faces[face + i];
  });
  return result;
}

namespace {

/// Calls visit(cell number, corner) for all corners of the cells from layer `first` to `last` − 1.
template <class Visit>
void for_each_cell_corner(const ReliefGrid& grid, int first, int last, Visit visit) {
  const EdgeGrid& lines = grid.lines();
  for (int k = first; k < last; ++k) {
    for (int j = 0; j < lines.n(1); ++j) {
      for (int i = 0; i < lines.n(0); ++i)
        for_each_corner([&](std::array<int, 3> at) {
          visit(lines.cell(i, j, k), corner_of(grid, {i, j, k}, at));
        });
    }
  }
}

}  // namespace

ReliefDiagonals diagonals(const ReliefGrid& grid, const Eigen::VectorXd& cells) {
  const EdgeGrid& lines = grid.lines();
  ReliefDiagonals result{Eigen::VectorXd::Zero(lines.n_faces()), Eigen::VectorXd::Zero(lines.n_edges())};
  for_each_cell_corner(grid, 0, lines.n(2), [&](Index cell, const Corner& corner) {
    const auto stiffness = corner.stiffness(), mass = corner.mass();
    for (int axis = 0; axis < 3; ++axis) {
      result.faces[corner.faces[axis]] += stiffness[axis][axis];
      result.masses[corner.edges[axis]] += cells[cell] * mass[axis][axis];
    }
  });
  return result;
}

namespace {

/// The entries of one row, few enough to search them in turn.
class Row {
 public:
  void add(Index column, double value) {
    for (auto& [known, sum] : entries_) {
      if (known == column) {
        sum += value;
        return;
      }
    }
    entries_.emplace_back(column, value);
  }
  /// Sorts the entries and hands them over.
  [[nodiscard]] const std::vector<std::pair<Index, double>>& sorted() {
    std::sort(entries_.begin(), entries_.end());
    return entries_;
  }
  void clear() { entries_.clear(); }

 private:
  std::vector<std::pair<Index, double>> entries_;
};

/// Makes a matrix whose rows are those of places (axis, i, j, k). `fill(row, axis, place)` adds a row.
template <class EachPlace, class Fill>
RealRows by_rows(Index n, int most_entries, EachPlace for_each_place, Fill fill) {
  RealRows result(n, n);
  result.reserve(n * most_entries);
  Row row;
  Index number = 0;
  for_each_place([&](int axis, int i, int j, int k) {
    row.clear();
    fill(row, axis, std::array<int, 3>{i, j, k});
    result.startVec(number);
    for (const auto& [column, value] : row.sorted()) result.insertBack(number, column) = value;
    ++number;
  });
  result.finalize();
  return result;
}

bool is_cell(const EdgeGrid& lines, const std::array<int, 3>& cell) {
  for (int axis = 0; axis < 3; ++axis) {
    if (cell[axis] < 0 || cell[axis] >= lines.n(axis)) return false;
  }
  return true;
}

/// Calls visit(cell, corner) for the corners that touch the face normal to an axis at a place.
template <class Visit>
void for_each_corner_of_face(const ReliefGrid& grid, int axis, const std::array<int, 3>& place, Visit visit) {
  for (int side = 0; side < 2; ++side) {
    std::array<int, 3> cell = place;
    cell[axis] -= side;
    if (!is_cell(grid.lines(), cell)) continue;
    for_each_corner([&](std::array<int, 3> at) {
      if (at[axis] == side) visit(cell, corner_of(grid, cell, at));
    });
  }
}

/// Calls visit(cell, corner) for the corners that touch the edge along an axis at a place.
template <class Visit>
void for_each_corner_of_edge(const ReliefGrid& grid, int axis, const std::array<int, 3>& place, Visit visit) {
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  for (int side = 0; side < 4; ++side) {
    std::array<int, 3> cell = place;
    cell[a] -= side & 1;
    cell[b] -= side >> 1;
    if (!is_cell(grid.lines(), cell)) continue;
    for (int end = 0; end < 2; ++end) {
      std::array<int, 3> at{};
      at[axis] = end;
      at[a] = side & 1;
      at[b] = side >> 1;
      visit(cell, corner_of(grid, cell, at));
    }
  }
}

RealRows face_matrix(const ReliefGrid& grid) {
  const EdgeGrid& lines = grid.lines();
  return by_rows(
      lines.n_faces(), 9, [&](auto visit) { for_each_face_place(lines, visit); },
      [&](Row& row, int axis, const std::array<int, 3>& place) {
        for_each_corner_of_face(grid, axis, place, [&](const std::array<int, 3>&, const Corner& corner) {
          const auto matrix = corner.stiffness();
          for (int other = 0; other < 3; ++other) row.add(corner.faces[other], matrix[axis][other]);
        });
      });
}

}  // namespace

ReliefOperator::ReliefOperator(ReliefGrid grid) : grid_(std::move(grid)), faces_(face_matrix(grid_)) {}

Eigen::VectorXcd ReliefOperator::curl_curl(const Eigen::VectorXcd& circulation) const {
  return curl_transposed(grid_.lines(), product(faces_, curl(grid_.lines(), circulation)));
}

RealRows ReliefOperator::mass_matrix(const Eigen::VectorXd& cells) const {
  const EdgeGrid& lines = grid_.lines();
  return by_rows(
      lines.n_edges(), 9, [&](auto visit) { for_each_edge(lines, visit); },
      [&](Row& row, int axis, const std::array<int, 3>& place) {
        for_each_corner_of_edge(grid_, axis, place,
                                [&](const std::array<int, 3>& cell, const Corner& corner) {
                                  const auto matrix = corner.mass();
                                  const double value = cells[lines.cell(cell[0], cell[1], cell[2])];
                                  for (int other = 0; other < 3; ++other) {
                                    if (axis + other != 1)
                                      row.add(corner.edges[other], value * matrix[axis][other]);
                                  }
                                });
      });
}

Eigen::VectorXcd ReliefOperator::cell_products(const Eigen::VectorXcd& u, const Eigen::VectorXcd& v) const {
  const EdgeGrid& lines = grid_.lines();
  Eigen::VectorXcd result = Eigen::VectorXcd::Zero(lines.n_cells());
  core::parallel_for(lines.n(2), [&](std::ptrdiff_t k) {
    const int layer = static_cast<int>(k);
    for_each_cell_corner(grid_, layer, layer + 1, [&](Index cell, const Corner& corner) {
      const auto matrix = corner.mass();
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column)
          result[cell] += matrix[row][column] * u[corner.edges[row]] * v[corner.edges[column]];
      }
    });
  });
  return result;
}

ComplexRows pair_matrix(const EdgeGrid& grid, const RealRows& faces, const RealRows& masses,
                        const PairUnknowns& unknowns) {
  using Triplet = Eigen::Triplet<double>;
  std::vector<Triplet> of_curl, of_field;  // from unknowns to faces, and to edges
  for_each_face_place(grid, [&](int axis, int i, int j, int k) {
    const Face face = face_at(grid, axis, i, j, k);
    for (int side = 0; side < 4; ++side) {
      if (const int column = unknowns.edges[face.edges[side]]; column >= 0)
        of_curl.emplace_back(grid.face(axis, i, j, k), column, face.signs[side]);
    }
  });
  for_each_edge(grid, [&](int axis, int i, int j, int k) {
    const Index edge = grid.edge(axis, i, j, k);
    const int from = unknowns.nodes[grid.node(i, j, k)],
              to = unknowns.nodes[grid.node(i + (axis == 0), j + (axis == 1), k + (axis == 2))];
    if (unknowns.edges[edge] >= 0) of_field.emplace_back(edge, unknowns.edges[edge], 1.0);
    if (from >= 0) of_field.emplace_back(edge, from, -1.0);
    if (to >= 0) of_field.emplace_back(edge, to, 1.0);
  });
  RealRows curls(grid.n_faces(), unknowns.count), fields(grid.n_edges(), unknowns.count);
  curls.setFromTriplets(of_curl.begin(), of_curl.end());
  fields.setFromTriplets(of_field.begin(), of_field.end());
  const RealRows stiffness = curls.transpose() * RealRows(faces * curls),
                 mass = fields.transpose() * RealRows(masses * fields);
  return stiffness.cast<std::complex<double>>() +
         std::complex<double>(0.0, 1.0) * mass.cast<std::complex<double>>();
}

}  // namespace lodestone::physics::fem
