// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/pivots.hpp"
#include "engine/backend/reference/families.hpp"
#include "engine/backend/reference/strided.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine {
namespace {

template <class T>
T conjugate(T x) {
  if constexpr (scalar::is_complex_v<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

/// One matrix of a batch.
template <class T>
class Matrix {
 public:
  using Wide = typename scalar::Wider<T>::type;
  Matrix(const View& view, std::int64_t number) : view_(view) {
    const int rank = view.shape().rank();
    Shape batch = view.shape();
    batch[rank - 2] = batch[rank - 1] = 1;
    at_ = reference::indices_of(number, batch);
  }
  [[nodiscard]] T& stored(Dim i, Dim j) {
    at_[at_.size() - 2] = i;
    at_[at_.size() - 1] = j;
    return reference::element<T>(view_, at_);
  }
  [[nodiscard]] Wide operator()(Dim i, Dim j) { return static_cast<Wide>(stored(i, j)); }

 private:
  const View& view_;
  IntList at_;
};

template <class T>
typename Matrix<T>::Wide* wide_factor(Layout& layout, const KernelCall& call) {
  const Dim n = call.out[0].shape().back();
  return layout.array<typename Matrix<T>::Wide>(n * n);
}

template <class T>
void cholesky_loop(const KernelCall& call) {
  using Wide = typename Matrix<T>::Wide;
  const Dim n = call.out[0].shape().back();
  Wide* const l = shared_arrays<wide_factor<T>>(call);
  std::fill_n(l, n * n, Wide(0));
  const auto at = [&](Dim i, Dim j) -> Wide& { return l[i * n + j]; };
  for (std::int64_t number = 0; number < n_matrices(call.out[0].shape()); ++number) {
    Matrix<T> a(call.in[0], number), out(call.out[0], number);
    for (Dim i = 0; i < n; ++i) {
      for (Dim j = 0; j <= i; ++j) {
        Wide rest = a(i, j);
        for (Dim k = 0; k < j; ++k) rest -= at(i, k) * conjugate(at(j, k));
        at(i, j) =
            i == j ? Wide(std::sqrt(checked_pivot(std::real(rest), j, number, call))) : rest / at(j, j);
      }
    }
    for (Dim i = 0; i < n; ++i) {
      for (Dim j = 0; j < n; ++j) out.stored(i, j) = static_cast<T>(at(i, j));
    }
  }
}

template <class T>
typename Matrix<T>::Wide* wide_column(Layout& layout, const KernelCall& call) {
  return layout.array<typename Matrix<T>::Wide>(call.in[0].shape().back());
}

template <class T>
void solve_loop(const KernelCall& call) {
  using Wide = typename Matrix<T>::Wide;
  const auto& [lower, adjoint] = call.attrs_of<SolveAttrs>();
  const Dim n = call.in[0].shape().back(), k = call.out[0].shape().back();
  Wide* const x = shared_arrays<wide_column<T>>(call);
  for (std::int64_t number = 0; number < n_matrices(call.out[0].shape()); ++number) {
    Matrix<T> a(call.in[0], number), b(call.in[1], number), out(call.out[0], number);
    for (Dim i = 0; i < n; ++i) checked_diagonal(a(i, i) != Wide(0), i, number, call);
    for (Dim column = 0; column < k; ++column) {
      for (Dim step = 0; step < n; ++step) {  // downwards for a lower triangle, upwards for an upper one
        const bool down = lower != adjoint;
        const Dim i = down ? step : n - 1 - step;
        Wide rest = b(i, column);
        for (Dim done = 0; done < step; ++done) {
          const Dim j = down ? done : n - 1 - done;
          rest -= (adjoint ? conjugate(a(j, i)) : a(i, j)) * x[j];
        }
        x[i] = rest / (adjoint ? conjugate(a(i, i)) : a(i, i));
        out.stored(i, column) = static_cast<T>(x[i]);
      }
    }
  }
}

}  // namespace

void register_reference_linalg(OpTable& table) {
  const auto put = [&]<class T>(T) {
    table.at("cholesky")
        .with_kernel(
            Backend::reference, core::dtype_of<T>,
            {.name = "reference", .run = cholesky_loop<T>, .workspace = shared_workspace<wide_factor<T>>});
    table.at("triangular_solve")
        .with_kernel(
            Backend::reference, core::dtype_of<T>,
            {.name = "reference", .run = solve_loop<T>, .workspace = shared_workspace<wide_column<T>>});
  };
  put(float{});
  put(double{});
  put(std::complex<float>{});
  put(std::complex<double>{});
}

}  // namespace lodestone::engine
