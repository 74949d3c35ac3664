// SPDX-License-Identifier: Apache-2.0
// Complex convolutions as matrix products: the windows of a few positions are laid out as rows (a patch
// matrix), and all channels of a group are one product. Rows are taken in chunks that stay in the cache.
#include "engine/backend/cpu/gemm.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/patches.hpp"
#include "engine/graph/op_table.hpp"

#include <algorithm>

namespace lodestone::engine::cpu_backend {
namespace {

/// Rows of the patch matrix that are made at once: about 256 KiB.
template <class T>
Dim chunk_of(const Patches& patches) {
  return std::clamp<Dim>(
      (Dim{1} << 18) / static_cast<Dim>(sizeof(T)) / std::max<Dim>(patches.row_length(), 1), 16,
      std::max<Dim>(patches.n_rows(), 16));
}

// Operands: w of a group is [window · c, k of the group] inside [window · c, k], a column block; y likewise
// inside [rows, k].

template <class T>
void conv_kernel(const KernelCall& call) {
  const auto& attrs = call.attrs_of<ConvAttrs>();
  const Patches patches(attrs, call.in[0].shape(), call.in[1].shape(), call.out.shape());
  const Dim k = call.out.shape().back(), k_group = k / attrs.groups, chunk = chunk_of<T>(patches);
  if (call.out.count() == 0) return;
  std::vector<T> rows(static_cast<std::size_t>(chunk * patches.row_length()));
  for (Dim first = 0; first < patches.n_rows(); first += chunk) {
    const Dim n = std::min(chunk, patches.n_rows() - first);
    for (int group = 0; group < attrs.groups; ++group) {
      patches.gather(call.in[0].as<T>(), group, first, n, rows.data());
      gemm<T>({n, k_group, patches.row_length()}, {rows.data(), patches.row_length(), 1},
              {call.in[1].as<T>() + group * k_group, k, 1},
              {call.out.as<T>() + first * k + group * k_group, k});
    }
  }
}

template <class T>
void conv_transpose_kernel(const KernelCall& call) {
  const auto& attrs = call.attrs_of<ConvAttrs>();
  const Patches patches(attrs, call.out.shape(), call.in[1].shape(), call.in[0].shape());
  const Dim k = call.in[0].shape().back(), k_group = k / attrs.groups, chunk = chunk_of<T>(patches);
  std::fill_n(call.out.as<T>(), call.out.count(), T(0));
  if (call.in[0].count() == 0) return;
  std::vector<T> rows(static_cast<std::size_t>(chunk * patches.row_length()));
  for (Dim first = 0; first < patches.n_rows(); first += chunk) {
    const Dim n = std::min(chunk, patches.n_rows() - first);
    for (int group = 0; group < attrs.groups; ++group) {
      gemm<T>({n, patches.row_length(), k_group}, {call.in[0].as<T>() + first * k + group * k_group, k, 1},
              {call.in[1].as<T>() + group * k_group, 1, k}, {rows.data(), patches.row_length()});
      patches.scatter_add(rows.data(), group, first, n, call.out.as<T>());
    }
  }
}

template <class T>
void conv_weights_kernel(const KernelCall& call) {
  const auto& attrs = call.attrs_of<ConvAttrs>();
  const Patches patches(attrs, call.in[0].shape(), call.out.shape(), call.in[1].shape());
  const Dim k = call.out.shape().back(), k_group = k / attrs.groups, chunk = chunk_of<T>(patches);
  std::fill_n(call.out.as<T>(), call.out.count(), T(0));
  if (call.out.count() == 0 || call.in[1].count() == 0) return;
  std::vector<T> rows(static_cast<std::size_t>(chunk * patches.row_length()));
  for (Dim first = 0; first < patches.n_rows(); first += chunk) {
    const Dim n = std::min(chunk, patches.n_rows() - first);
    for (int group = 0; group < attrs.groups; ++group) {
      patches.gather(call.in[0].as<T>(), group, first, n, rows.data());
      gemm<T>({patches.row_length(), k_group, n}, {rows.data(), 1, patches.row_length()},
              {call.in[1].as<T>() + first * k + group * k_group, k, 1},
              {call.out.as<T>() + group * k_group, k, Accumulate::yes});
    }
  }
}

template <class... T>
void register_for(OpTable& table) {
  const auto put = [&](std::string_view name, DType dtype, void (*run)(const KernelCall&)) {
    table.at(name).with_kernel(Backend::processor, dtype, {"cpu.patches", run, true});
  };
  (put("conv", core::dtype_of<T>, conv_kernel<T>), ...);
  (put("conv_transpose", core::dtype_of<T>, conv_transpose_kernel<T>), ...);
  (put("conv_weights", core::dtype_of<T>, conv_weights_kernel<T>), ...);
}

}  // namespace

void register_patch_convolution_kernels(OpTable& table) {
  register_for<std::complex<float>, std::complex<double>>(table);
}

}  // namespace lodestone::engine::cpu_backend
