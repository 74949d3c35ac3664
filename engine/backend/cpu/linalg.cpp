// SPDX-License-Identifier: Apache-2.0
// Cholesky by blocks of columns: a block on the diagonal by loops, what is below it by trsm, what is right of
// that by gemm. L [n, n], row-major.
#include "engine/backend/cpu/gemm.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/pivots.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>

namespace lodestone::engine::cpu_backend {
namespace {

constexpr Dim block = 64;

template <class T>
T conjugate(T x) {
  if constexpr (scalar::is_complex_v<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

/// Which matrix of the call is factored, for messages.
struct Which {
  const KernelCall& call;
  std::int64_t number;
};

/// The arrays of a factorization: the conjugate of a column of a block, and of what is below a block.
template <class T>
struct Conjugates {
  T *column, *below;
};

template <class T>
Conjugates<T> conjugates(Layout& layout, const KernelCall& call) {
  const Dim n = call.out[0].shape().back();
  return {layout.array<T>(std::min(block, n)), layout.array<T>(std::max<Dim>(n - block, 0) * block)};
}

/// Columns first … last − 1 of the rows between them.
template <class T>
void factor_block(T* l, Dim n, Dim first, Dim last, const Which& which, T* column) {
  for (Dim j = first; j < last; ++j) {
    const auto pivot = std::sqrt(checked_pivot(std::real(l[j * n + j]), j, which.number, which.call));
    l[j * n + j] = pivot;
    for (Dim i = j + 1; i < last; ++i) {
      l[i * n + j] /= pivot;
      column[i - first] = conjugate(l[i * n + j]);
    }
    for (Dim i = j + 1; i < last; ++i) {
      const T factor = l[i * n + j];
      for (Dim k = j + 1; k <= i; ++k)
        l[i * n + k] = scalar::Subtract{}(l[i * n + k], scalar::Multiply{}(factor, column[k - first]));
    }
  }
}

/// Takes L21 L21ᴴ off what lies behind columns first … last − 1, block by block of the lower triangle.
template <class T>
void update_behind(T* l, Dim n, Dim first, Dim last, T* negated) {
  const Dim width = last - first;
  for (Dim i = last; i < n; ++i) {
    for (Dim k = 0; k < width; ++k) negated[(i - last) * width + k] = -conjugate(l[i * n + first + k]);
  }
  for (Dim c = last; c < n; c += block) {
    gemm<T>({n - c, std::min(block, n - c), width}, {l + c * n + first, n, 1},
            {negated + (c - last) * width, 1, width}, {l + c * n + c, n, Accumulate::yes});
  }
}

template <class T>
void factor(const T* a, T* l, Dim n, const Which& which, const Conjugates<T>& scratch) {
  for (Dim i = 0; i < n; ++i) {
    std::copy_n(a + i * n, i + 1, l + i * n);
    std::fill_n(l + i * n + i + 1, n - i - 1, T(0));
  }
  for (Dim first = 0; first < n; first += block) {
    const Dim last = std::min(first + block, n);
    factor_block(l, n, first, last, which, scratch.column);
    trsm<T>({l + first * n + first, last - first, n, true, true, false}, n - last, l + last * n + first, n);
    update_behind(l, n, first, last, scratch.below);
  }
  for (Dim i = 0; i < n; ++i)
    std::fill_n(l + i * n + i + 1, n - i - 1, T(0));  // blocks on the diagonal were updated whole
}

/// Nanoseconds that an n x n matrix with k right-hand sides takes, roughly.
double ns_of_solve(Dim n, Dim k) { return 100.0 + 0.2 * static_cast<double>(n) * static_cast<double>(n * k); }

template <class T>
void cholesky_kernel(const KernelCall& call) {
  const Dim n = call.out[0].shape().back();
  const std::int64_t matrices = n_matrices(call.out[0].shape());
  share(matrices, static_cast<double>(matrices) * ns_of_solve(n, n), [&](Dim first, Dim last) {
    const Conjugates<T> scratch = own_arrays<conjugates<T>>(call);
    for (std::int64_t number = first; number < last; ++number)
      factor(call.in[0].as<T>() + number * n * n, call.out[0].as<T>() + number * n * n, n, {call, number},
             scratch);
  });
}

template <class T>
void solve_kernel(const KernelCall& call) {
  const auto& [lower, adjoint] = call.attrs_of<SolveAttrs>();
  const Dim n = call.in[0].shape().back(), k = call.out[0].shape().back();
  const std::int64_t matrices = n_matrices(call.out[0].shape());
  share(matrices, static_cast<double>(matrices) * ns_of_solve(n, k),
        [&, lower = lower, adjoint = adjoint](Dim first, Dim last) {
          std::copy_n(call.in[1].as<T>() + first * n * k, (last - first) * n * k,
                      call.out[0].as<T>() + first * n * k);
          for (std::int64_t number = first; number < last; ++number) {
            const T* a = call.in[0].as<T>() + number * n * n;
            for (Dim i = 0; i < n; ++i) checked_diagonal(a[i * n + i] != T(0), i, number, call);
            trsm<T>({a, n, n, lower, adjoint, true}, k, call.out[0].as<T>() + number * n * k, k);
          }
        });
}

}  // namespace

void register_linalg_kernels(OpTable& table) {
  const auto put = [&]<class T>(T) {
    table.at("cholesky")
        .with_kernel(Backend::processor, core::dtype_of<T>,
                     {.name = "cpu.blocks",
                      .run = cholesky_kernel<T>,
                      .contiguous_inputs = true,
                      .workspace = own_workspace<conjugates<T>>});
    table.at("triangular_solve")
        .with_kernel(Backend::processor, core::dtype_of<T>, {"cpu.trsm", solve_kernel<T>, true});
  };
  put(float{});
  put(double{});
  put(std::complex<float>{});
  put(std::complex<double>{});
}

}  // namespace lodestone::engine::cpu_backend
