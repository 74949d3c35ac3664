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
[[gnu::always_inline]] inline void unary_row(std::int64_t n, Out* out, const In* in, std::int64_t stride) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(in[i]);
  } else if (stride == 0) {
    std::fill_n(out, n, Function{}(*in));
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(in[i * stride]);
  }
}

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void binary_row(std::int64_t n, Out* out, const In* a, std::int64_t stride_a, const In* b,
                                              std::int64_t stride_b) {
  if (stride_a == 1 && stride_b == 1) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i], b[i]);
  } else if (stride_a == 1 && stride_b == 0) {
    const In right = *b;
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i], right);
  } else if (stride_a == 0 && stride_b == 1) {
    const In left = *a;
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(left, b[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i * stride_a], b[i * stride_b]);
  }
}

// The same rows once per instruction set.
template <class Function, class In, class Out>
void unary_base(std::int64_t n, Out* out, const In* in, std::int64_t stride) {
  unary_row<Function>(n, out, in, stride);
}
template <class Function, class In, class Out>
LODESTONE_TARGET_AVX2 void unary_avx2(std::int64_t n, Out* out, const In* in, std::int64_t stride) {
  unary_row<Function>(n, out, in, stride);
}
template <class Function, class In, class Out>
LODESTONE_TARGET_AVX512 void unary_avx512(std::int64_t n, Out* out, const In* in, std::int64_t stride) {
  unary_row<Function>(n, out, in, stride);
}
template <class Function, class In, class Out>
void binary_base(std::int64_t n, Out* out, const In* a, std::int64_t stride_a, const In* b, std::int64_t stride_b) {
  binary_row<Function>(n, out, a, stride_a, b, stride_b);
}
template <class Function, class In, class Out>
LODESTONE_TARGET_AVX2 void binary_avx2(std::int64_t n, Out* out, const In* a, std::int64_t stride_a, const In* b, std::int64_t stride_b) {
  binary_row<Function>(n, out, a, stride_a, b, stride_b);
}
template <class Function, class In, class Out>
LODESTONE_TARGET_AVX512 void binary_avx512(std::int64_t n, Out* out, const In* a, std::int64_t stride_a, const In* b,
                                           std::int64_t stride_b) {
  binary_row<Function>(n, out, a, stride_a, b, stride_b);
}

/// Whether wider vectors pay: arithmetic of floats. Calls of the mathematical library and integers get one version, which halves the compiler's work.
template <class Function, class T>
inline constexpr bool is_wide = std::is_floating_point_v<T>&& scalar::is_arithmetic<Function>;

template <class Function, class In, class Out>
auto unary_row_for() {
  if constexpr (is_wide<Function, In>) {
    if (isa() == Isa::avx512) return unary_avx512<Function, In, Out>;
    if (isa() == Isa::avx2) return unary_avx2<Function, In, Out>;
  }
  return unary_base<Function, In, Out>;
}

template <class Function, class In, class Out>
auto binary_row_for() {
  if constexpr (is_wide<Function, In>) {
    if (isa() == Isa::avx512) return binary_avx512<Function, In, Out>;
    if (isa() == Isa::avx2) return binary_avx2<Function, In, Out>;
  }
  return binary_base<Function, In, Out>;
}

template <class Function, class In, class Out>
void unary_loops(const KernelCall& call) {
  const auto row = unary_row_for<Function, In, Out>();
  const LoopNest<1> nest(call);
  nest.for_each_row([&](std::int64_t out, const auto& offsets) {
    row(nest.row_length(), call.out.as<Out>() + out, call.in[0].as<In>() + offsets[0], nest.row_stride(0));
  });
}

template <class Function, class T>
void unary_kernel(const KernelCall& call) {
  unary_loops<Function, T, decltype(Function{}(T{}))>(call);
}

template <class Function, class T>
void binary_kernel(const KernelCall& call) {
  using Out = decltype(Function{}(T{}, T{}));
  const auto row = binary_row_for<Function, T, Out>();
  const LoopNest<2> nest(call);
  nest.for_each_row([&](std::int64_t out, const auto& offsets) {
    row(nest.row_length(), call.out.as<Out>() + out, call.in[0].as<T>() + offsets[0], nest.row_stride(0), call.in[1].as<T>() + offsets[1],
        nest.row_stride(1));
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
void select_rows(const KernelCall& call) {
  const LoopNest<3> nest(call);
  const std::int64_t n = nest.row_length(), of_c = nest.row_stride(0), of_a = nest.row_stride(1), of_b = nest.row_stride(2);
  nest.for_each_row([&](std::int64_t out, const auto& offsets) {
    T* to = call.out.as<T>() + out;
    const bool* c = call.in[0].as<bool>() + offsets[0];
    const T *a = call.in[1].as<T>() + offsets[1], *b = call.in[2].as<T>() + offsets[2];
    for (std::int64_t i = 0; i < n; ++i) to[i] = c[i * of_c] ? a[i * of_a] : b[i * of_b];
  });
}

void select_kernel(const KernelCall& call) {
  switch (core::size_of(call.out.aval->dtype)) {  // only moved, so the size is all that counts
    case 1:
      return select_rows<std::uint8_t>(call);
    case 4:
      return select_rows<std::uint32_t>(call);
    case 8:
      return select_rows<std::uint64_t>(call);
    default:
      return select_rows<std::complex<double>>(call);
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
