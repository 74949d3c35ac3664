// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/multigrid/operator.hpp"

#include "engine/core/parallel.hpp"
#include "physics/fem/relief_operator.hpp"

#include <cmath>
#include <vector>

namespace lodestone::physics::linalg::multigrid {

namespace {

/// Σ m |u| of the six edges at the nodes of a slab, squared and summed.
double divergence_terms(const Level<double>& level, const Field<double>& x, int j) {
  const Layout& layout = level.layout();
  const auto current = [&](int c, int i, int k, int line, int di, int dk, int dj) {
    const double* u = x.data() + layout.place(i);
    const double* end = x.data() + layout.place(i + di);
    const std::ptrdiff_t edge = layout.row(c, k, line), from = layout.row(at_node, k, line),
                         to = layout.row(at_node, k + dk, line + dj), im = layout.part();
    const double real = u[edge] + end[to] - u[from], imaginary = u[edge + im] + end[to + im] - u[from + im];
    return level.mass(c, k, line, i & 1)[i / 2] * std::sqrt(real * real + imaginary * imaginary);
  };
  double sum = 0.0;
  for (int k = 1; k < layout.nz; ++k) {
    for (int i = 1; i < layout.nx; ++i) {
      const double at = current(along_x, i - 1, k, j, 1, 0, 0) + current(along_x, i, k, j, 1, 0, 0) +
                        current(along_y, i, k, j - 1, 0, 0, 1) + current(along_y, i, k, j, 0, 0, 1) +
                        current(along_z, i, k - 1, j, 0, 1, 0) + current(along_z, i, k, j, 0, 1, 0);
      sum += at * at;
    }
  }
  return sum;
}

double divergence_norm(const Level<double>& level, const Field<double>& x) {
  std::vector<double> of_slab(static_cast<std::size_t>(level.layout().ny) - 1);
  core::parallel_for(std::ssize(of_slab), [&](std::ptrdiff_t j) {
    of_slab[static_cast<std::size_t>(j)] = divergence_terms(level, x, static_cast<int>(j) + 1);
  });
  double sum = 0.0;
  for (const double slab : of_slab) sum += slab;
  return std::sqrt(sum);
}

class FlatOperator final : public PairOperator {
 public:
  explicit FlatOperator(const EdgeSystem& system)
      : PairOperator(*system.grid), level_(*system.grid, system.mass) {}
  void residual(const Field<double>* b, const Field<double>& x, Field<double>& r) const override {
    multigrid::residual(level_, b, x, r);
  }
  [[nodiscard]] double divergence_scale(const Field<double>& x) const override {
    return divergence_norm(level_, x);
  }
  [[nodiscard]] std::size_t bytes() const override { return level_.bytes(); }

 private:
  Level<double> level_;
};

class OperatorOnRelief final : public PairOperator {
 public:
  explicit OperatorOnRelief(const EdgeSystem& system) : PairOperator(*system.grid), system_(system) {}

  void residual(const Field<double>* b, const Field<double>& x, Field<double>& r) const override {
    const fem::EdgeGrid& grid = *system_.grid;
    const PairBlock pair = pair_of(x);
    const Eigen::VectorXcd current = Complex(0.0, 1.0) * mass_times(system_, circulation(grid, pair, 0));
    PairBlock result;
    result.edges = -(curl_curl(system_, pair.edges.col(0)) + current);
    result.nodes = -fem::gradient_transposed(grid, current);
    fem::clear_boundary_edges(grid, result.edges.col(0));
    fem::clear_boundary_nodes(grid, result.nodes.col(0));
    read_pair(grid, result, 0, r);
    if (b == nullptr) return;
    core::parallel_for(layout().ny + 1, [&](std::ptrdiff_t j) {
      const std::ptrdiff_t end = (j + 1) * layout().slab();
      for (std::ptrdiff_t i = j * layout().slab(); i < end; ++i) r.data()[i] += b->data()[i];
    });
  }
  [[nodiscard]] double divergence_scale(const Field<double>& x) const override {
    const fem::EdgeGrid& grid = *system_.grid;
    const Eigen::VectorXcd current = mass_times(system_, circulation(grid, pair_of(x), 0));
    Eigen::VectorXcd terms = fem::sum_at_nodes(grid, current.cwiseAbs());
    fem::clear_boundary_nodes(grid, terms);
    return terms.norm();
  }
  [[nodiscard]] std::size_t bytes() const override { return 0; }  // all of it belongs to the system

 private:
  using Complex = std::complex<double>;
  [[nodiscard]] PairBlock pair_of(const Field<double>& x) const {
    PairBlock pair(*system_.grid, 1);
    write_pair(*system_.grid, x, 0, pair);
    return pair;
  }
  const EdgeSystem& system_;
};

}  // namespace

std::unique_ptr<const PairOperator> make_pair_operator(const EdgeSystem& system) {
  if (system.relief != nullptr) return std::make_unique<const OperatorOnRelief>(system);
  return std::make_unique<const FlatOperator>(system);
}

}  // namespace lodestone::physics::linalg::multigrid
