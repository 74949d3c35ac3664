// SPDX-License-Identifier: Apache-2.0
// Compiled twice: with the product that the build chose and with the one it would choose without BLAS.
#include "engine/backend/cpu/gemm.hpp"
#include "engine/core/random.hpp"
#include "tests/support/catch.hpp"

#include <complex>
#include <vector>

using namespace lodestone;
using namespace lodestone::engine;
using namespace lodestone::engine::cpu_backend;

namespace {

template <class T>
std::vector<T> numbers(Dim count, std::uint64_t stream) {
  const core::Philox random(3, stream);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      values[i] = static_cast<T>(random.normal(i));
    } else {
      values[i] = T(static_cast<typename T::value_type>(random.normal(2 * i)),
                    static_cast<typename T::value_type>(random.normal(2 * i + 1)));
    }
  }
  return values;
}

/// An operand stored by rows or by columns, with `gap` elements behind each.
template <class T>
GemmOperand<T> stored(const std::vector<T>& values, Dim rows, Dim columns, bool by_rows, Dim gap) {
  if (by_rows) return {values.data(), columns + gap, 1};
  return {values.data(), 1, rows + gap};
}

template <class T>
void check_against_loops() {
  constexpr Dim gap = 3;
  for (const auto& [m, n, k] :
       {std::tuple<Dim, Dim, Dim>{1, 1, 1}, {1, 5, 4}, {5, 1, 4}, {5, 4, 1}, {17, 9, 33}, {3, 4, 0}}) {
    for (int layout = 0; layout < 8; ++layout) {
      const auto a_values = numbers<T>((m + gap) * (k + gap), 1),
                 b_values = numbers<T>((k + gap) * (n + gap), 2);
      const auto a = stored(a_values, m, k, (layout & 1) != 0, gap),
                 b = stored(b_values, k, n, (layout & 2) != 0, gap);
      const auto accumulate = (layout & 4) != 0 ? Accumulate::yes : Accumulate::no;
      const auto before = numbers<T>(m * (n + gap), 3);
      auto c = before;
      gemm<T>({m, n, k}, a, b, {c.data(), n + gap, accumulate});
      double worst = 0.0;
      for (Dim i = 0; i < m; ++i) {
        for (Dim j = 0; j < n + gap; ++j) {
          const auto at = static_cast<std::size_t>(i * (n + gap) + j);
          T expected = j >= n || accumulate == Accumulate::yes
                           ? before[at]
                           : T(0);  // what lies between the rows is not touched
          for (Dim l = 0; j < n && l < k; ++l)
            expected += a.data[i * a.row_stride + l * a.column_stride] *
                        b.data[l * b.row_stride + j * b.column_stride];
          worst = std::max(worst, static_cast<double>(std::abs(c[at] - expected)));
        }
      }
      INFO("m " << m << ", n " << n << ", k " << k << ", layout " << layout);
      CHECK(worst <= (sizeof(T) == sizeof(float) || std::is_same_v<T, std::complex<float>> ? 2e-5 : 1e-13));
    }
  }
}

/// op(A)⁻¹ B or B op(A)⁻¹, multiplied back.
template <class T>
void check_solve_against_loops() {
  constexpr Dim n = 7, other = 5, gap = 2;
  for (int form = 0; form < 8; ++form) {
    auto a = numbers<T>(n * (n + gap), 1);
    for (Dim i = 0; i < n; ++i) a[static_cast<std::size_t>(i * (n + gap) + i)] += T(6);
    const TriangularOperand<T> triangle{a.data(),       n, n + gap, (form & 1) != 0, (form & 2) != 0,
                                        (form & 4) != 0};
    const auto element = [&](Dim i, Dim j) {
      const Dim row = triangle.adjoint ? j : i, column = triangle.adjoint ? i : j;
      if (triangle.lower ? column > row : column < row) return T(0);
      const T x = a[static_cast<std::size_t>(row * (n + gap) + column)];
      if constexpr (std::is_floating_point_v<T>) {
        return x;
      } else {
        return triangle.adjoint ? std::conj(x) : x;
      }
    };
    const Dim rows = triangle.left ? n : other, columns = triangle.left ? other : n;
    const auto b = numbers<T>(rows * (columns + gap), 2);
    auto x = b;
    trsm(triangle, other, x.data(), columns + gap);
    double worst = 0.0;
    for (Dim i = 0; i < rows; ++i) {
      for (Dim j = 0; j < columns + gap; ++j) {
        const auto at = [&](Dim r, Dim c) { return static_cast<std::size_t>(r * (columns + gap) + c); };
        T back = j < columns ? T(0) : x[at(i, j)];  // what lies between the rows is not touched
        for (Dim k = 0; j < columns && k < n; ++k)
          back += triangle.left ? element(i, k) * x[at(k, j)] : x[at(i, k)] * element(k, j);
        worst = std::max(worst, static_cast<double>(std::abs(back - b[at(i, j)])));
      }
    }
    INFO("form " << form);
    CHECK(worst <= (sizeof(T) == sizeof(float) || std::is_same_v<T, std::complex<float>> ? 2e-5 : 1e-13));
  }
}

}  // namespace

TEST_CASE("trsm: solves with each triangle, its adjoint and from each side", "[engine]") {
  check_solve_against_loops<float>();
  check_solve_against_loops<double>();
  check_solve_against_loops<std::complex<float>>();
  check_solve_against_loops<std::complex<double>>();
}

TEST_CASE("gemm: equals loops for operands by rows and by columns, with gaps, overwriting and adding",
          "[engine]") {
  check_against_loops<float>();
  check_against_loops<double>();
  check_against_loops<std::complex<float>>();
  check_against_loops<std::complex<double>>();
}
