// SPDX-License-Identifier: Apache-2.0
// In place of gemm_blas.cpp where the build found no BLAS.
#include "engine/backend/cpu/gemm.hpp"

#include <Eigen/Core>

#include <complex>

namespace lodestone::engine::cpu_backend {

template <class T>
void gemm(const GemmSize& size, const GemmOperand<T>& a, const GemmOperand<T>& b, const GemmResult<T>& c) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using AnyStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  using In = Eigen::Map<const Matrix, 0, AnyStride>;
  const In left(a.data, size.rows, size.summed, AnyStride(a.row_stride, a.column_stride));
  const In right(b.data, size.summed, size.columns, AnyStride(b.row_stride, b.column_stride));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> to(c.data, size.rows, size.columns,
                                                 Eigen::OuterStride<>(c.row_stride));
  if (c.accumulate == Accumulate::no) to.setZero();
  to.noalias() += left * right;
}

template <class T>
void trsm(const TriangularOperand<T>& a, Dim other, T* b, Dim row_stride) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> matrix(a.data, a.n, a.n,
                                                                 Eigen::OuterStride<>(a.row_stride));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> to(b, a.left ? a.n : other, a.left ? other : a.n,
                                                 Eigen::OuterStride<>(row_stride));
  const auto with = [&](const auto& triangle) {
    if (a.left) {
      triangle.solveInPlace(to);
    } else {
      triangle.template solveInPlace<Eigen::OnTheRight>(to);
    }
  };
  if (a.lower) {
    if (a.adjoint) {
      with(matrix.adjoint().template triangularView<Eigen::Upper>());
    } else {
      with(matrix.template triangularView<Eigen::Lower>());
    }
  } else if (a.adjoint) {
    with(matrix.adjoint().template triangularView<Eigen::Lower>());
  } else {
    with(matrix.template triangularView<Eigen::Upper>());
  }
}

template void trsm(const TriangularOperand<float>&, Dim, float*, Dim);
template void trsm(const TriangularOperand<double>&, Dim, double*, Dim);
template void trsm(const TriangularOperand<std::complex<float>>&, Dim, std::complex<float>*, Dim);
template void trsm(const TriangularOperand<std::complex<double>>&, Dim, std::complex<double>*, Dim);
template void gemm(const GemmSize&, const GemmOperand<float>&, const GemmOperand<float>&,
                   const GemmResult<float>&);
template void gemm(const GemmSize&, const GemmOperand<double>&, const GemmOperand<double>&,
                   const GemmResult<double>&);
template void gemm(const GemmSize&, const GemmOperand<std::complex<float>>&,
                   const GemmOperand<std::complex<float>>&, const GemmResult<std::complex<float>>&);
template void gemm(const GemmSize&, const GemmOperand<std::complex<double>>&,
                   const GemmOperand<std::complex<double>>&, const GemmResult<std::complex<double>>&);

}  // namespace lodestone::engine::cpu_backend
