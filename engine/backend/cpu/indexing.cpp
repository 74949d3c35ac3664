// SPDX-License-Identifier: Apache-2.0
// gather and scatter_add by blocks of elements that lie together; argmax and argmin row by row.
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/indices.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>

namespace lodestone::engine::cpu_backend {
namespace {

/// x as [batch, before, extent, behind] and the indices as [batch, n].
struct Extents {
  std::int64_t batch = 1, before = 1, n = 1, behind = 1;
};

Extents extents_of(const KernelCall& call, const Shape& x) {
  const auto& [n_batch, axis, extent] = call.attrs_of<IndexAttrs>();
  Extents result;
  for (int i = 0; i < x.rank(); ++i)
    (i < n_batch ? result.batch : i < axis ? result.before : i > axis ? result.behind : result.n) *= x[i];
  result.n = 1;
  for (int i = n_batch; i < call.in[1].shape().rank(); ++i) result.n *= call.in[1].shape()[i];
  return result;
}

std::int64_t* wide_indices(Layout& layout, const KernelCall& call) {
  return layout.array<std::int64_t>(call.in[1].count());
}

const std::int64_t* checked_indices(const KernelCall& call) {
  const Dim extent = call.attrs_of<IndexAttrs>().extent;
  auto* const result = shared_arrays<wide_indices>(call);
  for (std::int64_t i = 0; i < call.in[1].count(); ++i)
    result[i] = checked_index(call.in[1].aval->dtype == DType::i32 ? call.in[1].as<std::int32_t>()[i]
                                                                   : call.in[1].as<std::int64_t>()[i],
                              extent, call);
  return result;
}

/// visit(element of x, element of what was taken, elements that lie together) for each index.
template <class Visit>
void for_each_block(const KernelCall& call, const Extents& size, Visit&& visit) {
  const Dim extent = call.attrs_of<IndexAttrs>().extent;
  const std::int64_t* const indices = checked_indices(call);
  for (std::int64_t b = 0; b < size.batch; ++b) {
    for (std::int64_t p = b * size.before; p < (b + 1) * size.before; ++p) {
      for (std::int64_t i = 0; i < size.n; ++i)
        visit((p * extent + indices[b * size.n + i]) * size.behind, (p * size.n + i) * size.behind);
    }
  }
}

template <class T>
void gather_kernel(const KernelCall& call) {
  const Extents size = extents_of(call, call.in[0].shape());
  const T* x = call.in[0].as<T>();
  T* out = call.out[0].as<T>();
  for_each_block(call, size,
                 [&](std::int64_t from, std::int64_t to) { std::copy_n(x + from, size.behind, out + to); });
}

template <class T>
void scatter_kernel(const KernelCall& call) {
  const Extents size = extents_of(call, call.out[0].shape());
  const T* x = call.in[0].as<T>();
  T* out = call.out[0].as<T>();
  std::fill_n(out, call.out[0].count(), T(0));
  for_each_block(call, size, [&](std::int64_t to, std::int64_t from) {
    for (std::int64_t q = 0; q < size.behind; ++q) out[to + q] = scalar::Add{}(out[to + q], x[from + q]);
  });
}

template <class T>
T* best_so_far(Layout& layout, const KernelCall& call) {
  return layout.array<T>(AlongAxis(call.in[0].shape(), call.attrs_of<AxisAttrs>().axis).inner);
}

template <class T, class Better>
void arg_kernel(const KernelCall& call) {
  const AlongAxis size(call.in[0].shape(), call.attrs_of<AxisAttrs>().axis);
  T* const best = shared_arrays<best_so_far<T>>(call);
  const T* x = call.in[0].as<T>();
  auto* out = call.out[0].as<std::int64_t>();
  for (std::int64_t o = 0; o < size.outer; ++o, out += size.inner) {
    for (std::int64_t k = 0; k < size.extent; ++k, x += size.inner) {
      for (std::int64_t j = 0; j < size.inner; ++j) {
        T& so_far = best[j];
        if (k > 0 && !Better{}(x[j], so_far) && (x[j] == x[j] || so_far != so_far)) continue;
        so_far = x[j];
        out[j] = k;
      }
    }
  }
}

template <class T>
void iota_kernel(const KernelCall& call) {
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) call.out[0].as<T>()[i] = scalar::Cast<T>{}(i);
}

}  // namespace

void register_indexing_kernels(OpTable& table) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    core::visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto put = [&](std::string_view name, std::string_view kernel, void (*run)(const KernelCall&),
                           Workspace (*workspace)(const KernelCall&)) {
        table.at(name).with_kernel(
            Backend::processor, dtype,
            {.name = kernel, .run = run, .contiguous_inputs = true, .workspace = workspace});
      };
      put("gather", "cpu.blocks", gather_kernel<T>, shared_workspace<wide_indices>);
      if constexpr (!std::is_same_v<T, bool>) {
        put("scatter_add", "cpu.blocks", scatter_kernel<T>, shared_workspace<wide_indices>);
        put("iota", "cpu.loop", iota_kernel<T>, nullptr);
      }
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        put("argmax", "cpu.rows", arg_kernel<T, scalar::Greater>, shared_workspace<best_so_far<T>>);
        put("argmin", "cpu.rows", arg_kernel<T, scalar::Less>, shared_workspace<best_so_far<T>>);
      }
    });
  }
}

}  // namespace lodestone::engine::cpu_backend
