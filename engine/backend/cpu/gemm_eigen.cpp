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
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> to(c.data, size.rows, size.columns, Eigen::OuterStride<>(c.row_stride));
  if (c.accumulate == Accumulate::no) to.setZero();
  to.noalias() += left * right;
}

template void gemm(const GemmSize&, const GemmOperand<float>&, const GemmOperand<float>&, const GemmResult<float>&);
template void gemm(const GemmSize&, const GemmOperand<double>&, const GemmOperand<double>&, const GemmResult<double>&);
template void gemm(const GemmSize&, const GemmOperand<std::complex<float>>&, const GemmOperand<std::complex<float>>&,
                   const GemmResult<std::complex<float>>&);
template void gemm(const GemmSize&, const GemmOperand<std::complex<double>>&, const GemmOperand<std::complex<double>>&,
                   const GemmResult<std::complex<double>>&);

}  // namespace lodestone::engine::cpu_backend
