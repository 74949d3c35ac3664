// SPDX-License-Identifier: Apache-2.0
// Elementwise loops: axes merged, the innermost loop compiled for each vector width, large ones shared by threads.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/loop_nest.hpp"
#include "engine/backend/elementwise_kernels.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void unary_plane(const Plane<1>& plane, Out* out, const In* in) {
  const std::int64_t n = plane.length, step = plane.step[0];
  for (std::int64_t row = 0; row < plane.rows; ++row, out += n, in += plane.row_step[0]) {
    if (step == 1) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(in[i]);
    } else if (step == 0) {
      std::fill_n(out, n, Function{}(*in));
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(in[i * step]);
    }
  }
}

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void binary_plane(const Plane<2>& plane, Out* out, const In* a, const In* b) {
  const std::int64_t n = plane.length, step_a = plane.step[0], step_b = plane.step[1];
  for (std::int64_t row = 0; row < plane.rows; ++row, out += n, a += plane.row_step[0], b += plane.row_step[1]) {
    if (step_a == 1 && step_b == 1) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i], b[i]);
    } else if (step_a == 1 && step_b == 0) {
      const In right = *b;
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i], right);
    } else if (step_a == 0 && step_b == 1) {
      const In left = *a;
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(left, b[i]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i * step_a], b[i * step_b]);
    }
  }
}

// The same loops once per instruction set.
template <class Function, class In, class Out>
void unary_base(const Plane<1>& plane, Out* out, const In* in) {
  unary_plane<Function>(plane, out, in);
}
template <class Function, class In, class Out>
LODESTONE_TARGET_AVX2 void unary_avx2(const Plane<1>& plane, Out* out, const In* in) {
  unary_plane<Function>(plane, out, in);
}
template <class Function, class In, class Out>
LODESTONE_TARGET_AVX512 void unary_avx512(const Plane<1>& plane, Out* out, const In* in) {
  unary_plane<Function>(plane, out, in);
}
template <class Function, class In, class Out>
void binary_base(const Plane<2>& plane, Out* out, const In* a, const In* b) {
  binary_plane<Function>(plane, out, a, b);
}
template <class Function, class In, class Out>
LODESTONE_TARGET_AVX2 void binary_avx2(const Plane<2>& plane, Out* out, const In* a, const In* b) {
  binary_plane<Function>(plane, out, a, b);
}
template <class Function, class In, class Out>
LODESTONE_TARGET_AVX512 void binary_avx512(const Plane<2>& plane, Out* out, const In* a, const In* b) {
  binary_plane<Function>(plane, out, a, b);
}

/// Whether wider vectors pay: arithmetic of floats. Calls of the mathematical library and integers get one version, which halves the compiler's work.
template <class Function, class T>
inline constexpr bool is_wide = std::is_floating_point_v<T>&& scalar::is_arithmetic<Function>;

/// Operations per element, for deciding on threads.
template <class Function>
inline constexpr double cost_of = scalar::is_arithmetic<Function> ? 4.0 : 20.0;

template <class Function, class In, class Out>
auto unary_plane_for() {
  if constexpr (is_wide<Function, In>) {
    if (isa() == Isa::avx512) return unary_avx512<Function, In, Out>;
    if (isa() == Isa::avx2) return unary_avx2<Function, In, Out>;
  }
  return unary_base<Function, In, Out>;
}

template <class Function, class In, class Out>
auto binary_plane_for() {
  if constexpr (is_wide<Function, In>) {
    if (isa() == Isa::avx512) return binary_avx512<Function, In, Out>;
    if (isa() == Isa::avx2) return binary_avx2<Function, In, Out>;
  }
  return binary_base<Function, In, Out>;
}

template <class Function, class In, class Out>
void unary_loops(const KernelCall& call) {
  const auto run = unary_plane_for<Function, In, Out>();
  const LoopNest<1> nest(call);
  nest.for_each_plane(cost_of<Function>, [&](const Plane<1>& plane, std::int64_t out, const auto& offsets) {
    run(plane, call.out.as<Out>() + out, call.in[0].as<In>() + offsets[0]);
  });
}

template <class Function, class T>
void unary_kernel(const KernelCall& call) {
  unary_loops<Function, T, decltype(Function{}(T{}))>(call);
}

template <class Function, class T>
void binary_kernel(const KernelCall& call) {
  using Out = decltype(Function{}(T{}, T{}));
  const auto run = binary_plane_for<Function, T, Out>();
  const LoopNest<2> nest(call);
  nest.for_each_plane(cost_of<Function>, [&](const Plane<2>& plane, std::int64_t out, const auto& offsets) {
    run(plane, call.out.as<Out>() + out, call.in[0].as<T>() + offsets[0], call.in[1].as<T>() + offsets[1]);
  });
}

struct Loops {
  OpTable& table;
  template <class Function, class... T>
  void unary(std::string_view name) const {
    (table.at(name).with_kernel(Backend::processor, core::dtype_of<T>, {"cpu.loop", unary_kernel<Function, T>, false, name != "copy"}),
     ...);
  }
  template <class Function, class... T>
  void binary(std::string_view name) const {
    (table.at(name).with_kernel(Backend::processor, core::dtype_of<T>, {"cpu.loop", binary_kernel<Function, T>, false, true}), ...);
  }
};

void cast_kernel(const KernelCall& call) {
  core::visit_dtype(call.in[0].aval->dtype, [&](auto from) {
    core::visit_dtype(call.out.aval->dtype, [&](auto to) { unary_loops<scalar::Cast<decltype(to)>, decltype(from), decltype(to)>(call); });
  });
}

template <class T>
void select_planes(const KernelCall& call) {
  const LoopNest<3> nest(call);
  nest.for_each_plane(4.0, [&](const Plane<3>& plane, std::int64_t out, const auto& offsets) {
    T* to = call.out.as<T>() + out;
    const bool* c = call.in[0].as<bool>() + offsets[0];
    const T *a = call.in[1].as<T>() + offsets[1], *b = call.in[2].as<T>() + offsets[2];
    const auto [of_c, of_a, of_b] = plane.step;
    for (std::int64_t row = 0; row < plane.rows; ++row) {
      for (std::int64_t i = 0; i < plane.length; ++i) to[i] = c[i * of_c] ? a[i * of_a] : b[i * of_b];
      to += plane.length;
      c += plane.row_step[0];
      a += plane.row_step[1];
      b += plane.row_step[2];
    }
  });
}

void select_kernel(const KernelCall& call) {
  switch (core::size_of(call.out.aval->dtype)) {  // only moved, so the size is all that counts
    case 1:
      return select_planes<std::uint8_t>(call);
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
    if (any_computed.contains(dtype)) table.at("cast").with_kernel(Backend::processor, dtype, {"cpu.loop", cast_kernel});
  }
}

}  // namespace lodestone::engine::cpu_backend
