// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/multigrid/field.hpp"

namespace lodestone::physics::linalg::multigrid {

namespace {

/// Calls visit(number of the edge or node in its list, place of its real part in the field).
template <class Visit>
void for_each_edge_place(const fem::EdgeGrid& grid, const Layout& layout, Visit visit) {
  fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
    visit(grid.edge(axis, i, j, k), layout.row(axis, k, j) + layout.place(i));
  });
}
template <class Visit>
void for_each_node_place(const fem::EdgeGrid& grid, const Layout& layout, Visit visit) {
  fem::for_each_node(grid, [&](int i, int j, int k) {
    visit(grid.node(i, j, k), layout.row(at_node, k, j) + layout.place(i));
  });
}

}  // namespace

void read_pair(const fem::EdgeGrid& grid, const PairBlock& from, Eigen::Index column, Field<double>& to) {
  const Layout layout(grid);
  const auto put = [&](const auto& list) {
    return [&, part = layout.part()](Eigen::Index number, std::ptrdiff_t place) {
      to.data()[place] = list(number, column).real();
      to.data()[place + part] = list(number, column).imag();
    };
  };
  for_each_edge_place(grid, layout, put(from.edges));
  for_each_node_place(grid, layout, put(from.nodes));
}

void write_pair(const fem::EdgeGrid& grid, const Field<double>& from, Eigen::Index column, PairBlock& to) {
  const Layout layout(grid);
  const auto take = [&](auto& list) {
    return [&, part = layout.part()](Eigen::Index number, std::ptrdiff_t place) {
      list(number, column) = {from.data()[place], from.data()[place + part]};
    };
  };
  for_each_edge_place(grid, layout, take(to.edges));
  for_each_node_place(grid, layout, take(to.nodes));
}

}  // namespace lodestone::physics::linalg::multigrid
