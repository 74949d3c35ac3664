// SPDX-License-Identifier: Apache-2.0
// Symbols: lines 0, 2, 4 … are even (vertices of the cells), 1, 3 … odd (their middles). D the block of an odd line, C_l and C_r its couplings to the even
// lines beside it, W = D⁻¹ [C_l C_r]. Without the odd lines: A_i the block of an even line, K_i its coupling to the next, S_0 = A_0,
// X_i = S_i⁻¹ K_i, S_{i+1} = A_{i+1} − K_iᵀ X_i. D is banded, so the dense work is that of half the lines.
#include "engine/core/error.hpp"
#include "physics/linalg/line_blocks.hpp"

#include <algorithm>

extern "C" {
void zgbtrf_(const int* m, const int* n, const int* kl, const int* ku, std::complex<double>* ab, const int* ldab, int* pivots, int* info);
void zgbtrs_(const char* trans, const int* n, const int* kl, const int* ku, const int* nrhs, const std::complex<double>* ab,
             const int* ldab, const int* pivots, std::complex<double>* b, const int* ldb, int* info);
}

namespace lodestone::physics::linalg {

namespace {

using Eigen::MatrixXcd;

/// The block of an odd line, factorised as a band, and its couplings to the even lines on its left and right.
struct OddLine {
  int band = 0;
  MatrixXcd factors;  // LAPACK's band storage (3·band + 1, m)
  std::vector<int> pivots;
  std::vector<Coupling> left, right;

  void factorise(int line) {
    const int m = static_cast<int>(factors.cols()), rows = static_cast<int>(factors.rows());
    pivots.resize(m);
    int info = 0;
    zgbtrf_(&m, &m, &band, &band, factors.data(), &rows, pivots.data(), &info);
    if (info != 0)
      throw core::SolverError("linalg", "zero pivot in mesh line {} (LAPACK info {}); are all resistivities finite and positive?", line,
                              info);
  }
  void solve(MatrixXcd& b) const {
    const int m = static_cast<int>(factors.cols()), rows = static_cast<int>(factors.rows()), k = static_cast<int>(b.cols());
    int info = 0;
    zgbtrs_("N", &m, &band, &band, &k, factors.data(), &rows, pivots.data(), b.data(), &m, &info);
  }
};

MatrixXcd dense(const std::vector<Coupling>& coupling, Eigen::Index m) {
  MatrixXcd result = MatrixXcd::Zero(m, m);
  for (const auto& [row, column, value] : coupling) result(row, column) += value;
  return result;
}

/// An even line: S⁻¹ and X = S⁻¹ K (empty for the last).
struct EvenLine {
  MatrixXcd inverse, to_next;
};

class CondensedFactorisation final : public Factorisation {
 public:
  CondensedFactorisation(std::vector<EvenLine> even, std::vector<OddLine> odd, int m)
      : Factorisation(m * static_cast<int>(even.size() + odd.size()), 1.5 * static_cast<double>(even.size()) * m * m,
                      24.0 * static_cast<double>(even.size()) * m * m * m),
        even_(std::move(even)),
        odd_(std::move(odd)),
        m_(m) {}

 private:
  MatrixXcd do_solve(const Eigen::Ref<const MatrixXcd>& right_hand_sides) const override {
    const Eigen::Index k = right_hand_sides.cols(), n_even = std::ssize(even_);
    std::vector<MatrixXcd> z, y;  // of even lines; D⁻¹ z of odd lines
    for (Eigen::Index i = 0; i < n_even; ++i) z.emplace_back(right_hand_sides.middleRows(2 * i * m_, m_));
    for (Eigen::Index i = 0; i + 1 < n_even; ++i) {
      MatrixXcd& inner = y.emplace_back(right_hand_sides.middleRows((2 * i + 1) * m_, m_));
      odd_[i].solve(inner);
      subtract_transposed(odd_[i].left, inner, z[i]);
      subtract_transposed(odd_[i].right, inner, z[i + 1]);
    }
    for (Eigen::Index i = 0; i + 1 < n_even; ++i)
      multiply("T", even_[i].to_next, z[i].data(), z[i + 1].data(), static_cast<int>(k), -1.0, 1.0);
    MatrixXcd x(right_hand_sides.rows(), k);
    MatrixXcd next(m_, k), here(m_, k);
    for (Eigen::Index i = n_even - 1; i >= 0; --i) {
      multiply("N", even_[i].inverse, z[i].data(), here.data(), static_cast<int>(k), 1.0, 0.0);
      if (i + 1 < n_even) multiply("N", even_[i].to_next, next.data(), here.data(), static_cast<int>(k), -1.0, 1.0);
      x.middleRows(2 * i * m_, m_) = here;
      if (i + 1 < n_even) x.middleRows((2 * i + 1) * m_, m_) = inner_of(odd_[i], y[i], here, next);
      here.swap(next);
    }
    return x;
  }

  /// D⁻¹ z − D⁻¹ (C_l x_left + C_r x_right).
  [[nodiscard]] MatrixXcd inner_of(const OddLine& odd, const MatrixXcd& y, const MatrixXcd& left, const MatrixXcd& right) const {
    MatrixXcd coupled = MatrixXcd::Zero(m_, left.cols());
    for (Eigen::Index j = 0; j < left.cols(); ++j) {
      for (const auto& [row, column, value] : odd.left) coupled(row, j) += value * left(column, j);
      for (const auto& [row, column, value] : odd.right) coupled(row, j) += value * right(column, j);
    }
    odd.solve(coupled);
    return y - coupled;
  }

  std::vector<EvenLine> even_;
  std::vector<OddLine> odd_;
  int m_;
};

class CondensedSolver final : public SymmetricSolver {
 public:
  CondensedSolver(SparsityPattern given, int line_size) : SymmetricSolver(std::move(given)), m_(line_size) {
    const auto& [row_start, column] = pattern();
    const int n_lines = m_ > 0 ? pattern().size() / m_ : 0;
    if (m_ <= 0 || pattern().size() % m_ != 0 || n_lines % 2 == 0)
      throw core::InvalidArgument("linalg::make_condensed_line_solver", "expected an odd number of lines of {} unknowns, got {} unknowns",
                                  m_, pattern().size());
    for (int row = 0; row < pattern().size(); ++row) {
      const int line = row / m_, reach = line % 2 == 0 ? 2 : 1;
      for (int p = row_start[row]; p < row_start[row + 1]; ++p) {
        const int other = column[p] / m_;
        if (std::abs(other - line) > reach)
          throw core::InvalidArgument("linalg::make_condensed_line_solver",
                                      "unknown {} of line {} is coupled to line {}; expected {} lines on either side", row, line, other,
                                      reach);
        if (line % 2 == 1 && other == line) band_ = std::max(band_, std::abs(column[p] - row));
      }
    }
  }

 private:
  /// The matrix cut into lines.
  struct Blocks {
    std::vector<MatrixXcd> diagonal, coupling;  // even lines, and between them
    std::vector<OddLine> odd;
  };

  [[nodiscard]] Blocks read(std::span<const Complex> values) const {
    const auto& [row_start, column] = pattern();
    const int n_even = pattern().size() / m_ / 2 + 1;
    Blocks blocks;
    blocks.diagonal.assign(n_even, MatrixXcd::Zero(m_, m_));
    blocks.coupling.assign(n_even - 1, MatrixXcd::Zero(m_, m_));
    blocks.odd.resize(n_even - 1);
    for (OddLine& odd : blocks.odd) {
      odd.band = band_;
      odd.factors = MatrixXcd::Zero(3 * band_ + 1, m_);
    }
    for (int row = 0; row < pattern().size(); ++row) {
      const int line = row / m_, i = row % m_;
      for (int p = row_start[row]; p < row_start[row + 1]; ++p) {
        const int other = column[p] / m_, j = column[p] % m_;
        if (line % 2 == 1) {
          OddLine& odd = blocks.odd[line / 2];
          if (other == line) odd.factors(2 * band_ + i - j, j) = values[p];
          if (other < line) odd.left.push_back({i, j, values[p]});
          if (other > line) odd.right.push_back({i, j, values[p]});
        } else if (other == line) {
          blocks.diagonal[line / 2](i, j) = values[p];
        } else if (other == line + 2) {
          blocks.coupling[line / 2](i, j) = values[p];
        }
      }
    }
    return blocks;
  }

  std::unique_ptr<Factorisation> do_factorise(std::span<const Complex> values) const override {
    Blocks blocks = read(values);
    for (std::size_t i = 0; i < blocks.odd.size(); ++i) {
      OddLine& odd = blocks.odd[i];
      odd.factorise(static_cast<int>(2 * i + 1));
      MatrixXcd left = dense(odd.left, m_), right = dense(odd.right, m_);
      odd.solve(left);
      odd.solve(right);
      subtract_transposed(odd.left, left, blocks.diagonal[i]);
      subtract_transposed(odd.right, right, blocks.diagonal[i + 1]);
      subtract_transposed(odd.left, right, blocks.coupling[i]);
    }
    std::vector<EvenLine> even;
    for (std::size_t i = 0; i < blocks.diagonal.size(); ++i) {
      EvenLine line{std::move(blocks.diagonal[i]), {}};
      invert_in_place(line.inverse, static_cast<int>(2 * i));
      if (i < blocks.coupling.size()) {
        const MatrixXcd& coupling = blocks.coupling[i];
        line.to_next.resize(m_, m_);
        multiply("N", line.inverse, coupling.data(), line.to_next.data(), m_, 1.0, 0.0);
        multiply("T", coupling, line.to_next.data(), blocks.diagonal[i + 1].data(), m_, -1.0, 1.0);
      }
      even.push_back(std::move(line));
    }
    return std::make_unique<CondensedFactorisation>(std::move(even), std::move(blocks.odd), m_);
  }

  int m_, band_ = 0;
};

}  // namespace

std::unique_ptr<SymmetricSolver> make_condensed_line_solver(SparsityPattern pattern, int line_size) {
  return std::make_unique<CondensedSolver>(std::move(pattern), line_size);
}

}  // namespace lodestone::physics::linalg
