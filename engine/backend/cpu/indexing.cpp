// SPDX-License-Identifier: Apache-2.0
// gather and scatter_add by blocks of elements that lie together; argmax and argmin row by row.
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/indices.hpp"
#include "engine/backend/scalar_functions.hpp"
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

std::vector<std::int64_t> checked_indices(const KernelCall& call) {
  const Dim extent = call.attrs_of<IndexAttrs>().extent;
  std::vector<std::int64_t> result(static_cast<std::size_t>(call.in[1].count()));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = checked_index(call.in[1].aval->dtype == DType::i32 ? call.in[1].as<std::int32_t>()[i]
                                                                   : call.in[1].as<std::int64_t>()[i],
                              extent, call);
  return result;
}

/// visit(element of x, element of what was taken, elements that lie together) for each index.
template <class Visit>
void for_each_block(const KernelCall& call, const Extents& size, Visit&& visit) {
  const Dim extent = call.attrs_of<IndexAttrs>().extent;
  const std::vector<std::int64_t> indices = checked_indices(call);
  for (std::int64_t b = 0; b < size.batch; ++b) {
    for (std::int64_t p = b * size.before; p < (b + 1) * size.before; ++p) {
      for (std::int64_t i = 0; i < size.n; ++i)
        visit((p * extent + indices[static_cast<std::size_t>(b * size.n + i)]) * size.behind,
              (p * size.n + i) * size.behind);
    }
  }
}

template <class T>
void gather_kernel(const KernelCall& call) {
  const Extents size = extents_of(call, call.in[0].shape());
  const T* x = call.in[0].as<T>();
  T* out = call.out.as<T>();
  for_each_block(call, size,
                 [&](std::int64_t from, std::int64_t to) { std::copy_n(x + from, size.behind, out + to); });
}

template <class T>
void scatter_kernel(const KernelCall& call) {
  const Extents size = extents_of(call, call.out.shape());
  const T* x = call.in[0].as<T>();
  T* out = call.out.as<T>();
  std::fill_n(out, call.out.count(), T(0));
  for_each_block(call, size, [&](std::int64_t to, std::int64_t from) {
    for (std::int64_t q = 0; q < size.behind; ++q) out[to + q] = scalar::Add{}(out[to + q], x[from + q]);
  });
}

template <class T, class Better>
void arg_kernel(const KernelCall& call) {
  const AlongAxis size(call.in[0].shape(), call.attrs_of<AxisAttrs>().axis);
  std::vector<T> best(static_cast<std::size_t>(size.inner));
  const T* x = call.in[0].as<T>();
  auto* out = call.out.as<std::int64_t>();
  for (std::int64_t o = 0; o < size.outer; ++o, out += size.inner) {
    for (std::int64_t k = 0; k < size.extent; ++k, x += size.inner) {
      for (std::int64_t j = 0; j < size.inner; ++j) {
        T& so_far = best[static_cast<std::size_t>(j)];
        if (k > 0 && !Better{}(x[j], so_far) && (x[j] == x[j] || so_far != so_far)) continue;
        so_far = x[j];
        out[j] = k;
      }
    }
  }
}

template <class T>
void iota_kernel(const KernelCall& call) {
  for (std::int64_t i = 0; i < call.out.count(); ++i) call.out.as<T>()[i] = scalar::Cast<T>{}(i);
}

}  // namespace

void register_indexing_kernels(OpTable& table) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    core::visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto put = [&](std::string_view name, std::string_view kernel, void (*run)(const KernelCall&)) {
        table.at(name).with_kernel(Backend::processor, dtype, {kernel, run, true});
      };
      put("gather", "cpu.blocks", gather_kernel<T>);
      if constexpr (!std::is_same_v<T, bool>) put("scatter_add", "cpu.blocks", scatter_kernel<T>);
      if constexpr (!std::is_same_v<T, bool>) put("iota", "cpu.loop", iota_kernel<T>);
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        put("argmax", "cpu.rows", arg_kernel<T, scalar::Greater>);
        put("argmin", "cpu.rows", arg_kernel<T, scalar::Less>);
      }
    });
  }
}

}  // namespace lodestone::engine::cpu_backend
