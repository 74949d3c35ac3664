// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/dense.hpp"

#include "engine/core/blas_setup.hpp"
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// Fortran interfaces, so that any BLAS and LAPACK will do.
extern "C" {
void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
void dtrsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* n_rhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
}

namespace lodestone::inversion::optimize::lapack {

Eigen::MatrixXd transposed_product(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b) {
  core::prepare_blas();
  Eigen::MatrixXd c = Eigen::MatrixXd::Zero(a.cols(), b.cols());
  const int m = static_cast<int>(a.cols()), n = static_cast<int>(b.cols()), k = static_cast<int>(a.rows());
  const int lda = static_cast<int>(a.outerStride()), ldb = static_cast<int>(b.outerStride()), ldc = m;
  const double one = 1.0, zero = 0.0;
  dgemm_("T", "N", &m, &n, &k, &one, a.data(), &lda, b.data(), &ldb, &zero, c.data(), &ldc);
  return c;
}

Eigen::MatrixXd lower_gram(const core::ConstMatrixRef& a) {
  core::prepare_blas();
  Eigen::MatrixXd c = Eigen::MatrixXd::Zero(a.cols(), a.cols());
  const int n = static_cast<int>(a.cols()), k = static_cast<int>(a.rows()),
            lda = static_cast<int>(a.outerStride());
  const double one = 1.0, zero = 0.0;
  dsyrk_("L", "T", &n, &k, &one, a.data(), &lda, &zero, c.data(), &n);
  return c;
}

namespace {

/// A square matrix cut into tiles; L_ij is the tile in row i and column j.
class TiledMatrix {
 public:
  explicit TiledMatrix(Eigen::MatrixXd& matrix)
      : data_(matrix.data()), size_(static_cast<int>(matrix.rows())) {}
  [[nodiscard]] int n_tiles() const { return (size_ + tile_size - 1) / tile_size; }

  /// Computes L_kk; false when it is not positive definite.
  [[nodiscard]] bool factorize(int k) const {
    const int n = width(k);
    int info = 0;
    dpotrf_("L", &n, tile(k, k), &size_, &info);
    return info == 0;
  }
  /// Computes A_ik → L_ik.
  void divide(int i, int k) const {
    const int m = width(i), n = width(k);
    dtrsm_("R", "L", "T", "N", &m, &n, &one, tile(k, k), &size_, tile(i, k), &size_);
  }
  /// Computes A_ij −= L_ik L_jkᵀ.
  void subtract(int i, int j, int k) const {
    const int m = width(i), n = width(j), depth = width(k);
    if (i == j) {
      dsyrk_("L", "N", &m, &depth, &minus_one, tile(i, k), &size_, &one, tile(i, i), &size_);
    } else {
      dgemm_("N", "T", &m, &n, &depth, &minus_one, tile(i, k), &size_, tile(j, k), &size_, &one, tile(i, j),
             &size_);
    }
  }

 private:
  static constexpr int tile_size = 256;
  static constexpr double one = 1.0, minus_one = -1.0;
  [[nodiscard]] int width(int i) const { return std::min(tile_size, size_ - i * tile_size); }
  [[nodiscard]] double* tile(int i, int j) const {
    return data_ + i * tile_size + static_cast<Eigen::Index>(j) * tile_size * size_;
  }
  double* data_;
  int size_;
};

}  // namespace

bool factorize(Eigen::MatrixXd& lower) {
  core::prepare_blas();
  const TiledMatrix matrix(lower);
  const int n = matrix.n_tiles();
  std::vector<std::pair<int, int>>
      behind;  // tiles of the lower triangle, the last column first: those behind column k are the first ones
  for (int j = n - 1; j >= 0; --j) {
    for (int i = j; i < n; ++i) behind.emplace_back(i, j);
  }
  for (int k = 0; k < n; ++k) {
    if (!matrix.factorize(k)) return false;
    core::parallel_for(n - k - 1, [&](std::ptrdiff_t i) { matrix.divide(k + 1 + static_cast<int>(i), k); });
    core::parallel_for((n - k - 1) * (n - k) / 2, [&](std::ptrdiff_t t) {
      const auto& [i, j] = behind[static_cast<std::size_t>(t)];
      matrix.subtract(i, j, k);
    });
  }
  return true;
}

namespace {

Eigen::MatrixXd divided(const Eigen::MatrixXd& factor, Eigen::MatrixXd b, const char* transposed) {
  core::prepare_blas();
  const int n = static_cast<int>(factor.rows()), n_columns = static_cast<int>(b.cols());
  const double one = 1.0;
  dtrsm_("L", "L", transposed, "N", &n, &n_columns, &one, factor.data(), &n, b.data(), &n);
  return b;
}

}  // namespace

Eigen::MatrixXd divide_lower(const Eigen::MatrixXd& factor, Eigen::MatrixXd b) {
  return divided(factor, std::move(b), "N");
}
Eigen::MatrixXd divide_lower_transposed(const Eigen::MatrixXd& factor, Eigen::MatrixXd b) {
  return divided(factor, std::move(b), "T");
}

Eigen::VectorXd solve(const Eigen::MatrixXd& factor, Eigen::VectorXd b) {
  const int n = static_cast<int>(factor.rows()), n_rhs = 1;
  int info = 0;
  dpotrs_("L", &n, &n_rhs, factor.data(), &n, b.data(), &n, &info);
  return b;
}

}  // namespace lodestone::inversion::optimize::lapack

namespace lodestone::inversion::optimize {
namespace {

/// Calls work(tile index, row block, column block) for the tiles of the lower triangle.
template <class Work>
void for_each_tile(const std::vector<ColumnBlock>& blocks, Work&& work) {
  int tile = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) work(tile++, blocks[i], blocks[j]);
  }
}

}  // namespace

std::vector<ColumnBlock> column_blocks(Eigen::Index n_columns, int n_ranks) {
  constexpr Eigen::Index block_size = 256;
  std::vector<ColumnBlock> blocks;
  for (Eigen::Index first = 0; first < n_columns; first += block_size)
    blocks.push_back(
        {first, std::min(block_size, n_columns - first), static_cast<int>(blocks.size()) % n_ranks});
  return blocks;
}

Eigen::MatrixXd shared_blocks(
    const core::Team& team, Eigen::Index n_rows, Eigen::Index n_columns,
    const std::function<Eigen::MatrixXd(Eigen::Index first, Eigen::Index size)>& work) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(n_rows, n_columns);
  std::vector<int> owner;
  std::vector<ColumnBlock> mine;
  for (const ColumnBlock& block : column_blocks(n_columns, team.size())) {
    owner.insert(owner.end(), static_cast<std::size_t>(block.size), block.owner);
    if (block.owner == team.rank()) mine.push_back(block);
  }
  core::Worded failure;
  try {
    core::parallel_for(std::ssize(mine), [&](std::ptrdiff_t i) {
      const ColumnBlock& block = mine[static_cast<std::size_t>(i)];
      result.middleCols(block.first, block.size) = work(block.first, block.size);
    });
  } catch (const core::SolverError& error) {
    failure = core::worded(error);
  }
  team.throw_together(failure);
  team.share_columns(owner, result);
  return result;
}

Eigen::MatrixXd shared_gram(const core::Team& team, const Eigen::MatrixXd& a) {
  const core::ScopedTimer timer("inversion/gram");
  const auto blocks = column_blocks(a.cols(), team.size());
  std::vector<std::pair<ColumnBlock, ColumnBlock>> tiles;  // of this rank
  for_each_tile(blocks, [&](int tile, const ColumnBlock& i, const ColumnBlock& j) {
    if (tile % team.size() == team.rank()) tiles.emplace_back(i, j);
  });
  std::vector<Eigen::MatrixXd> mine(tiles.size());
  core::parallel_for(std::ssize(tiles), [&](std::ptrdiff_t tile) {
    const auto& [i, j] = tiles[static_cast<std::size_t>(tile)];
    Eigen::MatrixXd& product = mine[static_cast<std::size_t>(tile)];
    const auto rows = a.middleCols(i.first, i.size), columns = a.middleCols(j.first, j.size);
    product = i.first == j.first ? lapack::lower_gram(rows) : lapack::transposed_product(rows, columns);
    const auto products = static_cast<double>(a.rows()) * static_cast<double>(product.size());
    core::TimerTotals::global().add_work("inversion/gram", (i.first == j.first ? 1.0 : 2.0) * products, 0.0);
  });
  Eigen::MatrixXd gram;
  if (team.rank() == 0) gram = Eigen::MatrixXd::Zero(a.cols(), a.cols());
  auto next = mine.begin();
  for_each_tile(blocks, [&](int tile, const ColumnBlock& i, const ColumnBlock& j) {
    const int owner = tile % team.size();
    Eigen::MatrixXd received;
    if (team.rank() == 0 && owner != 0) received.resize(i.size, j.size);
    Eigen::MatrixXd& values = owner == team.rank() ? *next++ : received;
    team.to_root(values, owner);
    if (team.rank() == 0) gram.block(i.first, j.first, i.size, j.size) = values;
  });
  return gram;
}

}  // namespace lodestone::inversion::optimize
