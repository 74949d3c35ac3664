// SPDX-License-Identifier: Apache-2.0
// Elementwise loops: axes merged, the innermost loop compiled for each vector width, large ones shared by
// threads.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/loop_nest.hpp"
#include "engine/backend/elementwise_kernels.hpp"
#include "engine/graph/dtypes.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// True if loops are worth vectorizing: arithmetic of floats. Calls of the mathematical library, complex
/// numbers and integers get one plain loop. That saves nine tenths of the compiler's work.
template <class Function, class T>
inline constexpr bool is_wide = std::is_floating_point_v<T>&& scalar::is_arithmetic<Function>;

/// Contiguous elements; a function that vectorizes only for usual arguments is checked block by block.
template <class Function, class In, class Out>
[[gnu::always_inline]] inline void unary_row(std::int64_t n, Out* out, const In* in) {
  if constexpr (scalar::has_usual<Function, In>) {
    constexpr std::int64_t block = 256;
    for (std::int64_t first = 0; first < n; first += block) {
      const std::int64_t last = std::min(first + block, n);
      int n_unusual = 0;
      for (std::int64_t i = first; i < last; ++i) n_unusual += Function::is_usual(in[i]) ? 0 : 1;
      if (n_unusual == 0) {
        for (std::int64_t i = first; i < last; ++i) out[i] = Function::usual(in[i]);
      } else {
        for (std::int64_t i = first; i < last; ++i) out[i] = Function{}(in[i]);
      }
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(in[i]);
  }
}

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void unary_plane(const Plane<1>& plane, Out* out, const In* in) {
  const std::int64_t n = plane.length, step = plane.step[0];
  for (std::int64_t row = 0; row < plane.rows; ++row, out += n, in += plane.row_step[0]) {
    if (is_wide<Function, In> && step == 1) {
      unary_row<Function>(n, out, in);
    } else if (step == 0) {
      std::fill_n(out, n, Function{}(*in));
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(in[i * step]);
    }
  }
}

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void binary_plane(const Plane<2>& plane, Out* out, const In* a, const In* b) {
  constexpr bool wide = is_wide<Function, In>;
  const std::int64_t n = plane.length, step_a = plane.step[0], step_b = plane.step[1];
  for (std::int64_t row = 0; row < plane.rows;
       ++row, out += n, a += plane.row_step[0], b += plane.row_step[1]) {
    if (wide && step_a == 1 && step_b == 1) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i], b[i]);
    } else if (wide && step_a == 1 && step_b == 0) {
      const In right = *b;
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i], right);
    } else if (wide && step_a == 0 && step_b == 1) {
      const In left = *a;
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(left, b[i]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i * step_a], b[i * step_b]);
    }
  }
}

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void unary_loop(const Plane<1>& plane, std::byte* out,
                                              const std::array<const std::byte*, 1>& in) {
  unary_plane<Function>(plane, reinterpret_cast<Out*>(out), reinterpret_cast<const In*>(in[0]));
}
template <class Function, class In, class Out>
[[gnu::always_inline]] inline void binary_loop(const Plane<2>& plane, std::byte* out,
                                               const std::array<const std::byte*, 2>& in) {
  binary_plane<Function>(plane, reinterpret_cast<Out*>(out), reinterpret_cast<const In*>(in[0]),
                         reinterpret_cast<const In*>(in[1]));
}

/// Nanoseconds per element, roughly, for deciding on threads.
template <class Function>
inline constexpr double cost_of =
    scalar::is_arithmetic<Function> && !scalar::is_elementary<Function> ? 0.4 : 4.0;

/// Not under sanitizers: their instrumented vector loops take the compiler minutes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool wide_loops = false;
#else
constexpr bool wide_loops = true;
#endif

/// A loop for the widest vectors there are, where these pay.
template <class Function, class In, auto loop>
auto widest() {
  if constexpr (wide_loops && is_wide<Function, In>) {
    return Widest<loop>::get();
  } else {
    return Widest<loop>::base;
  }
}

template <class Function, class In, class Out>
void unary_loops(const KernelCall& call) {
  run_planes<1>(call, cost_of<Function>, widest<Function, In, unary_loop<Function, In, Out>>());
}

template <class Function, class T>
void unary_kernel(const KernelCall& call) {
  unary_loops<Function, T, decltype(Function{}(T{}))>(call);
}

template <class Function, class T>
void binary_kernel(const KernelCall& call) {
  run_planes<2>(call, cost_of<Function>,
                widest<Function, T, binary_loop<Function, T, decltype(Function{}(T{}, T{}))>>());
}

struct Loops {
  OpTable& table;
  template <class Function, class... T>
  void unary(std::string_view name) const {
    const bool in_place = name != "copy" && name != "transfer";  // these are for memory of their own
    (table.at(name).with_kernel(Backend::processor, core::dtype_of<T>,
                                {"cpu.loop", unary_kernel<Function, T>, false, in_place}),
     ...);
  }
  template <class Function, class... T>
  void binary(std::string_view name) const {
    (table.at(name).with_kernel(Backend::processor, core::dtype_of<T>,
                                {"cpu.loop", binary_kernel<Function, T>, false, true}),
     ...);
  }
};

void cast_kernel(const KernelCall& call) {
  core::visit_stored_dtype(call.in[0].aval->dtype, [&](auto from) {
    core::visit_stored_dtype(call.out[0].aval->dtype, [&](auto to) {
      unary_loops<scalar::Cast<decltype(to)>, decltype(from), decltype(to)>(call);
    });
  });
}

template <class T>
void select_plane(const Plane<3>& plane, std::byte* out, const std::array<const std::byte*, 3>& in) {
  T* to = reinterpret_cast<T*>(out);
  const bool* c = reinterpret_cast<const bool*>(in[0]);
  const T *a = reinterpret_cast<const T*>(in[1]), *b = reinterpret_cast<const T*>(in[2]);
  const auto [of_c, of_a, of_b] = plane.step;
  for (std::int64_t row = 0; row < plane.rows; ++row) {
    for (std::int64_t i = 0; i < plane.length; ++i) to[i] = c[i * of_c] ? a[i * of_a] : b[i * of_b];
    to += plane.length;
    c += plane.row_step[0];
    a += plane.row_step[1];
    b += plane.row_step[2];
  }
}

template <class T>
void select_planes(const KernelCall& call) {
  run_planes<3>(call, 0.5, select_plane<T>);
}

void select_kernel(const KernelCall& call) {
  switch (core::size_of(call.out[0].aval->dtype)) {  // only moved, so the size is all that counts
    case 1:
      return select_planes<std::uint8_t>(call);
    case 2:
      return select_planes<std::uint16_t>(call);
    case 4:
      return select_planes<std::uint32_t>(call);
    case 8:
      return select_planes<std::uint64_t>(call);
    default:
      return select_planes<std::complex<double>>(call);
  }
}

}  // namespace

void register_elementwise_kernels(OpTable& table) {
  for_each_elementwise(Loops{table});
  table.at("select").with_kernel(Backend::processor, DType::b8, {"cpu.loop", select_kernel});
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (any_stored.contains(dtype))
      table.at("cast").with_kernel(Backend::processor, dtype, {"cpu.loop", cast_kernel});
  }
}

}  // namespace lodestone::engine::cpu_backend
