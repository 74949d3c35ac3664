// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/multigrid/krylov.hpp"

#include "engine/core/parallel.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <complex>
#include <functional>

namespace lodestone::physics::linalg::multigrid {

namespace {

using Complex = std::complex<double>;

constexpr int stagnation_window = 20;     // iterations
constexpr double slowest_factor = 0.9;    // mean of the window
constexpr double largest_growth = 100.0;  // of the residual over its least value
constexpr int gmres_size = 30;

/// Sums over the parts of rows: what a product of two pairs needs.
struct Sums {
  double re_re = 0.0, im_im = 0.0, re_im = 0.0, im_re = 0.0;
  [[nodiscard]] Complex bilinear() const { return {re_re - im_im, re_im + im_re}; }
  [[nodiscard]] Complex hermitian() const { return {re_re + im_im, re_im - im_re}; }  ///< sum of conj(a) b
};

LODESTONE_LANE_CLONES
void add_sums(const double* a, const double* b, std::ptrdiff_t part, Sums& sums) {
  constexpr int W = Lanes<double>::width;
  Vector<double> re_re{}, im_im{}, re_im{}, im_re{};
  for (std::ptrdiff_t i = 0; i < part; i += W) {
    const Vector<double> ar = load(a + i), ai = load(a + part + i), br = load(b + i), bi = load(b + part + i);
    re_re += ar * br;
    im_im += ai * bi;
    re_im += ar * bi;
    im_re += ai * br;
  }
  for (int i = 0; i < W; ++i) {
    sums.re_re += re_re[i];
    sums.im_im += im_im[i];
    sums.re_im += re_im[i];
    sums.im_re += im_re[i];
  }
}

/// Computes y ← a y + b x.
LODESTONE_LANE_CLONES
void combine_row(double* y, Complex a, const double* x, Complex b, std::ptrdiff_t part) {
  const double ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
  for (std::ptrdiff_t i = 0; i < part; i += Lanes<double>::width) {
    const Vector<double> u = load(y + i), v = load(y + part + i), p = load(x + i), q = load(x + part + i);
    store(y + i, Vector<double>(ar * u - ai * v + br * p - bi * q));
    store(y + part + i, Vector<double>(ar * v + ai * u + br * q + bi * p));
  }
}

/// Calls visit(slab, offset of its first row) in threads.
void for_each_slab(const Layout& layout, const std::function<void(int, std::ptrdiff_t)>& visit) {
  core::parallel_for(layout.ny + 1, [&](std::ptrdiff_t j) { visit(static_cast<int>(j), j * layout.slab()); });
}

/// Sums of two pairs over some components, slab by slab and then in their order.
Sums sums_of(const Layout& layout, const Field<double>& a, const Field<double>& b, int first, int last) {
  std::vector<Sums> of_slab(static_cast<std::size_t>(layout.ny) + 1);
  for_each_slab(layout, [&](int j, std::ptrdiff_t) {
    Sums sums;
    for (int k = 0; k <= layout.nz; ++k) {
      for (int c = first; c < last; ++c)
        add_sums(a.data() + layout.row(c, k, j), b.data() + layout.row(c, k, j), layout.part(), sums);
    }
    of_slab[static_cast<std::size_t>(j)] = sums;
  });
  Sums total;
  for (const Sums& sums : of_slab) {
    total.re_re += sums.re_re;
    total.im_im += sums.im_im;
    total.re_im += sums.re_im;
    total.im_re += sums.im_re;
  }
  return total;
}
Sums sums_of(const Layout& layout, const Field<double>& a, const Field<double>& b) {
  return sums_of(layout, a, b, along_x, n_components);
}
double edge_norm(const Layout& layout, const Field<double>& a) {
  return std::sqrt(sums_of(layout, a, a, along_x, at_node).hermitian().real());
}
double node_norm(const Layout& layout, const Field<double>& a) {
  return std::sqrt(sums_of(layout, a, a, at_node, n_components).hermitian().real());
}

/// Computes y ← a y + b x.
void combine(const Layout& layout, Field<double>& y, Complex a, const Field<double>& x, Complex b) {
  for_each_slab(layout, [&](int, std::ptrdiff_t at) {
    for (std::ptrdiff_t row = 0; row < layout.slab(); row += layout.component())
      combine_row(y.data() + at + row, a, x.data() + at + row, b, layout.part());
  });
}

/// Notices iterations that lead nowhere.
class Watch {
 public:
  [[nodiscard]] std::optional<Ending> after(double residual) {
    if (!std::isfinite(residual)) return Ending::broke_down;
    history_.push_back(residual);
    least_ = std::min(least_, residual);
    if (residual > largest_growth * least_) return Ending::stagnated;
    if (history_.size() <= stagnation_window) return {};
    const double before = history_[history_.size() - 1 - stagnation_window];
    if (residual > before * std::pow(slowest_factor, stagnation_window)) return Ending::stagnated;
    return {};
  }

 private:
  std::vector<double> history_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Iteration::Iteration(const PairOperator& op_in, const Field<double>& b_in)
    : op(op_in), b(b_in), x(op.layout()), r(b_in), b_norm_(edge_norm(op.layout(), b_in)) {}

void Iteration::renew() { op.residual(&b, x, r); }

ResidualSize Iteration::size() const {
  const double scale = op.divergence_scale(x), rho = node_norm(op.layout(), r);
  return {edge_norm(op.layout(), r) / b_norm_, rho > 0.0 ? rho / scale : 0.0};
}

bool Iteration::is_solved(const EdgeSolveOptions& options) const {
  if (!(edge_norm(op.layout(), r) <= options.tolerance * b_norm_)) return false;
  return size().divergence <= options.divergence_tolerance;
}

Ending conjugate_gradients(const Cycle& cycle, const EdgeSolveOptions& options, Iteration& state, int& n) {
  const Layout& layout = state.op.layout();
  Field<double> z(layout), p(layout), q(layout);  // q = −A p
  const auto work = cycle.make_work();
  Watch watch;
  Complex before{}, alpha{};
  for (int i = 0; i < options.max_iterations; ++i, ++n) {
    if (state.is_solved(options)) return Ending::converged;
    cycle.apply(state.r, z, *work);
    const Complex here = sums_of(layout, state.r, z).bilinear();
    // With r = r_before + α q the flexible β = (r − r_before)ᵀz / (r_beforeᵀz_before) is α qᵀz / before.
    const Complex beta = i == 0 ? 0.0 : alpha * sums_of(layout, q, z).bilinear() / before;
    combine(layout, p, beta, z, 1.0);
    state.op.residual(nullptr, p, q);
    before = here;
    alpha = -here / sums_of(layout, p, q).bilinear();
    if (!std::isfinite(alpha.real()) || !std::isfinite(alpha.imag())) return Ending::broke_down;
    combine(layout, state.x, 1.0, p, alpha);
    combine(layout, state.r, 1.0, q, alpha);
    if (const auto ending = watch.after(edge_norm(layout, state.r))) return ++n, *ending;
  }
  return state.is_solved(options) ? Ending::converged : Ending::stagnated;
}

namespace {

/// One run of flexible GMRES up to its restart; norms over edges and nodes together.
class GmresRun {
 public:
  GmresRun(const Cycle& cycle, Cycle::Work& work, Iteration& state)
      : cycle_(cycle), work_(work), state_(state), layout_(state.op.layout()) {
    basis_.push_back(state.r);
    norm_ = std::sqrt(sums_of(layout_, state.r, state.r).hermitian().real());
    scale(basis_.back(), 1.0 / norm_);
    hessenberg_ = Eigen::MatrixXcd::Zero(gmres_size + 1, gmres_size);
  }
  /// Adds one direction. → the share of the residual that is left.
  double extend() {
    const auto column = std::ssize(directions_);
    directions_.emplace_back(layout_);
    cycle_.apply(basis_.back(), directions_.back(), work_);
    Field<double> next(layout_);
    state_.op.residual(nullptr, directions_.back(), next);
    scale(next, -1.0);
    for (std::ptrdiff_t i = 0; i <= column; ++i) {
      const Complex h = sums_of(layout_, basis_[i], next).hermitian();
      hessenberg_(i, column) = h;
      combine(layout_, next, 1.0, basis_[i], -h);
    }
    const double norm = std::sqrt(sums_of(layout_, next, next).hermitian().real());
    hessenberg_(column + 1, column) = norm;
    scale(next, norm > 0.0 ? 1.0 / norm : 0.0);
    basis_.push_back(std::move(next));
    return least_residual();
  }
  /// Adds the best combination of the directions to the solution.
  void finish() {
    for (std::size_t i = 0; i < directions_.size(); ++i)
      combine(layout_, state_.x, 1.0, directions_[i], weights_[static_cast<Eigen::Index>(i)]);
    state_.renew();
  }

 private:
  void scale(Field<double>& field, double factor) { combine(layout_, field, factor, field, 0.0); }
  double least_residual() {
    const auto n = std::ssize(directions_);
    Eigen::VectorXcd target = Eigen::VectorXcd::Zero(n + 1);
    target[0] = norm_;
    const auto matrix = hessenberg_.topLeftCorner(n + 1, n);
    weights_ = matrix.colPivHouseholderQr().solve(target);
    return (target - matrix * weights_).norm() / norm_;
  }

  const Cycle& cycle_;
  Cycle::Work& work_;
  Iteration& state_;
  const Layout& layout_;
  std::vector<Field<double>> basis_, directions_;
  Eigen::MatrixXcd hessenberg_;
  Eigen::VectorXcd weights_;
  double norm_;
};

}  // namespace

namespace {

/// `slowest`: the share of the residual that a run up to the restart may leave.
Ending restarted_gmres(const Cycle& cycle, const EdgeSolveOptions& options, Iteration& state, int& n,
                       double slowest) {
  const auto work = cycle.make_work();
  for (int i = 0; i < options.max_iterations;) {
    state.renew();
    if (state.is_solved(options)) return Ending::converged;
    GmresRun run(cycle, *work, state);
    double left = 1.0;
    const ResidualSize before = state.size();
    const double wanted =
        0.3 * std::min(options.tolerance / before.edges, options.divergence_tolerance / before.divergence);
    for (int size = 0; size < gmres_size && i < options.max_iterations && left > wanted; ++size, ++i, ++n)
      left = run.extend();
    if (!std::isfinite(left)) return Ending::broke_down;
    run.finish();
    if (left > slowest) return Ending::stagnated;
  }
  return state.is_solved(options) ? Ending::converged : Ending::stagnated;
}

}  // namespace

Ending flexible_gmres(const Cycle& cycle, const EdgeSolveOptions& options, Iteration& state, int& n) {
  return restarted_gmres(cycle, options, state, n, std::pow(slowest_factor, stagnation_window));
}
Ending patient_gmres(const Cycle& cycle, const EdgeSolveOptions& options, Iteration& state, int& n) {
  constexpr double slowest_restart = 0.5;
  return restarted_gmres(cycle, options, state, n, slowest_restart);
}

}  // namespace lodestone::physics::linalg::multigrid
