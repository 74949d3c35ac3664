// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/regularization.hpp"

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/core/vector_clones.hpp"
#include "inversion/objective/root.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <cmath>
#include <utility>

namespace lodestone::inversion::objective {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;

constexpr int tile_width = 16;
using Tile = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic,
                           Eigen::RowMajor>;  ///< `tile_width` columns, or one

/// The diagonal stands first in each column of L.
template <int width>
[[gnu::always_inline]] inline void divide_lower(const SparseMatrix& l, double* x) {
  const int *begin = l.outerIndexPtr(), *row = l.innerIndexPtr();
  const double* value = l.valuePtr();
  for (Eigen::Index j = 0; j < l.cols(); ++j) {
    double* __restrict known = x + j * width;
    for (int k = 0; k < width; ++k) known[k] /= value[begin[j]];
    for (int p = begin[j] + 1; p < begin[j + 1]; ++p) {
      double* __restrict other = x + static_cast<Eigen::Index>(row[p]) * width;
      for (int k = 0; k < width; ++k) other[k] -= value[p] * known[k];
    }
  }
}

template <int width>
[[gnu::always_inline]] inline void divide_upper(const SparseMatrix& l, double* x) {
  const int *begin = l.outerIndexPtr(), *row = l.innerIndexPtr();
  const double* value = l.valuePtr();
  for (Eigen::Index j = l.cols(); j-- > 0;) {
    double* __restrict wanted = x + j * width;
    for (int p = begin[j] + 1; p < begin[j + 1]; ++p) {
      const double* __restrict known = x + static_cast<Eigen::Index>(row[p]) * width;
      for (int k = 0; k < width; ++k) wanted[k] -= value[p] * known[k];
    }
    for (int k = 0; k < width; ++k) wanted[k] /= value[begin[j]];
  }
}

/// Computes x ← L⁻¹ x.
LODESTONE_VECTOR_CLONES
void solve_lower(const SparseMatrix& l, Tile& x) {
  x.cols() == 1 ? divide_lower<1>(l, x.data()) : divide_lower<tile_width>(l, x.data());
}

/// Computes x ← L⁻ᵀ x.
LODESTONE_VECTOR_CLONES
void solve_upper(const SparseMatrix& l, Tile& x) {
  x.cols() == 1 ? divide_upper<1>(l, x.data()) : divide_upper<tile_width>(l, x.data());
}

/// A factorization that counts its numbers before it makes them.
class Cholesky final : public Eigen::SimplicialLLT<SparseMatrix> {
 public:
  /// Orders the unknowns and returns the numbers in L.
  double analyze(const SparseMatrix& matrix) {
    analyzePattern(matrix);
    return m_nonZerosPerCol.cast<double>().sum() + static_cast<double>(matrix.cols());
  }
};

/// RᵀR = Pᵀ L Lᵀ P, S = Pᵀ L⁻ᵀ. The triangular solves run over tiles of columns stored side by side, so that
/// one pass over L serves a whole tile.
class CholeskyRoot final : public Root {
 public:
  explicit CholeskyRoot(const SparseMatrix& inverse_covariance, Cholesky& cholesky) {
    cholesky.factorize(inverse_covariance);
    if (cholesky.info() != Eigen::Success)
      throw core::SolverError("inversion::Regularization#not_positive_definite",
                              "RᵀR is not positive definite: part of the model has no roughness; add "
                              "smallness or a reference weight");
    l_ = cholesky.matrixL().nestedExpression();
    position_ = cholesky.permutationP().indices();
    if (position_.size() == 0)
      position_ = Eigen::VectorXi::LinSpaced(l_.cols(), 0, static_cast<int>(l_.cols()) - 1);
  }

  Eigen::Index size() const override { return l_.cols(); }
  Eigen::MatrixXd apply(const core::ConstMatrixRef& b) const override {
    Eigen::MatrixXd result(b.rows(), b.cols());
    for_each_tile(b.cols(), [&](Eigen::Index first, Eigen::Index count, Tile& tile) {
      tile.leftCols(count) = b.middleCols(first, count);
      solve_upper(l_, tile);
      for (Eigen::Index i = 0; i < b.rows(); ++i)
        result.row(i).segment(first, count) = tile.row(position_[i]).head(count);
    });
    return result;
  }

  Eigen::MatrixXd apply_transposed(const core::ConstMatrixRef& b) const override {
    Eigen::MatrixXd result(b.rows(), b.cols());
    for_each_tile(b.cols(), [&](Eigen::Index first, Eigen::Index count, Tile& tile) {
      for (Eigen::Index i = 0; i < b.rows(); ++i)
        tile.row(position_[i]).head(count) = b.row(i).segment(first, count);
      solve_lower(l_, tile);
      result.middleCols(first, count) = tile.leftCols(count);
    });
    return result;
  }

  double flops_per_column() const override { return 2.0 * static_cast<double>(l_.nonZeros()); }

 private:
  template <class Work>
  void for_each_tile(Eigen::Index n_columns, Work&& work) const {
    Tile tile(l_.cols(), n_columns == 1 ? 1 : tile_width);
    for (Eigen::Index first = 0; first < n_columns; first += tile_width) {
      tile.setZero();
      work(first, std::min<Eigen::Index>(tile_width, n_columns - first), tile);
    }
  }

  SparseMatrix l_;
  Eigen::VectorXi position_;  // of each unknown in the order of L
};

/// A square R: S = R⁻¹ by its own LU factors.
class SquareRoot final : public Root {
 public:
  explicit SquareRoot(const SparseMatrix& roughness) {
    lu_.compute(roughness);
    if (lu_.info() != Eigen::Success)
      throw core::SolverError(
          "inversion::Regularization#singular",
          "the roughness operator is singular: part of the model has no roughness; add smallness");
  }
  Eigen::Index size() const override { return lu_.cols(); }
  Eigen::MatrixXd apply(const core::ConstMatrixRef& b) const override { return lu_.solve(b.eval()); }
  Eigen::MatrixXd apply_transposed(const core::ConstMatrixRef& b) const override {
    return transposed_.solve(b.eval());
  }
  double flops_per_column() const override { return 2.0 * static_cast<double>(lu_.nnzL() + lu_.nnzU()); }

 private:
  Eigen::SparseLU<SparseMatrix> lu_;
  decltype(std::declval<Eigen::SparseLU<SparseMatrix>&>().transpose()) transposed_ = lu_.transpose();
};

/// R as a product: S = R⁻¹ by a sweep through each factor.
class ProductRoot final : public Root {
 public:
  explicit ProductRoot(TriangularProduct product) : product_(std::move(product)) {}
  Eigen::Index size() const override { return product_.factors.front().lower.rows(); }
  Eigen::MatrixXd apply(const core::ConstMatrixRef& b) const override { return product_.solve(b); }
  Eigen::MatrixXd apply_transposed(const core::ConstMatrixRef& b) const override {
    return product_.solve_transposed(b);
  }
  double flops_per_column() const override { return 2.0 * static_cast<double>(product_.n_numbers()); }

 private:
  TriangularProduct product_;
};

/// R S has orthonormal columns, whatever the condition of R; rounding hides a singular operator from the
/// factorization itself, but not from this.
void check_root(const Root& root, const SparseMatrix& roughness) {
  const core::Philox random(1);
  const Eigen::VectorXd signs = Eigen::VectorXd::NullaryExpr(roughness.cols(), [&](Eigen::Index i) {
    return random.uniform(static_cast<std::uint64_t>(i)) < 0.5 ? -1.0 : 1.0;
  });
  const Eigen::VectorXd image = roughness * root.apply(signs).col(0);
  const double gap =
      (root.apply_transposed(roughness.transpose() * image).col(0) - signs).lpNorm<Eigen::Infinity>();
  if (!(gap < 0.01))
    throw core::SolverError("inversion::Regularization#nearly_singular",
                            "the roughness operator is singular to working precision (its root is wrong by "
                            "{:.1e}); add smallness",
                            gap);
}

std::unique_ptr<Root> make_root(const SparseMatrix& roughness, double largest_factor) {
  std::unique_ptr<Root> root;
  if (roughness.rows() == roughness.cols()) {
    root = std::make_unique<SquareRoot>(roughness);
  } else {
    const SparseMatrix inverse_covariance = roughness.transpose() * roughness;
    Cholesky cholesky;
    if (cholesky.analyze(inverse_covariance) > largest_factor) return make_iterated_root(roughness);
    root = std::make_unique<CholeskyRoot>(inverse_covariance, cholesky);
  }
  check_root(*root, roughness);
  return root;
}

}  // namespace

struct Regularization::Impl {
  SparseMatrix roughness;
  Eigen::VectorXd reference;
  std::unique_ptr<Root> root;
  std::function<Eigen::VectorXd(const core::ConstVectorRef&)>
      residual;  ///< empty: that of the quadratic form
};

namespace {

void check_sizes(const SparseMatrix& roughness, const Eigen::VectorXd& reference) {
  if (roughness.cols() != reference.size() || reference.size() == 0 || roughness.rows() == 0)
    throw core::ShapeError(
        "inversion::Regularization#wrong_size",
        "expected an operator with as many columns as the reference model has cells, got ({}, {}) and {}",
        roughness.rows(), roughness.cols(), reference.size());
  if (!reference.allFinite())
    throw core::InvalidArgument("inversion::Regularization#reference_not_finite",
                                "expected a finite reference model");
}

}  // namespace

Regularization::Regularization(SparseMatrix roughness, Eigen::VectorXd reference, double largest_factor)
    : impl_(std::make_unique<Impl>()) {
  check_sizes(roughness, reference);
  roughness.makeCompressed();
  impl_->roughness = std::move(roughness);
  impl_->root = make_root(impl_->roughness, largest_factor);
  impl_->reference = std::move(reference);
}

Regularization::Regularization(TriangularProduct roughness, Eigen::VectorXd reference)
    : impl_(std::make_unique<Impl>()) {
  impl_->roughness = roughness.matrix();
  check_sizes(impl_->roughness, reference);
  impl_->root = std::make_unique<ProductRoot>(std::move(roughness));
  check_root(*impl_->root, impl_->roughness);
  impl_->reference = std::move(reference);
}

Regularization::Regularization(const SparseMatrix& a, const Eigen::VectorXd& b,
                               std::function<Eigen::VectorXd(const core::ConstVectorRef&)> residual)
    : Regularization(a, Eigen::VectorXd(Eigen::VectorXd::Zero(a.cols()))) {
  if (b.size() != impl_->roughness.rows())
    throw core::ShapeError("inversion::Regularization#wrong_rows",
                           "expected b of the {} rows of the operator, got {}", impl_->roughness.rows(),
                           b.size());
  impl_->reference = apply_covariance(impl_->roughness.transpose() * b);
  impl_->residual = std::move(residual);
}

Regularization::~Regularization() = default;

Eigen::Index Regularization::size() const { return impl_->reference.size(); }
Eigen::Index Regularization::root_size() const { return impl_->root->size(); }
const SparseMatrix& Regularization::roughness() const { return impl_->roughness; }
const Eigen::VectorXd& Regularization::reference() const { return impl_->reference; }

bool Regularization::is_quadratic() const { return !impl_->residual; }

Eigen::VectorXd Regularization::residual(const core::ConstVectorRef& model) const {
  if (model.size() != size())
    throw core::ShapeError("inversion::Regularization#wrong_model", "expected a model of {} cells, got {}",
                           size(), model.size());
  if (impl_->residual) return impl_->residual(model);
  return impl_->roughness * (model - impl_->reference);
}

namespace {

void check_rows(const core::ConstMatrixRef& b, Eigen::Index expected) {
  if (b.rows() != expected)
    throw core::ShapeError("inversion::Regularization#wrong_rows", "expected {} rows, got {}", expected,
                           b.rows());
}

}  // namespace

Eigen::MatrixXd Regularization::apply_root(const core::ConstMatrixRef& b) const {
  check_rows(b, root_size());
  return impl_->root->apply(b);
}

Eigen::MatrixXd Regularization::apply_root_transposed(const core::ConstMatrixRef& b) const {
  check_rows(b, size());
  return impl_->root->apply_transposed(b);
}

Eigen::MatrixXd Regularization::apply_covariance(const core::ConstMatrixRef& b) const {
  check_rows(b, size());
  return impl_->root->covariance(b);
}

double Regularization::flops_per_column() const { return impl_->root->flops_per_column(); }

}  // namespace lodestone::inversion::objective
