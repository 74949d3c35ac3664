// SPDX-License-Identifier: Apache-2.0
// Symbols: D_i the block of line i, C_i its coupling to line i + 1, S_0 = D_0, S_{i+1} = D_{i+1} − C_iᵀ S_i⁻¹
// C_i; the factors are the S_i⁻¹. The coupling of two lines of a quadrilateral mesh is tridiagonal, so
// products with it are cheap and the dense work is S_i⁻¹ and its products.
#include "engine/core/error.hpp"
#include "physics/linalg/line_blocks.hpp"
#include "physics/linalg/split_block.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::physics::linalg {

namespace {

using Eigen::MatrixXcd;

class LineFactorization final : public Factorization {
 public:
  LineFactorization(std::vector<MatrixXcd> inverses, std::vector<std::vector<Coupling>> couplings)
      : Factorization(
            static_cast<int>(inverses.size() * inverses.front().rows()),
            static_cast<double>(inverses.size()) * static_cast<double>(inverses.front().size()),
            static_cast<double>(inverses.size()) * inverse_flops(static_cast<int>(inverses.front().rows()))),
        inverses_(std::move(inverses)),
        couplings_(std::move(couplings)) {}

 private:
  MatrixXcd do_solve(const Eigen::Ref<const MatrixXcd>& right_hand_sides) const override {
    return do_solve_rows(right_hand_sides.transpose()).transpose();
  }

  // Each row is a right-hand side, so a line is a run of whole columns; rows that no source has reached yet
  // are left out of the first sweep.
  MatrixXcd do_solve_rows(MatrixXcd z) const override {
    const auto n_lines = static_cast<int>(inverses_.size());
    const auto m = static_cast<int>(inverses_.front().rows()), k = static_cast<int>(z.rows());
    MatrixXcd x = MatrixXcd::Zero(k, z.cols());
    const auto line_of = [&](MatrixXcd& rows, int line) {
      return rows.data() + static_cast<Eigen::Index>(line) * m * k;
    };
    ReachedRows reached_rows(k);
    for (int line = 0; line < n_lines; ++line) {  // x_i = z_i S_i⁻¹, z_{i+1} −= x_i C_i
      const int reached = reached_rows.after(line_of(z, line), m);
      multiply_rows({line_of(z, line), k, reached}, "N", inverses_[line], 1.0, 0.0, line_of(x, line));
      if (line + 1 < n_lines)
        add_rows({line_of(x, line), k, reached}, couplings_[line], false, -1.0, line_of(z, line + 1));
    }
    for (int line = n_lines - 2; line >= 0; --line) {  // x_i −= (x_{i+1} C_iᵀ) S_i⁻¹
      std::fill_n(line_of(z, line), static_cast<std::size_t>(m) * k, Complex(0.0));
      add_rows({line_of(x, line + 1), k, k}, couplings_[line], true, 1.0, line_of(z, line));
      multiply_rows({line_of(z, line), k, k}, "N", inverses_[line], -1.0, 1.0, line_of(x, line));
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
      throw core::InvalidArgument("linalg::LineSolver#no_whole_lines",
                                  "expected a multiple of the line size {} unknowns, got {}", m_,
                                  pattern().size());
    }
    for (int row = 0; row < pattern().size(); ++row) {
      for (int p = row_start[row]; p < row_start[row + 1]; ++p) {
        if (std::abs(column[p] / m_ - row / m_) > 1) {
          throw core::InvalidArgument(
              "linalg::LineSolver#coupled_too_far",
              "unknowns {} and {} couple lines that are not neighbours; number the mesh line by line", row,
              column[p]);
        }
      }
    }
  }

 private:
  std::unique_ptr<Factorization> do_factorize(std::span<const Complex> values) const override {
    const int n_lines = pattern().size() / m_;
    std::vector<MatrixXcd> inverses;
    std::vector<std::vector<Coupling>> couplings(n_lines);
    SplitBlock schur(m_), before(m_);
    for (int line = 0; line < n_lines; ++line) {
      schur.set_zero();
      read_line(values, line, schur, couplings[line]);
      if (line > 0) schur.subtract_sandwich(before, couplings[line - 1]);
      invert_in_place(schur, inverses.emplace_back(), line);
      std::swap(schur, before);
    }
    return std::make_unique<LineFactorization>(std::move(inverses), std::move(couplings));
  }

  void read_line(std::span<const Complex> values, int line, SplitBlock& block,
                 std::vector<Coupling>& coupling) const {
    const auto& [row_start, column] = pattern();
    const int first = line * m_;
    coupling.reserve(3 * static_cast<std::size_t>(m_));
    for (int row = 0; row < m_; ++row) {
      for (int p = row_start[first + row]; p < row_start[first + row + 1]; ++p) {
        const int other = column[p] - first;
        if (other >= m_) {
          coupling.push_back({row, other - m_, values[p]});
        } else if (other >= 0) {
          block.set(row, other, values[p]);
        }
      }
    }
  }

  int m_;
};

}  // namespace

std::unique_ptr<SymmetricSolver> make_line_solver(SparsityPattern pattern, int line_size) {
  return std::make_unique<LineSolver>(std::move(pattern), line_size);
}

}  // namespace lodestone::physics::linalg
