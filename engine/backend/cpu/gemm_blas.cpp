// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/gemm.hpp"
#include "engine/core/error.hpp"

#include <cblas.h>

#include <algorithm>
#include <complex>
#include <limits>

namespace lodestone::engine::cpu_backend {
namespace {

/// An extent or a distance as BLAS takes it.
int counted(Dim value) {
  constexpr Dim most = std::numeric_limits<int>::max();
  if (value > most)
    throw core::ShapeError("engine::gemm#too_large_for_blas",
                           "expected rows, columns and strides of matrices up to {}, as far as BLAS counts, "
                           "got {}; split the product",
                           most, value);
  return static_cast<int>(value);
}

struct Leading {
  CBLAS_TRANSPOSE transpose;
  int stride;
};

/// Returns the description of an operand for BLAS: its rows or its columns are contiguous.
template <class T>
Leading leading(const GemmOperand<T>& x, Dim rows, Dim columns) {
  const bool by_rows = columns == 1 ? rows == 1 || x.row_stride >= 1
                                    : x.column_stride == 1 && (rows == 1 || x.row_stride >= columns);
  if (by_rows) return {CblasNoTrans, counted(std::max<Dim>(rows == 1 ? columns : x.row_stride, columns))};
  return {CblasTrans, counted(std::max<Dim>(columns == 1 ? rows : x.column_stride, rows))};
}

}  // namespace

template <class T>
void gemm(const GemmSize& size, const GemmOperand<T>& a, const GemmOperand<T>& b, const GemmResult<T>& c) {
  if (size.summed == 0) {
    for (Dim i = 0; i < size.rows && c.accumulate == Accumulate::no; ++i)
      std::fill_n(c.data + i * c.row_stride, size.columns, T(0));
    return;
  }
  const Leading of_a = leading(a, size.rows, size.summed), of_b = leading(b, size.summed, size.columns);
  const int m = counted(size.rows), n = counted(size.columns), k = counted(size.summed),
            to = counted(c.row_stride);
  const T one(1), keep(c.accumulate == Accumulate::yes ? 1 : 0);
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemm(CblasRowMajor, of_a.transpose, of_b.transpose, m, n, k, one, a.data, of_a.stride, b.data,
                of_b.stride, keep, c.data, to);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dgemm(CblasRowMajor, of_a.transpose, of_b.transpose, m, n, k, one, a.data, of_a.stride, b.data,
                of_b.stride, keep, c.data, to);
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    cblas_cgemm(CblasRowMajor, of_a.transpose, of_b.transpose, m, n, k, &one, a.data, of_a.stride, b.data,
                of_b.stride, &keep, c.data, to);
  } else {
    cblas_zgemm(CblasRowMajor, of_a.transpose, of_b.transpose, m, n, k, &one, a.data, of_a.stride, b.data,
                of_b.stride, &keep, c.data, to);
  }
}

template <class T>
void trsm(const TriangularOperand<T>& a, Dim other, T* b, Dim row_stride) {
  if (a.n == 0 || other == 0) return;
  const auto side = a.left ? CblasLeft : CblasRight;
  const auto uplo = a.lower ? CblasLower : CblasUpper;
  const auto form = a.adjoint ? CblasConjTrans : CblasNoTrans;
  const int m = counted(a.left ? a.n : other), n = counted(a.left ? other : a.n),
            of_a = counted(a.row_stride), of_b = counted(row_stride);
  const T one(1);
  if constexpr (std::is_same_v<T, float>) {
    cblas_strsm(CblasRowMajor, side, uplo, form, CblasNonUnit, m, n, one, a.data, of_a, b, of_b);
  } else if constexpr (std::is_same_v<T, double>) {
    cblas_dtrsm(CblasRowMajor, side, uplo, form, CblasNonUnit, m, n, one, a.data, of_a, b, of_b);
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    cblas_ctrsm(CblasRowMajor, side, uplo, form, CblasNonUnit, m, n, &one, a.data, of_a, b, of_b);
  } else {
    cblas_ztrsm(CblasRowMajor, side, uplo, form, CblasNonUnit, m, n, &one, a.data, of_a, b, of_b);
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
