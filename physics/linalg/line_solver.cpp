// SPDX-License-Identifier: Apache-2.0
// Symbols: D_i the block of line i, C_i its coupling to line i + 1, S_0 = D_0, S_{i+1} = D_{i+1} − C_iᵀ S_i⁻¹ C_i; the factors are the S_i⁻¹.
// The coupling of two lines of a quadrilateral mesh is tridiagonal, so products with it are cheap and the dense work is S_i⁻¹ and its products.
#include "engine/core/error.hpp"
#include "physics/linalg/line_blocks.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::physics::linalg {

namespace {

using Eigen::MatrixXcd;

class LineFactorisation final : public Factorisation {
 public:
  LineFactorisation(std::vector<MatrixXcd> inverses, std::vector<std::vector<Coupling>> couplings)
      : Factorisation(static_cast<int>(inverses.size() * inverses.front().rows()),
                      static_cast<double>(inverses.size()) * static_cast<double>(inverses.front().size()),
                      8.0 * static_cast<double>(inverses.size()) * static_cast<double>(inverses.front().size()) *
                          static_cast<double>(inverses.front().rows())),
        inverses_(std::move(inverses)),
        couplings_(std::move(couplings)) {}

 private:
  MatrixXcd do_solve(const Eigen::Ref<const MatrixXcd>& right_hand_sides) const override {
    const auto n_lines = static_cast<int>(inverses_.size());
    const auto m = static_cast<int>(inverses_.front().rows()), n = m * n_lines, k = static_cast<int>(right_hand_sides.cols());
    MatrixXcd reduced = right_hand_sides, x(n, k), coupled(n, k);
    for (int line = 0; line < n_lines; ++line) {  // x_i = S_i⁻¹ z_i, z_{i+1} −= C_iᵀ x_i
      multiply("N", inverses_[line], reduced.data() + line * m, {x.data() + line * m, n}, k, 1.0, 0.0);
      if (line + 1 == n_lines) break;
      for (int j = 0; j < k; ++j) {
        const Complex* from = x.data() + static_cast<Eigen::Index>(j) * n + line * m;
        Complex* to = reduced.data() + static_cast<Eigen::Index>(j) * n + (line + 1) * m;
        for (const auto& [row, column, value] : couplings_[line]) to[column] -= value * from[row];
      }
    }
    for (int line = n_lines - 2; line >= 0; --line) {  // x_i −= S_i⁻¹ C_i x_{i+1}
      for (int j = 0; j < k; ++j) {
        const Complex* from = x.data() + static_cast<Eigen::Index>(j) * n + (line + 1) * m;
        Complex* to = coupled.data() + static_cast<Eigen::Index>(j) * n + line * m;
        std::fill_n(to, m, Complex(0.0));
        for (const auto& [row, column, value] : couplings_[line]) to[row] += value * from[column];
      }
      multiply("N", inverses_[line], coupled.data() + line * m, {x.data() + line * m, n}, k, -1.0, 1.0);
    }
    return x;
  }

  std::vector<MatrixXcd> inverses_;
  std::vector<std::vector<Coupling>> couplings_;
};

class LineSolver final : public SymmetricSolver {
 public:
  LineSolver(SparsityPattern given, int line_size) : SymmetricSolver(std::move(given)), m_(line_size) {
    const auto& [row_start, column] = pattern();
    if (m_ < 1 || pattern().size() % m_ != 0) {
      throw core::InvalidArgument("linalg::LineSolver", "expected a multiple of the line size {} unknowns, got {}", m_, pattern().size());
    }
    for (int row = 0; row < pattern().size(); ++row) {
      for (int p = row_start[row]; p < row_start[row + 1]; ++p) {
        if (std::abs(column[p] / m_ - row / m_) > 1) {
          throw core::InvalidArgument("linalg::LineSolver",
                                      "unknowns {} and {} couple lines that are not neighbours; number the mesh line by line", row,
                                      column[p]);
        }
      }
    }
  }

 private:
  std::unique_ptr<Factorisation> do_factorise(std::span<const Complex> values) const override {
    const int n_lines = pattern().size() / m_;
    std::vector<MatrixXcd> inverses;
    std::vector<std::vector<Coupling>> couplings(n_lines);
    for (int line = 0; line < n_lines; ++line) {
      MatrixXcd& schur = inverses.emplace_back(MatrixXcd::Zero(m_, m_));
      read_line(values, line, schur, couplings[line]);
      if (line > 0) subtract_previous(inverses[line - 1], couplings[line - 1], schur);
      invert_in_place(schur, line);
    }
    return std::make_unique<LineFactorisation>(std::move(inverses), std::move(couplings));
  }

  void read_line(std::span<const Complex> values, int line, MatrixXcd& block, std::vector<Coupling>& coupling) const {
    const auto& [row_start, column] = pattern();
    const int first = line * m_;
    for (int row = 0; row < m_; ++row) {
      for (int p = row_start[first + row]; p < row_start[first + row + 1]; ++p) {
        const int other = column[p] - first;
        if (other >= m_) {
          coupling.push_back({row, other - m_, values[p]});
        } else if (other >= 0) {
          block(row, other) = values[p];
        }
      }
    }
  }

  /// schur ← schur − Cᵀ S⁻¹ C.
  void subtract_previous(const MatrixXcd& inverse, const std::vector<Coupling>& coupling, MatrixXcd& schur) const {
    MatrixXcd right = MatrixXcd::Zero(m_, m_);
    for (const auto& [row, column, value] : coupling) right.col(column).noalias() += value * inverse.col(row);
    subtract_transposed(coupling, right, schur);
  }

  int m_;
};

}  // namespace

std::unique_ptr<SymmetricSolver> make_line_solver(SparsityPattern pattern, int line_size) {
  return std::make_unique<LineSolver>(std::move(pattern), line_size);
}

}  // namespace lodestone::physics::linalg
