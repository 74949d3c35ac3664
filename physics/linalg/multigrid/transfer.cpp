// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/multigrid/transfer.hpp"

#include "engine/core/parallel.hpp"

#include <algorithm>

namespace lodestone::physics::linalg::multigrid {

namespace {

LODESTONE_LANE_CLONES void add_row(float* to, const float* from, float weight, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) to[i] += weight * from[i];
}
LODESTONE_LANE_CLONES void add_row(double* to, const double* from, double weight, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) to[i] += weight * from[i];
}

}  // namespace

template <class T>
typename Transfer<T>::AxisWeights Transfer<T>::weights_along(const fem::EdgeGrid& fine,
                                                             const Coarsening& coarse, int axis) {
  AxisWeights result;
  const auto& lines = coarse.fine_line[axis];
  for (int coarse_cell = 0; coarse_cell < coarse.grid.n(axis); ++coarse_cell) {
    const double width = coarse.grid.width_m(axis, coarse_cell);
    const double begin = coarse.grid.lines_m(axis)[coarse_cell];
    for (int i = lines[coarse_cell]; i < lines[coarse_cell + 1]; ++i) {
      const double t = (fine.lines_m(axis)[i] - begin) / width;
      result.nodes.push_back({coarse_cell, {static_cast<T>(1.0 - t), static_cast<T>(t)}});
      result.edges.push_back({coarse_cell, {static_cast<T>(fine.width_m(axis, i) / width), T(0)}});
    }
  }
  result.nodes.push_back({coarse.grid.n(axis) - 1, {T(0), T(1)}});
  const auto children_of = [&](const std::vector<Between>& places) {
    std::vector<std::vector<Child>> children(coarse.grid.n(axis) + 1);
    for (int i = 0; i < static_cast<int>(places.size()); ++i) {
      for (int side = 0; side < 2; ++side) {
        if (places[i].weights[side] != T(0))
          children[places[i].first + side].push_back({i, places[i].weights[side]});
      }
    }
    return children;
  };
  result.node_children = children_of(result.nodes);
  result.edge_children = children_of(result.edges);
  return result;
}

template <class T>
Transfer<T>::Transfer(const fem::EdgeGrid& fine, const Coarsening& coarse)
    : fine_(fine), coarse_(coarse.grid) {
  for (int axis = 0; axis < 3; ++axis) weights_[axis] = weights_along(fine, coarse, axis);
}

template <class T>
void Transfer<T>::restrict_slab(const Field<T>& fine, Field<T>& coarse, int j) const {
  std::vector<T> sum(static_cast<std::size_t>(fine_.component()));
  for (int c = 0; c < n_components; ++c) {
    const auto& along_row = weights_[0].of(c == along_x);
    const auto& across = weights_[1].children(c == along_y)[j];
    for (int k = 0; k <= coarse_.nz; ++k) {
      T* to = coarse.data() + coarse_.row(c, k, j);
      std::fill_n(to, coarse_.component(), T(0));
      const bool on_boundary =
          (c != along_y && (j == 0 || j == coarse_.ny)) || (c != along_z && (k == 0 || k == coarse_.nz));
      if (on_boundary) continue;
      std::fill(sum.begin(), sum.end(), T(0));
      for (const Child& line : across) {
        for (const Child& layer : weights_[2].children(c == along_z)[k])
          add_row(sum.data(), fine.data() + fine_.row(c, layer.at, line.at), line.weight * layer.weight,
                  fine_.component());
      }
      for (int part = 0; part < 2; ++part) {
        const T* from = sum.data() + part * fine_.part();
        T* row = to + part * coarse_.part();
        for (int i = 0; i < static_cast<int>(along_row.size()); ++i) {
          const T value = from[fine_.place(i)];
          for (int side = 0; side < 2; ++side)
            row[coarse_.place(along_row[i].first + side)] += along_row[i].weights[side] * value;
        }
        if (c != along_x) row[coarse_.place(0)] = row[coarse_.place(coarse_.nx)] = T(0);
      }
    }
  }
}

template <class T>
void Transfer<T>::add_slab(const Field<T>& coarse, Field<T>& fine, int j) const {
  std::vector<T> sum(static_cast<std::size_t>(coarse_.component()));
  for (int c = 0; c < n_components; ++c) {
    if (c != along_y && (j == 0 || j == fine_.ny)) continue;
    if (c == along_y && j == fine_.ny) continue;
    const auto& along_row = weights_[0].of(c == along_x);
    const auto& layers = weights_[2].of(c == along_z);
    const Between& line = weights_[1].of(c == along_y)[j];
    for (int k = c == along_z ? 0 : 1; k < fine_.nz; ++k) {
      std::fill(sum.begin(), sum.end(), T(0));
      for (int a = 0; a < 2; ++a) {
        for (int b = 0; b < 2; ++b) {
          const T weight = line.weights[a] * layers[k].weights[b];
          if (weight != T(0))
            add_row(sum.data(), coarse.data() + coarse_.row(c, layers[k].first + b, line.first + a), weight,
                    coarse_.component());
        }
      }
      T* to = fine.data() + fine_.row(c, k, j);
      for (int part = 0; part < 2; ++part) {
        const T* from = sum.data() + part * coarse_.part();
        for (int i = 0; i < static_cast<int>(along_row.size()); ++i) {
          const Between& between = along_row[i];
          to[part * fine_.part() + fine_.place(i)] +=
              between.weights[0] * from[coarse_.place(between.first)] +
              between.weights[1] * from[coarse_.place(between.first + 1)];
        }
      }
    }
  }
}

template <class T>
void Transfer<T>::restrict_to_coarse(const Field<T>& fine, Field<T>& coarse) const {
  core::parallel_for(coarse_.ny + 1,
                     [&](std::ptrdiff_t j) { restrict_slab(fine, coarse, static_cast<int>(j)); });
}

template <class T>
void Transfer<T>::add_from_coarse(const Field<T>& coarse, Field<T>& fine) const {
  core::parallel_for(fine_.ny + 1, [&](std::ptrdiff_t j) { add_slab(coarse, fine, static_cast<int>(j)); });
}

template class Transfer<float>;
template class Transfer<double>;

}  // namespace lodestone::physics::linalg::multigrid
