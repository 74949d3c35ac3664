// SPDX-License-Identifier: Apache-2.0
// Unknowns of a node in their order: the edges before and after it along x, before and after it along y, and
// its potential. Factors of a vector of nodes: per unknown the inverse pivot and five rows of L, each real
// and imaginary.
#include "physics/linalg/multigrid/smoother.hpp"

#include "engine/core/parallel.hpp"

#include <array>

namespace lodestone::physics::linalg::multigrid {

namespace {

constexpr int n_unknowns = 5;                      // of a node
constexpr int row_numbers = 2 * (n_unknowns + 1);  // of an unknown in the factors
constexpr int node_numbers = n_unknowns * row_numbers;
enum Unknown : int { x_before, x_after, y_before, y_after, potential };

/// A row of the block matrix: the diagonal and the five entries before it.
template <class T>
struct BandRow {
  Vector<T> re[n_unknowns + 1]{}, im[n_unknowns + 1]{};
};

/// The numbers that all rows of a node share.
template <class T, bool relief>
struct NodeEntries {
  RowCoefficients<T> w;
  FaceEntries<T, relief> entry;
  Vector<T> x_before_mass, x_after_mass, y_before_mass, y_after_mass, z_above_mass, z_below_mass;

  [[gnu::always_inline]] NodeEntries(const Level<T>& level, int k, int j, int parity, std::ptrdiff_t at)
      : w(level, k, j),
        entry(level, w, k, j, parity, at),
        x_before_mass(load(level.mass(along_x, k, j, 1 - parity) + at - 1 + parity)),
        x_after_mass(load(level.mass(along_x, k, j, parity) + at)),
        y_before_mass(load(level.mass(along_y, k, j - 1, parity) + at)),
        y_after_mass(load(level.mass(along_y, k, j, parity) + at)),
        z_above_mass(load(level.mass(along_z, k - 1, j, parity) + at)),
        z_below_mass(load(level.mass(along_z, k, j, parity) + at)) {}

  /// Fills the row of an edge along x, beside the node on one side.
  [[gnu::always_inline]] void x_row(BandRow<T>& row, bool before, const Vector<T>& mass) const {
    row.re[0] =
        (entry.y(false, before) + entry.y(true, before)) + (entry.z(false, before) + entry.z(true, before));
    row.im[0] = mass;
    row.re[5] = -entry.y(true, before);
  }
  [[gnu::always_inline]] void y_row(BandRow<T>& row, bool back, const Vector<T>& mass) const {
    row.re[0] = (entry.x(false, back) + entry.x(true, back)) + (entry.z(back, false) + entry.z(back, true));
    row.im[0] = mass;
    row.re[5] = -entry.x(true, back);
  }
  [[gnu::always_inline]] BandRow<T> row(int unknown) const {
    BandRow<T> row;
    if (unknown == x_before) x_row(row, true, x_before_mass);
    if (unknown == x_after) x_row(row, false, x_after_mass);
    if (unknown == y_before) {
      y_row(row, true, y_before_mass);
      row.re[1] = entry.z(true, false);
      row.re[2] = -entry.z(true, true);
    }
    if (unknown == y_after) {
      y_row(row, false, y_after_mass);
      row.re[2] = -entry.z(false, false);
      row.re[3] = entry.z(false, true);
    }
    if (unknown == potential) {
      row.im[0] = x_before_mass + x_after_mass + y_before_mass + y_after_mass + z_above_mass + z_below_mass;
      row.im[1] = -y_after_mass;
      row.im[2] = y_before_mass;
      row.im[3] = -x_after_mass;
      row.im[4] = x_before_mass;
      row.im[5] = -z_above_mass;
    }
    return row;
  }
  /// Returns the row of the vertical edge below this node, the lowest one.
  [[gnu::always_inline]] BandRow<T> vertical_row() const {
    BandRow<T> row;
    row.re[0] =
        (entry.x(false, false) + entry.x(false, true)) + (entry.y(false, false) + entry.y(false, true));
    row.im[0] = z_below_mass;
    row.im[1] = -z_below_mass;
    row.re[2] = -entry.x(false, false);
    row.re[3] = entry.x(false, true);
    row.re[4] = -entry.y(false, false);
    row.re[5] = entry.y(false, true);
    return row;
  }
};

/// L D Lᵀ row by row, with the last six rows at hand.
template <class T>
class BandFactors {
 public:
  /// Eliminates row u and writes it. Outside the mask (0) everything becomes zero.
  [[gnu::always_inline]] void eliminate(int u, const BandRow<T>& row, const Vector<T>& mask, T* to) {
    constexpr int W = Lanes<T>::width;
    ComplexLanes<T> scaled[6], pivot{row.re[0], row.im[0]};
    const int here = u % 6;
    for (int d = n_unknowns; d >= 1; --d) {
      ComplexLanes<T> entry{row.re[d], row.im[d]};
      for (int e = n_unknowns; e > d; --e) subtract_product(entry, scaled[e], lower_[(u - d + 6) % 6][e - d]);
      scaled[d] = entry;
      lower_[here][d] = product(entry, inverse_pivot_[(u - d + 6) % 6]);
      subtract_product(pivot, entry, lower_[here][d]);
    }
    inverse_pivot_[here] = inverse_of(pivot, mask);
    store_complex(to, W, inverse_pivot_[here]);
    for (int d = 1; d <= n_unknowns; ++d) {
      lower_[here][d].re *= mask;
      lower_[here][d].im *= mask;
      store_complex(to + 2 * d * W, W, lower_[here][d]);
    }
  }

 private:
  /// Scales first: the square of a pivot in air is no number of single precision.
  [[gnu::always_inline]] static ComplexLanes<T> inverse_of(const ComplexLanes<T>& pivot,
                                                           const Vector<T>& mask) {
    const Vector<T> re = pivot.re < T(0) ? -pivot.re : pivot.re, im = pivot.im < T(0) ? -pivot.im : pivot.im;
    const Vector<T> one = Vector<T>{} + T(1), scale = one / ((re > im ? re : im) * mask + (one - mask));
    const Vector<T> a = pivot.re * scale, b = pivot.im * scale;
    const Vector<T> inverse = mask * scale / ((a * a + b * b) * mask + (one - mask));
    return {a * inverse, -b * inverse};
  }

  ComplexLanes<T> lower_[6][6]{}, inverse_pivot_[6]{};
};

template <bool relief, class T>
[[gnu::always_inline]] inline void factorize_lanes(ColumnSmoother<T>& smoother, int j) {
  const Level<T>& level = smoother.level();
  const int nz = level.layout().nz;
  constexpr int W = Lanes<T>::width;
  for (int parity = 0; parity < 2; ++parity) {
    for (std::ptrdiff_t at = 0; at < level.layout().half; at += W) {
      const Vector<T> mask = load(level.x().node_mask[parity].data() + at);
      BandFactors<T> band;
      for (int k = 1; k < nz; ++k) {
        const NodeEntries<T, relief> node(level, k, j, parity, at);
        T* to = smoother.factors(j, parity, k) + at * node_numbers;
        for (int c = 0; c < n_unknowns; ++c) {
          BandRow<T> row = node.row(c);
          if (k == 1) row.re[5] = row.im[5] = Vector<T>{};
          band.eliminate(n_unknowns * (k - 1) + c + 6, row, mask, to + c * row_numbers * W);
        }
      }
      const NodeEntries<T, relief> lowest(level, nz - 1, j, parity, at);
      band.eliminate(n_unknowns * (nz - 1) + 6, lowest.vertical_row(), mask,
                     smoother.factors(j, parity, nz) + at * node_numbers);
    }
  }
}

/// Relaxes the columns of one slab and parity. Curls of the faces around each node are made once and handed
/// down the column.
template <class T, bool relief>
class SlabRelaxation {
 public:
  [[gnu::always_inline]] SlabRelaxation(const ColumnSmoother<T>& smoother, int j, int parity, const T* b,
                                        T* x, T* scratch)
      : smoother_(smoother),
        level_(smoother.level()),
        layout_(level_.layout()),
        j_(j),
        parity_(parity),
        b_(b),
        x_(x),
        partial_(scratch),
        above_(scratch + layout_.nz * n_unknowns * 2 * layout_.half) {}

  [[gnu::always_inline]] void run() {
    for (int k = 0; k <= layout_.nz; ++k) {
      for (std::ptrdiff_t at = 0; at < layout_.half; at += W) {
        if (k == layout_.nz) {
          eliminate_vertical(at);
        } else {
          eliminate_node(k, at);
        }
      }
    }
    for (int k = layout_.nz; k >= 1; --k) {
      for (std::ptrdiff_t at = 0; at < layout_.half; at += W) substitute(k, at);
    }
  }

 private:
  static constexpr int W = Lanes<T>::width;
  static constexpr std::ptrdiff_t step = 2 * W;  ///< from an unknown to the next in the scratch
  /// Curls of the faces below a node that its five unknowns see, and the current down its vertical edge.
  enum Below : int { y_after_x, y_before_x, x_after_y, x_before_y, current };
  using Parts = Vector<T>[n_unknowns][2];

  [[gnu::always_inline]] std::ptrdiff_t here(std::ptrdiff_t at) const { return parity_ * layout_.half + at; }
  [[gnu::always_inline]] std::ptrdiff_t before(std::ptrdiff_t at) const {
    return (1 - parity_) * layout_.half + at - 1 + parity_;
  }
  [[gnu::always_inline]] T* partial(int k, std::ptrdiff_t at) const {
    return partial_ + (k - 1) * n_unknowns * 2 * layout_.half + at * n_unknowns * 2;
  }
  [[gnu::always_inline]] T* above(std::ptrdiff_t at) const { return above_ + at * n_unknowns * 2; }
  /// Places of the five unknowns of a node, counted from its row.
  [[gnu::always_inline]] std::array<std::ptrdiff_t, n_unknowns> places(std::ptrdiff_t at) const {
    const std::ptrdiff_t o = here(at), y = layout_.component();
    return {before(at), o, y - layout_.slab() + o, y + o, at_node * layout_.component() + o};
  }

  /// Takes what the node above left, and leaves that of this one. The last layer of nodes has none below.
  [[gnu::always_inline]] void curls_below(int k, std::ptrdiff_t at, int q,
                                          Vector<T> (&curl)[n_unknowns]) const {
    const std::ptrdiff_t o = here(at), l = before(at), n = l + 1;
    const std::ptrdiff_t y = layout_.component(), z = 2 * y, node = 3 * y, down = layout_.layer(),
                         side = layout_.slab();
    const T* x = x_ + layout_.row(0, k, j_) + q * layout_.part();
    const auto X = [x](std::ptrdiff_t place) __attribute__((always_inline)) { return load(x + place); };
    const RowCoefficients<T> w(level_, k, j_);
    const FaceEntries<T, relief> entry(level_, w, k, j_, parity_, at);
    curl[y_after_x] = entry.y(false, false) * ((X(down + o) - X(o)) - (X(z + n) - X(z + o)));
    curl[y_before_x] = entry.y(false, true) * ((X(down + l) - X(l)) - (X(z + o) - X(z + l)));
    curl[x_after_y] = entry.x(false, false) * ((X(z + side + o) - X(z + o)) - (X(y + down + o) - X(y + o)));
    curl[x_before_y] =
        entry.x(false, true) * ((X(z + o) - X(z - side + o)) - (X(y - side + down + o) - X(y - side + o)));
    curl[current] =
        load(level_.mass(along_z, k, j_, parity_) + at) * (X(z + o) + X(node + down + o) - X(node + o));
  }

  /// Adds K e of the four horizontal edges of a node, and M (e + Gφ) of all five unknowns.
  [[gnu::always_inline]] void terms_of_node(int k, std::ptrdiff_t at, int q,
                                            const Vector<T> (&up)[n_unknowns],
                                            const Vector<T> (&below)[n_unknowns], Parts& curl,
                                            Parts& mass) const {
    const std::ptrdiff_t o = here(at), l = before(at), n = l + 1;
    const std::ptrdiff_t y = layout_.component(), node = 3 * y, side = layout_.slab();
    const T* x = x_ + layout_.row(0, k, j_) + q * layout_.part();
    const auto X = [x](std::ptrdiff_t place) __attribute__((always_inline)) { return load(x + place); };
    const RowCoefficients<T> w(level_, k, j_);
    const FaceEntries<T, relief> entry(level_, w, k, j_, parity_, at);
    const Vector<T> after_after = entry.z(false, false) * ((X(y + n) - X(y + o)) - (X(side + o) - X(o)));
    const Vector<T> before_after = entry.z(false, true) * ((X(y + o) - X(y + l)) - (X(side + l) - X(l)));
    const Vector<T> after_before =
        entry.z(true, false) * ((X(y - side + n) - X(y - side + o)) - (X(o) - X(o - side)));
    const Vector<T> before_before =
        entry.z(true, true) * ((X(y - side + o) - X(y - side + l)) - (X(l) - X(l - side)));
    curl[x_before][q] = before_after - before_before - (below[y_before_x] - up[y_before_x]);
    curl[x_after][q] = after_after - after_before - (below[y_after_x] - up[y_after_x]);
    curl[y_before][q] = (below[x_before_y] - up[x_before_y]) - after_before + before_before;
    curl[y_after][q] = (below[x_after_y] - up[x_after_y]) - after_after + before_after;
    const Vector<T> here_phi = X(node + o);
    mass[x_before][q] = load(level_.mass(along_x, k, j_, 0) + l) * (X(l) + here_phi - X(node + l));
    mass[x_after][q] = load(level_.mass(along_x, k, j_, 0) + o) * (X(o) + X(node + n) - here_phi);
    mass[y_before][q] = load(level_.mass(along_y, k, j_ - 1, parity_) + at) *
                        (X(y - side + o) + here_phi - X(node - side + o));
    mass[y_after][q] =
        load(level_.mass(along_y, k, j_, parity_) + at) * (X(y + o) + X(node + side + o) - here_phi);
    mass[potential][q] = mass[x_before][q] - mass[x_after][q] + mass[y_before][q] - mass[y_after][q] +
                         up[current] - below[current];
  }

  /// Makes the residual of the nodes of row k and eliminates them downwards.
  [[gnu::always_inline]] void eliminate_node(int k, std::ptrdiff_t at) const {
    Parts curl{}, mass{};
#pragma GCC unroll 2
    for (int q = 0; q < 2; ++q) {
      Vector<T> below[n_unknowns], up[n_unknowns];
      curls_below(k, at, q, below);
#pragma GCC unroll 5
      for (int s = 0; s < n_unknowns; ++s) {
        T* kept = above(at) + s * step + q * W;
        up[s] = load(kept);
        store(kept, below[s]);
      }
      if (k > 0) terms_of_node(k, at, q, up, below, curl, mass);
    }
    if (k == 0) return;
    ComplexLanes<T> solved[2 * n_unknowns];
    const T* before_node = partial(k - 1, at);
    if (k > 1) {
#pragma GCC unroll 5
      for (int c = 0; c < n_unknowns; ++c) solved[c] = load_complex(before_node + c * step, W);
    }
    const auto place = places(at);
    const T* b = b_ + layout_.row(0, k, j_);
    const T* factors = smoother_.factors(j_, parity_, k) + at * node_numbers;
#pragma GCC unroll 5
    for (int c = 0; c < n_unknowns; ++c) {
      ComplexLanes<T> s{load(b + place[c]) + mass[c][1] - curl[c][0],
                        load(b + place[c] + layout_.part()) - mass[c][0] - curl[c][1]};
#pragma GCC unroll 5
      for (int d = n_unknowns; d >= 1; --d)
        subtract_product(s, load_complex(factors + (c * row_numbers + 2 * d) * W, W),
                         solved[n_unknowns + c - d]);
      solved[n_unknowns + c] = s;
      store_complex(partial(k, at) + c * step, W, s);
    }
  }

  /// Eliminates the vertical edge of the lowest cell, seen from the row of nodes on the boundary below it.
  [[gnu::always_inline]] void eliminate_vertical(std::ptrdiff_t at) const {
    const int k = layout_.nz;
    const T* b = b_ + layout_.row(along_z, k - 1, j_) + here(at);
    Vector<T> up[n_unknowns][2];
#pragma GCC unroll 5
    for (int s = 0; s < n_unknowns; ++s) {
      for (int q = 0; q < 2; ++q) up[s][q] = load(above(at) + s * step + q * W);
    }
    const auto curl = [&up](int q) __attribute__((always_inline)) {
      return up[x_before_y][q] - up[x_after_y][q] + up[y_after_x][q] - up[y_before_x][q];
    };
    ComplexLanes<T> s{load(b) - curl(0) + up[current][1],
                      load(b + layout_.part()) - curl(1) - up[current][0]};
    const T* factors = smoother_.factors(j_, parity_, k) + at * node_numbers;
#pragma GCC unroll 5
    for (int d = 1; d <= n_unknowns; ++d)
      subtract_product(s, load_complex(factors + 2 * d * W, W),
                       load_complex(partial(k - 1, at) + (n_unknowns - d) * step, W));
    store_complex(partial(k, at), W, s);
  }

  [[gnu::always_inline]] void add(T* to, const ComplexLanes<T>& value) const {
    store(to, load(to) + value.re);
    store(to + layout_.part(), load(to + layout_.part()) + value.im);
  }

  /// Substitutes upwards and adds the corrections of the nodes of row k; the row below the last is the
  /// vertical edge alone.
  [[gnu::always_inline]] void substitute(int k, std::ptrdiff_t at) const {
    const T* factors = smoother_.factors(j_, parity_, k) + at * node_numbers;
    if (k == layout_.nz) {
      const ComplexLanes<T> s = product(load_complex(factors, W), load_complex(partial(k, at), W));
      store_complex(partial(k, at), W, s);
      add(x_ + layout_.row(along_z, k - 1, j_) + here(at), s);
      return;
    }
    const T* below = factors + node_numbers * layout_.half;
    const int n_below = k == layout_.nz - 1 ? 1 : n_unknowns;
    ComplexLanes<T> solved[2 * n_unknowns];
#pragma GCC unroll 5
    for (int c = 0; c < n_unknowns; ++c) {
      if (c < n_below) solved[n_unknowns + c] = load_complex(partial(k + 1, at) + c * step, W);
    }
    const auto place = places(at);
    T* x = x_ + layout_.row(0, k, j_);
#pragma GCC unroll 5
    for (int c = n_unknowns - 1; c >= 0; --c) {
      ComplexLanes<T> s =
          product(load_complex(factors + c * row_numbers * W, W), load_complex(partial(k, at) + c * step, W));
#pragma GCC unroll 5
      for (int d = n_unknowns; d >= 1; --d) {
        const int target = c + d;
        const T* lower = target < n_unknowns ? factors + (row_numbers * target + 2 * d) * W
                                             : below + (row_numbers * (target - n_unknowns) + 2 * d) * W;
        subtract_product(s, load_complex(lower, W), solved[target]);
      }
      solved[c] = s;
      store_complex(partial(k, at) + c * step, W, s);
      add(x + place[c], s);
    }
  }

  const ColumnSmoother<T>& smoother_;
  const Level<T>& level_;
  const Layout& layout_;
  int j_, parity_;
  const T* b_;
  T *x_, *partial_, *above_;
};

LODESTONE_LANE_CLONES void factorize_slab(ColumnSmoother<float>& smoother, int j) {
  if (smoother.level().has_faces())
    factorize_lanes<true>(smoother, j);
  else
    factorize_lanes<false>(smoother, j);
}
LODESTONE_LANE_CLONES void factorize_slab(ColumnSmoother<double>& smoother, int j) {
  if (smoother.level().has_faces())
    factorize_lanes<true>(smoother, j);
  else
    factorize_lanes<false>(smoother, j);
}

LODESTONE_LANE_CLONES
void relax(const ColumnSmoother<float>& smoother, int j, int parity, const float* b, float* x,
           float* scratch) {
  if (smoother.level().has_faces())
    SlabRelaxation<float, true>(smoother, j, parity, b, x, scratch).run();
  else
    SlabRelaxation<float, false>(smoother, j, parity, b, x, scratch).run();
}
LODESTONE_LANE_CLONES
void relax(const ColumnSmoother<double>& smoother, int j, int parity, const double* b, double* x,
           double* scratch) {
  if (smoother.level().has_faces())
    SlabRelaxation<double, true>(smoother, j, parity, b, x, scratch).run();
  else
    SlabRelaxation<double, false>(smoother, j, parity, b, x, scratch).run();
}

}  // namespace

template <class T>
std::ptrdiff_t ColumnSmoother<T>::factor_place(int j, int parity, int k) const {
  const Layout& layout = level_->layout();
  return ((static_cast<std::ptrdiff_t>(j - 1) * 2 + parity) * layout.nz + k - 1) * node_numbers * layout.half;
}

template <class T>
ColumnSmoother<T>::ColumnSmoother(const Level<T>& level)
    : level_(&level),
      factors_(static_cast<std::ptrdiff_t>(level.layout().ny - 1) * 2 * level.layout().nz * node_numbers *
               level.layout().half) {
  core::parallel_for(level.layout().ny - 1,
                     [this](std::ptrdiff_t j) { factorize_slab(*this, static_cast<int>(j) + 1); });
}

template <class T>
void ColumnSmoother<T>::sweep(Direction direction, const Field<T>& b, Field<T>& x,
                              std::vector<ColumnScratch<T>>& scratch) const {
  const bool forward = direction == Direction::forward;
  const int ny = level_->layout().ny;
  for (int colour = 0; colour < 2; ++colour) {
    const int first = (colour == 0) == forward ? 1 : 2;
    core::parallel_for((ny - first + 1) / 2, [&](std::ptrdiff_t index) {
      const int j = first + 2 * static_cast<int>(index);
      T* work = scratch[static_cast<std::size_t>(core::thread_index())].data();
      for (int part = 0; part < 2; ++part)
        relax(*this, j, forward ? part : 1 - part, b.data(), x.data(), work);
    });
  }
}

template class ColumnSmoother<float>;
template class ColumnSmoother<double>;

}  // namespace lodestone::physics::linalg::multigrid
