// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/multigrid/level.hpp"

#include "engine/core/parallel.hpp"

namespace lodestone::physics::linalg::multigrid {

template <class T>
RowLines<T>::RowLines(const fem::EdgeGrid& grid) {
  const std::ptrdiff_t half = Layout(grid).half;
  const int n = grid.n(0);
  for (auto* lists : {&inverse_width, &dual, &edge_mask, &node_mask}) lists->fill(Padded<T>(half));
  for (int i = 0; i <= n; ++i) {
    const int parity = i & 1, place = i / 2;
    if (i < n) {
      inverse_width[parity].data()[place] = static_cast<T>(1.0 / grid.width_m(0, i));
      edge_mask[parity].data()[place] = T(1);
    }
    if (i > 0 && i < n) {
      dual[parity].data()[place] = static_cast<T>(grid.dual_m(0, i));
      node_mask[parity].data()[place] = T(1);
    }
  }
}

template <class T>
Level<T>::Level(const fem::EdgeGrid& grid, const Eigen::VectorXd& mass, const Eigen::VectorXd& faces)
    : layout_(grid),
      x_(grid),
      mass_(6 * layout_.half * (layout_.nz + 1) * (layout_.ny + 1)),
      has_faces_(faces.size() > 0) {
  for (int axis = 1; axis < 3; ++axis) {
    for (int i = 0; i < grid.n(axis); ++i)
      inverse_[axis - 1].push_back(static_cast<T>(1.0 / grid.width_m(axis, i)));
    for (int i = 0; i <= grid.n(axis); ++i) dual_[axis - 1].push_back(static_cast<T>(grid.dual_m(axis, i)));
  }
  fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
    mass_.data()[place(axis, k, j, i & 1) + i / 2] = static_cast<T>(mass[grid.edge(axis, i, j, k)]);
  });
  if (!has_faces_) return;
  faces_ = Padded<T>(6 * layout_.half * (layout_.nz + 1) * (layout_.ny + 1));
  fem::for_each_face_place(grid, [&](int axis, int i, int j, int k) {
    faces_.data()[place(axis, k, j, i & 1) + i / 2] = static_cast<T>(faces[grid.face(axis, i, j, k)]);
  });
}

template struct RowLines<float>;
template struct RowLines<double>;
template class Level<float>;
template class Level<double>;

namespace {

// Symbols: o the place itself, l the one before it along x, n the one after.

/// The rows of one part (real or imaginary) of a field around a row. The curls of faces are made of them,
/// each times its entry of F. Offsets `s` lead to rows along y and z.
template <class T>
struct Curls {
  const T* x;  ///< edges along x of the row
  std::ptrdiff_t component, layer, slab;
  std::ptrdiff_t o, n;

  [[gnu::always_inline]] Vector<T> at(std::ptrdiff_t s) const { return load(x + s); }
  [[gnu::always_inline]] std::ptrdiff_t after(std::ptrdiff_t place) const { return place == o ? n : o; }
  [[gnu::always_inline]] Vector<T> normal_x(std::ptrdiff_t s, const Vector<T>& entry) const {
    const std::ptrdiff_t y = component + s + o, z = 2 * component + s + o;
    return entry * ((at(z + slab) - at(z)) - (at(y + layer) - at(y)));
  }
  [[gnu::always_inline]] Vector<T> normal_y(std::ptrdiff_t s, std::ptrdiff_t place,
                                            const Vector<T>& entry) const {
    const std::ptrdiff_t z = 2 * component + s;
    return entry * ((at(s + layer + place) - at(s + place)) - (at(z + after(place)) - at(z + place)));
  }
  [[gnu::always_inline]] Vector<T> normal_z(std::ptrdiff_t s, std::ptrdiff_t place,
                                            const Vector<T>& entry) const {
    const std::ptrdiff_t y = component + s;
    return entry * ((at(y + after(place)) - at(y + place)) - (at(s + slab + place) - at(s + place)));
  }
};

/// One vector of nodes of a row: K u of the edges that begin there and M (e + Gφ) with its divergence.
template <class T>
struct RowTerms {
  Vector<T> curl[n_components][2]{}, mass[n_components][2]{};

  template <bool relief>
  [[gnu::always_inline]] void add_curls(int q, const Curls<T>& f, const RowCoefficients<T>& w,
                                        std::ptrdiff_t l, const FaceEntries<T, relief>& entry) {
    const std::ptrdiff_t o = f.o, up = -f.layer, back = -f.slab;
    if (w.inner_z && w.inner_y)
      curl[along_x][q] = f.normal_y(up, o, entry.y(true, false)) - f.normal_y(0, o, entry.y(false, false)) +
                         f.normal_z(0, o, entry.z(false, false)) - f.normal_z(back, o, entry.z(true, false));
    if (w.inner_z)
      curl[along_y][q] = f.normal_x(0, entry.x(false, false)) - f.normal_x(up, entry.x(true, false)) -
                         f.normal_z(0, o, entry.z(false, false)) + f.normal_z(0, l, entry.z(false, true));
    if (w.inner_y)
      curl[along_z][q] = f.normal_x(back, entry.x(false, true)) - f.normal_x(0, entry.x(false, false)) +
                         f.normal_y(0, o, entry.y(false, false)) - f.normal_y(0, l, entry.y(false, true));
  }
  [[gnu::always_inline]] void add_masses(int q, const Curls<T>& f, const RowCoefficients<T>& w,
                                         std::ptrdiff_t l, const Level<T>& level, int k, int j, int parity,
                                         std::ptrdiff_t at) {
    const std::ptrdiff_t node = at_node * f.component, o = f.o;
    const auto along_row = [&](std::ptrdiff_t place) __attribute__((always_inline)) {
      return load(level.mass(along_x, k, j, 0) + place) *
             (f.at(place) + f.at(node + f.after(place)) - f.at(node + place));
    };
    const auto across = [&](int c, std::ptrdiff_t from, std::ptrdiff_t step, const T* masses)
        __attribute__((always_inline)) {
      return load(masses + at) *
             (f.at(c * f.component + from + o) + f.at(node + from + step + o) - f.at(node + from + o));
    };
    if (w.inner_z && w.inner_y) mass[along_x][q] = along_row(o);
    if (w.inner_z) mass[along_y][q] = across(along_y, 0, f.slab, level.mass(along_y, k, j, parity));
    if (w.inner_y) mass[along_z][q] = across(along_z, 0, f.layer, level.mass(along_z, k, j, parity));
    if (w.inner_z && w.inner_y)
      mass[at_node][q] =
          along_row(l) - mass[along_x][q] +
          across(along_y, -f.slab, f.slab, level.mass(along_y, k, j - 1, parity)) - mass[along_y][q] +
          across(along_z, -f.layer, f.layer, level.mass(along_z, k - 1, j, parity)) - mass[along_z][q];
  }
};

template <bool relief, class T>
[[gnu::always_inline]] inline void residual_lanes(const Level<T>& level, const T* b, const T* x, T* r,
                                                  int j) {
  const Layout& layout = level.layout();
  const std::ptrdiff_t part = layout.part(), half = layout.half;
  for (int k = 0; k < layout.nz; ++k) {
    if (k == 0 && j == 0) continue;
    const RowCoefficients<T> w(level, k, j);
    const bool has[n_components] = {w.inner_y && w.inner_z, w.inner_z, w.inner_y, w.inner_y && w.inner_z};
    for (int parity = 0; parity < 2; ++parity) {
      for (std::ptrdiff_t at = 0; at < half; at += Lanes<T>::width) {
        const std::ptrdiff_t o = parity * half + at, l = (1 - parity) * half + at - 1 + parity;
        const FaceEntries<T, relief> entry(level, w, k, j, parity, at);
        RowTerms<T> terms;
        for (int q = 0; q < 2; ++q) {
          const Curls<T> curls{x + layout.row(0, k, j) + q * part,
                               layout.component(),
                               layout.layer(),
                               layout.slab(),
                               o,
                               l + 1};
          terms.add_curls(q, curls, w, l, entry);
          terms.add_masses(q, curls, w, l, level, k, j, parity, at);
        }
        for (int c = 0; c < n_components; ++c) {
          if (!has[c]) continue;
          const auto& masks = c == along_x ? level.x().edge_mask : level.x().node_mask;
          const Vector<T> mask = load(masks[parity].data() + at);
          const std::ptrdiff_t place = layout.row(c, k, j) + o;
          ComplexLanes<T> value{terms.mass[c][1] - terms.curl[c][0], -terms.mass[c][0] - terms.curl[c][1]};
          if (b != nullptr) {
            value.re += load(b + place);
            value.im += load(b + place + part);
          }
          store_complex(r + place, part, ComplexLanes<T>{value.re * mask, value.im * mask});
        }
      }
    }
  }
}

}  // namespace

LODESTONE_LANE_CLONES
void residual_of_slab(const Level<float>& level, const float* b, const float* x, float* r, int j) {
  if (level.has_faces())
    residual_lanes<true>(level, b, x, r, j);
  else
    residual_lanes<false>(level, b, x, r, j);
}
LODESTONE_LANE_CLONES
void residual_of_slab(const Level<double>& level, const double* b, const double* x, double* r, int j) {
  if (level.has_faces())
    residual_lanes<true>(level, b, x, r, j);
  else
    residual_lanes<false>(level, b, x, r, j);
}

template <class T>
void residual(const Level<T>& level, const Field<T>* b, const Field<T>& x, Field<T>& r) {
  core::parallel_for(level.layout().ny, [&](std::ptrdiff_t j) {
    residual_of_slab(level, b == nullptr ? nullptr : b->data(), x.data(), r.data(), static_cast<int>(j));
  });
}
template void residual(const Level<float>&, const Field<float>*, const Field<float>&, Field<float>&);
template void residual(const Level<double>&, const Field<double>*, const Field<double>&, Field<double>&);

}  // namespace lodestone::physics::linalg::multigrid
