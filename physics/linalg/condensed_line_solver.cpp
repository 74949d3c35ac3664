// SPDX-License-Identifier: Apache-2.0
// Symbols: lines 0, 2, 4 … are even (vertices of the cells), 1, 3 … odd (their middles). D the block of an
// odd line, C_l and C_r its couplings to the even lines beside it. Without the odd lines: A_i the block of an
// even line, K_i its coupling to the next, S_0 = A_0, X_i = S_i⁻¹ K_i, S_{i+1} = A_{i+1} − K_iᵀ X_i. D is
// banded, so the dense work is that of half the lines. Right-hand sides are rows: z of even lines, y = z D⁻¹
// of odd ones.
#include "engine/core/error.hpp"
#include "physics/linalg/line_blocks.hpp"
#include "physics/linalg/symmetric_band.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::physics::linalg {

namespace {

using Eigen::MatrixXcd;

struct OddLine {
  SymmetricBand band;
  std::vector<Coupling> left, right;  ///< rows on this line, columns on the even line beside it
};

/// An even line: S⁻¹ and X = S⁻¹ K (empty for the last).
struct EvenLine {
  MatrixXcd inverse, to_next;
};

/// Returns Cᵀ D⁻¹.
MatrixXcd through(const std::vector<Coupling>& coupling, const SymmetricBand& band) {
  const int m = band.size();
  MatrixXcd result = MatrixXcd::Zero(m, m);
  for (const auto& [row, column, value] : coupling) result(column, row) += value;
  band.solve_rows(result.data(), m, m);
  return result;
}

class CondensedFactorization final : public Factorization {
 public:
  CondensedFactorization(std::vector<EvenLine> even, std::vector<OddLine> odd, int m)
      : Factorization(m * static_cast<int>(even.size() + odd.size()),
                      1.5 * static_cast<double>(even.size()) * m * m,
                      static_cast<double>(even.size()) * (inverse_flops(m) + 16.0 * m * m * m)),
        even_(std::move(even)),
        odd_(std::move(odd)),
        m_(m) {}

 private:
  MatrixXcd do_solve(const Eigen::Ref<const MatrixXcd>& right_hand_sides) const override {
    return do_solve_rows(right_hand_sides.transpose()).transpose();
  }

  MatrixXcd do_solve_rows(MatrixXcd z) const override {
    const int k = static_cast<int>(z.rows()), n_even = static_cast<int>(even_.size());
    const auto line_of = [&](int line) { return z.data() + static_cast<Eigen::Index>(line) * m_ * k; };
    ReachedRows reached_rows(k);
    MatrixXcd work(k, m_);
    for (int i = 0; i + 1 < n_even; ++i) {
      const auto& [band, left, right] = odd_[i];
      const int reached = reached_rows.after(line_of(2 * i), 2 * m_);
      std::copy_n(line_of(2 * i + 1), work.size(), work.data());
      band.solve_rows(work.data(), k, reached);
      add_rows({work.data(), k, reached}, left, false, -1.0, line_of(2 * i));
      add_rows({work.data(), k, reached}, right, false, -1.0, line_of(2 * i + 2));
      multiply_rows({line_of(2 * i), k, reached}, "N", even_[i].to_next, -1.0, 1.0, line_of(2 * i + 2));
    }
    for (int i = n_even - 1; i >= 0; --i) {  // x = z S⁻¹ − x_next Xᵀ
      multiply_rows({line_of(2 * i), k, k}, "N", even_[i].inverse, 1.0, 0.0, work.data());
      std::copy_n(work.data(), work.size(), line_of(2 * i));
      if (i + 1 == n_even) continue;
      multiply_rows({line_of(2 * i + 2), k, k}, "T", even_[i].to_next, -1.0, 1.0, line_of(2 * i));
      add_rows({line_of(2 * i), k, k}, odd_[i].left, true, -1.0, line_of(2 * i + 1));
      add_rows({line_of(2 * i + 2), k, k}, odd_[i].right, true, -1.0, line_of(2 * i + 1));
      odd_[i].band.solve_rows(line_of(2 * i + 1), k, k);
    }
    return z;
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
      throw core::InvalidArgument("linalg::make_condensed_line_solver#lines_not_odd",
                                  "expected an odd number of lines of {} unknowns, got {} unknowns", m_,
                                  pattern().size());
    for (int row = 0; row < pattern().size(); ++row) {
      const int line = row / m_, reach = line % 2 == 0 ? 2 : 1;
      for (int p = row_start[row]; p < row_start[row + 1]; ++p) {
        const int other = column[p] / m_;
        if (std::abs(other - line) > reach)
          throw core::InvalidArgument(
              "linalg::make_condensed_line_solver#coupled_too_far",
              "unknown {} of line {} is coupled to line {}; expected {} lines on either side", row, line,
              other, reach);
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
    blocks.odd.assign(n_even - 1, OddLine{SymmetricBand(m_, band_), {}, {}});
    for (int row = 0; row < pattern().size(); ++row) {
      const int line = row / m_, i = row % m_;
      for (int p = row_start[row]; p < row_start[row + 1]; ++p) {
        const int other = column[p] / m_, j = column[p] % m_;
        if (line % 2 == 1) {
          OddLine& odd = blocks.odd[line / 2];
          if (other == line && j <= i) odd.band.set(i, j, values[p]);
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

  std::unique_ptr<Factorization> do_factorize(std::span<const Complex> values) const override {
    Blocks blocks = read(values);
    for (std::size_t i = 0; i < blocks.odd.size(); ++i) {
      auto& [band, left, right] = blocks.odd[i];
      band.factorize(static_cast<int>(2 * i + 1));
      const MatrixXcd from_left = through(left, band), from_right = through(right, band);
      add_rows({from_left.data(), m_, m_}, left, false, -1.0, blocks.diagonal[i].data());
      add_rows({from_left.data(), m_, m_}, right, false, -1.0, blocks.coupling[i].data());
      add_rows({from_right.data(), m_, m_}, right, false, -1.0, blocks.diagonal[i + 1].data());
    }
    std::vector<EvenLine> even;
    for (std::size_t i = 0; i < blocks.diagonal.size(); ++i) {
      EvenLine line{std::move(blocks.diagonal[i]), {}};
      invert_in_place(line.inverse, static_cast<int>(2 * i));
      if (i < blocks.coupling.size()) {
        line.to_next.resize(m_, m_);
        multiply("N", line.inverse, blocks.coupling[i], 1.0, 0.0, line.to_next);
        multiply("T", blocks.coupling[i], line.to_next, -1.0, 1.0, blocks.diagonal[i + 1]);
      }
      even.push_back(std::move(line));
    }
    return std::make_unique<CondensedFactorization>(std::move(even), std::move(blocks.odd), m_);
  }

  int m_, band_ = 0;
};

}  // namespace

std::unique_ptr<SymmetricSolver> make_condensed_line_solver(SparsityPattern pattern, int line_size) {
  return std::make_unique<CondensedSolver>(std::move(pattern), line_size);
}

}  // namespace lodestone::physics::linalg
