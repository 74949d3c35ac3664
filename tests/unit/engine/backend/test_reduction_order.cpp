// SPDX-License-Identifier: Apache-2.0
// The orders in which sums and extrema combine elements, as plain loops with their numbers written out; the
// kernels must give the same bits.
#include "engine/backend/cpu/reduction_order.hpp"
#include "engine/core/random.hpp"
#include "engine/nn/initial_values.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thread_count.hpp"

#include <cstring>

using namespace lodestone;
using namespace lodestone::engine;
using namespace lodestone::engine::cpu_backend;
using Way = ReductionOrder::Kind;
using tests::ThreadCount;

namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Larger {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || is_complex<T>;
template <class T>
struct Wider {
  using type = double;
};
template <class T>
struct Wider<std::complex<T>> {
  using type = std::complex<double>;
};

/// Combines up to 31 as they stand, more in 16 lanes, of which the upper half is combined with the lower.
template <class T, class Combine>
T of_block(std::span<const T> x, Combine combine) {
  if (x.size() < 32) {
    T total = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) total = combine(total, x[i]);
    return total;
  }
  std::vector<T> lanes(x.begin(), x.begin() + 16);
  for (std::size_t i = 16; i < x.size(); ++i) lanes[i % 16] = combine(lanes[i % 16], x[i]);
  for (const std::size_t width : {8U, 4U, 2U, 1U}) {
    for (std::size_t k = 0; k < width; ++k) lanes[k] = combine(lanes[k], lanes[k + width]);
  }
  return lanes[0];
}

/// Blocks of 1024 in pairs, the first half with the odd one.
template <class T, class Combine>
T of_piece(std::span<const T> x, Combine combine) {
  if (x.size() <= 1024) return of_block(x, combine);
  const std::size_t half = (x.size() / 1024 + 1) / 2 * 1024;
  return combine(of_piece(x.first(half), combine), of_piece(x.subspan(half), combine));
}

/// Pieces of 65 536, which make a row again.
template <class T, class Combine>
T of_row(std::span<const T> x, Combine combine) {
  if (x.size() <= 65536) return of_piece(x, combine);
  std::vector<T> pieces;
  for (std::size_t from = 0; from < x.size(); from += 65536)
    pieces.push_back(of_piece(x.subspan(from, std::min<std::size_t>(65536, x.size() - from)), combine));
  return of_piece(std::span<const T>(pieces), combine);
}

/// A column of one of n rows' numbers: every fourth of 64 rows by itself, those four, and that in double; so
/// many rows again that they hold 65 536 numbers.
template <class Part>
double of_column(std::span<const Part> x, std::size_t n) {
  const std::size_t rows_of_piece = std::max<std::size_t>(16384 / n / 64, 1) * 64;
  double total = 0.0;
  for (std::size_t piece = 0; piece < x.size(); piece += rows_of_piece) {
    double of_piece = 0.0;
    const std::size_t end = std::min(piece + rows_of_piece, x.size());
    for (std::size_t from = piece; from < end; from += 64) {
      Part fourth[4] = {};
      for (std::size_t i = from; i < std::min(from + 64, end); ++i) fourth[(i - from) % 4] += x[i];
      of_piece += static_cast<double>((fourth[0] + fourth[1]) + (fourth[2] + fourth[3]));
    }
    total = piece == 0 ? of_piece : total + of_piece;
  }
  return total;
}

/// A reduction as its order states it.
template <class T, class Combine>
class Stated {
 public:
  Stated(const Tensor& x, const Axes& axes, T start)
      : order_(order_of(x.shape(), x.node().look.strides, axes)),
        x_(reinterpret_cast<const T*>(x.node().data())),
        start_(start) {}

  [[nodiscard]] Way kind() const { return order_.kind; }
  [[nodiscard]] std::vector<T> result(std::int64_t n) const {
    std::vector<T> out(static_cast<std::size_t>(n), start_);
    walk(order_.outputs.all(), 0, count_of(order_.outputs.all()), [&](std::int64_t in, std::int64_t to) {
      if (order_.kind != Way::columns) out[static_cast<std::size_t>(to)] = one(x_ + in);
      for (std::int64_t j = 0; j < order_.columns; ++j)
        out[static_cast<std::size_t>(to + j)] = column(x_ + in + j);
    });
    return out;
  }

 private:
  /// Calls f with the elements of each row of those that are combined.
  template <class F>
  void for_each_row(const T* x, F&& f) const {
    const Loop along = order_.reduced.back();
    std::vector<T> row(static_cast<std::size_t>(along.extent));
    walk(order_.reduced.outer(), 0, count_of(order_.reduced.outer()), [&](std::int64_t in, std::int64_t) {
      for (std::int64_t i = 0; i < along.extent; ++i) row[static_cast<std::size_t>(i)] = x[in + i * along.in];
      f(std::span<const T>(row));
    });
  }

  [[nodiscard]] T one(const T* x) const {
    constexpr bool sums_floats = std::is_same_v<Combine, Add> && is_float<T>;
    using Wide = typename std::conditional_t<sums_floats, Wider<T>, std::type_identity<T>>::type;
    auto total = static_cast<Wide>(start_);
    for_each_row(x, [&](std::span<const T> row) {
      const T next = order_.kind == Way::rows ? of_block(row, combine_) : of_row(row, combine_);
      total = combine_(total, static_cast<Wide>(next));
    });
    return static_cast<T>(total);
  }

  [[nodiscard]] T column(const T* x) const {
    if constexpr (!std::is_same_v<Combine, Add> || !is_float<T>) {
      T total = start_;
      for_each_row(x, [&](std::span<const T> row) {
        for (const T& each : row) total = combine_(total, each);
      });
      return total;
    } else if constexpr (is_complex<T>) {
      using Part = typename T::value_type;
      return T(sum_of<Part>(x, [](const T& each) { return each.real(); }),
               sum_of<Part>(x, [](const T& each) { return each.imag(); }));
    } else {
      return sum_of<T>(x, [](const T& each) { return each; });
    }
  }

  template <class Part, class Of>
  [[nodiscard]] Part sum_of(const T* x, Of&& of) const {
    const auto numbers_of_row = static_cast<std::size_t>(order_.columns) * (sizeof(T) / sizeof(Part));
    double total = 0.0;
    for_each_row(x, [&](std::span<const T> row) {
      std::vector<Part> parts;
      for (const T& each : row) parts.push_back(of(each));
      total += of_column(std::span<const Part>(parts), numbers_of_row);
    });
    return static_cast<Part>(total);
  }

  ReductionOrder order_;
  const T* x_;
  T start_;
  Combine combine_{};
};

/// Compares the kernel's bits on 1, 2 and 3 threads with the plain loops'; returns which order it was.
template <class Combine, class T, class Reduce>
Way check_bits(const Tensor& x, const Axes& axes, T start, Reduce&& reduce) {
  const Stated<T, Combine> stated(x, axes, start);
  std::vector<T> expected;
  for (const int n : {1, 2, 3}) {
    const ThreadCount threads(n);
    const Tensor reduced = reduce(x, axes);
    if (n == 1) expected = stated.result(reduced.count());
    const auto got = reduced.data<T>();
    if (std::memcmp(got.data(), expected.data(), got.size_bytes()) == 0) continue;
    FAIL_CHECK("the kernel's bits differ from those of the order on "
               << n << " threads: " << x.aval().text() << " with strides " << x.node().look.strides.text()
               << " over " << axes.text());
  }
  return stated.kind();
}

template <class T>
Way check_all_bits(const Tensor& x, const Axes& axes) {
  if constexpr (!is_complex<T>) {
    using Limits = std::numeric_limits<T>;
    const T lowest = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    check_bits<Larger>(x, axes, lowest, [](const Tensor& of, const Axes& over) { return max(of, over); });
  }
  return check_bits<Add>(x, axes, T(0), [](const Tensor& of, const Axes& over) { return sum(of, over); });
}

/// Numbers with all digits; integers up to some dozens.
template <class T>
Tensor random(std::int64_t n, std::uint64_t seed) {
  constexpr DType dtype = core::dtype_of<T>;
  const auto draw = [&](std::uint64_t next) {
    return InitialValues(seed + next, DType::f64).draw({n}, normal_around(0.0, 1.0));
  };
  if constexpr (is_complex<T>) {
    return complex(cast(draw(0), core::real_of(dtype)), cast(draw(1), core::real_of(dtype))).eval();
  } else {
    return cast(is_float<T> ? draw(0) : abs(draw(0)) * 10.0, dtype).eval();
  }
}

/// Views of all kinds at one array, and axes to reduce.
class Views {
 public:
  explicit Views(const Tensor& numbers) : numbers_(numbers) {}

  std::pair<Tensor, Axes> next() {
    Shape shape;
    for (Dim rank = below(4) + 1; rank > 0; --rank) {
      const Dim most = std::max<Dim>(6000 / shape.count(), 1);
      shape.push_back(std::min(most, 1 + below(below(12) == 0 ? 3000 : below(4) == 0 ? 90 : 6)));
    }
    const Dim from = below(numbers_.count() - shape.count() + 1);
    Axes order = IntList::counting(shape.rank()), axes;
    for (int i = shape.rank() - 1; i > 0; --i) std::swap(order[i], order[static_cast<int>(below(i + 1))]);
    Tensor x = transpose(reshape(slice(numbers_, 0, from, from + shape.count()), shape), order);
    if (below(5) == 0) x = broadcast_to(expand_dims(x, 0), x.shape().inserted(0, 3));
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (below(4) == 0) x = flip(x, axis);
      if (below(4) == 0) x = slice(x, axis, 0, x.dim(axis), 2);
      if (below(2) == 0) axes.push_back(axis);
    }
    return {x.eval(), axes};
  }

 private:
  Dim below(Dim n) { return static_cast<Dim>(draws_.uniform(next_++) * static_cast<double>(n)); }
  Tensor numbers_;
  core::Philox draws_{7};
  std::uint64_t next_ = 0;
};

template <class F>
void for_each_dtype(F&& f) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    core::visit_dtype(static_cast<DType>(i), [&](auto zero) {
      if constexpr (!std::is_same_v<decltype(zero), bool>) f(zero);
    });
  }
}

Way kind_of(const Shape& shape, const Axes& axes) {
  return order_of(shape, contiguous_strides(shape), axes).kind;
}

}  // namespace

TEST_CASE("reduction order: shape, strides and axes say which one it is", "[engine]") {
  CHECK(kind_of({3, 5}, {1}) == Way::rows);
  CHECK(kind_of({3, 1024}, {1}) == Way::rows);
  CHECK(kind_of({3, 1025}, {1}) == Way::long_row);
  CHECK(kind_of({1024}, {0}) == Way::rows);
  CHECK(kind_of({3, 5, 70}, {1, 2}) == Way::rows);  // one row of 350
  CHECK(kind_of({3, 5}, {0}) == Way::columns);
  CHECK(kind_of({3, 5, 7}, {0, 2}) == Way::all);
  CHECK(kind_of({3, 5, 7}, {}) == Way::columns);
  CHECK(kind_of({}, {}) == Way::rows);
  CHECK(order_of({5, 3}, {1, 5}, {0}).kind == Way::rows);  // a transposed array is summed as it lies
  CHECK(order_of({5, 3}, {1, 5}, {1}).kind == Way::columns);
  CHECK(order_of({5, 3}, {6, 2}, {0}).kind == Way::rows);  // columns with gaps: each by itself
}

TEST_CASE("reduction order: kernels give the bits of plain loops, for rows and columns of any length",
          "[engine]") {
  for_each_dtype([](auto zero) {
    using T = decltype(zero);
    const Tensor numbers = random<T>(260000, 1);
    const auto of = [&](const Shape& shape) {
      return reshape(slice(numbers, 0, 0, shape.count()), shape).eval();
    };
    for (const Dim n : {2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 2047, 2049, 3100, 66000})
      CHECK(check_all_bits<T>(of({3, n}), {1}) == (n <= 1024 ? Way::rows : Way::long_row));
    for (const Dim n : {1, 2, 3, 4, 5, 63, 64, 65, 66, 67, 130, 1700, 4300})
      CHECK(check_all_bits<T>(of({n, 37}), {0}) == Way::columns);
    CHECK(check_all_bits<T>(of({70, 1030, 2}), {0, 2}) == Way::all);
    CHECK(check_all_bits<T>(of({3, 4, 1100}), {0, 2}) == Way::all);
    CHECK(check_all_bits<T>(of({7, 80, 3, 5}), {0, 2}) == Way::columns);
  });
}

TEST_CASE("reduction order: kernels give the bits of plain loops, for views of all kinds", "[engine]") {
  constexpr int n_views = 2100;
  for_each_dtype([](auto zero) {
    using T = decltype(zero);
    INFO(core::name_of(core::dtype_of<T>));
    Views views(random<T>(20000, 2));
    std::array<int, 4> n_of_kind{};
    for (int n = 0; n < n_views; ++n) {
      const auto [x, axes] = views.next();
      ++n_of_kind[static_cast<std::size_t>(check_all_bits<T>(x, axes))];
    }
    for (const int n : n_of_kind) CHECK(n > 25);
  });
}

TEST_CASE("reduction order: threads that share long sums keep to it", "[engine]") {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const Tensor numbers = random<T>(1200000, 3);
    const auto check_of = [&](const Shape& shape, const Axes& axes) {
      return check_all_bits<T>(reshape(numbers, shape).eval(), axes);
    };
    CHECK(check_of({1200, 1000}, {1}) == Way::rows);
    CHECK(check_of({1200, 1000}, {0}) == Way::columns);
    CHECK(check_of({40, 30, 1000}, {1}) == Way::columns);
    CHECK(check_of({1200000}, {0}) == Way::long_row);
    CHECK(check_of({3, 400000}, {1}) == Way::long_row);
    CHECK(check_of({4, 30, 10000}, {0, 2}) == Way::all);
    const Tensor across = transpose(reshape(numbers, {1200, 1000})).eval();
    CHECK(check_all_bits<T>(across, {1}) == Way::columns);
    CHECK(check_all_bits<T>(across, {0}) == Way::rows);
  };
  check(float{});
  check(double{});
  check(std::complex<float>{});
  check(std::int32_t{});
}

TEST_CASE("reduction order: another order of lanes, of blocks and of rows is found", "[engine]") {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const auto numbers_of = [](Dim n) {
      const Tensor x = random<T>(n, 4);
      return std::pair(
          std::span(reinterpret_cast<const T*>(x.eval().node().data()), static_cast<std::size_t>(n)), x);
    };
    const auto sum_of = [](const Tensor& x) { return sum(x, Axes{0}).template item<T>(); };
    // Neighbouring lanes first, in place of the upper half with the lower.
    const auto [block, x] = numbers_of(1000);
    std::vector<T> lanes(16, T(0));
    for (std::size_t i = 0; i < block.size(); ++i) lanes[i % 16] += block[i];
    for (const std::size_t step : {1U, 2U, 4U, 8U}) {
      for (std::size_t k = 0; k < 16; k += 2 * step) lanes[k] += lanes[k + step];
    }
    CHECK(of_block(block, Add()) == sum_of(x));
    CHECK(lanes[0] != sum_of(x));
    // Eight lanes; and one block after the other, in place of pairs.
    std::vector<T> eight(8, T(0));
    for (std::size_t i = 0; i < block.size(); ++i) eight[i % 8] += block[i];
    for (const std::size_t width : {4U, 2U, 1U}) {
      for (std::size_t k = 0; k < width; ++k) eight[k] += eight[k + width];
    }
    CHECK(eight[0] != sum_of(x));
    const auto [long_row, y] = numbers_of(9000);
    T in_turn = T(0);
    for (std::size_t from = 0; from < 9000; from += 1024)
      in_turn += of_block(long_row.subspan(from, std::min<std::size_t>(1024, 9000 - from)), Add());
    CHECK(of_row(long_row, Add()) == sum_of(y));
    CHECK(in_turn != sum_of(y));
  };
  check(0.0F);
  check(0.0);
}
