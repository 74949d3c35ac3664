// SPDX-License-Identifier: Apache-2.0
// Complex convolutions as matrix products: the windows of a few positions are laid out as rows (a patch
// matrix), and all channels of a group are one product. Rows are taken in chunks that stay in the cache.
#include "engine/backend/cpu/gemm.hpp"
#include "engine/backend/cpu/hand_over.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/patches.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/op_table.hpp"

#include <algorithm>

namespace lodestone::engine::cpu_backend {
namespace {

// Operands: w of a group is [window · c, k of the group] inside [window · c, k], a column block; y likewise
// inside [rows, k].

/// x, w and y of a convolution, one of which is the output.
struct Operands {
  const View &x, &w, &y;
};
using OperandsOf = Operands (*)(const KernelCall&);
Operands of_conv(const KernelCall& call) { return {call.in[0], call.in[1], call.out[0]}; }
Operands of_transpose(const KernelCall& call) { return {call.out[0], call.in[1], call.in[0]}; }
Operands of_weights(const KernelCall& call) { return {call.in[0], call.out[0], call.in[1]}; }

/// Some rows of the patch matrix at a time: about 256 KiB.
template <class T>
struct Chunks {
  Patches patches;
  Dim k, k_group, size;
  int groups;

  Chunks(const ConvAttrs& attrs, const Operands& of)
      : patches(attrs, of.x.shape(), of.w.shape(), of.y.shape()),
        k(of.y.shape().back()),
        k_group(k / attrs.groups),
        size(std::clamp<Dim>(
            (Dim{1} << 18) / static_cast<Dim>(sizeof(T)) / std::max<Dim>(patches.row_length(), 1), 16,
            std::max<Dim>(patches.n_rows(), 16))),
        groups(attrs.groups) {}

  /// Calls visit(first row, number of rows, group) for all of them.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (Dim first = 0; first < patches.n_rows(); first += size) {
      for (int group = 0; group < groups; ++group)
        visit(first, std::min(size, patches.n_rows() - first), group);
    }
  }
};

template <class T, OperandsOf operands_of>
T* rows_of_chunk(Layout& layout, const KernelCall& call) {
  const Chunks<T> chunks(call.attrs_of<ConvAttrs>(), operands_of(call));
  return layout.array<T>(chunks.size * chunks.patches.row_length());
}

template <class T>
void conv_kernel(const KernelCall& call) {
  if (call.out[0].count() == 0) return;
  const Chunks<T> chunks(call.attrs_of<ConvAttrs>(), of_conv(call));
  const Dim k = chunks.k, length = chunks.patches.row_length();
  T* const rows = shared_arrays<rows_of_chunk<T, of_conv>>(call);
  HandOver done(call);
  chunks.for_each([&](Dim first, Dim n, int group) {
    chunks.patches.gather(call.in[0].as<T>(), group, first, n, rows);
    gemm<T>({n, chunks.k_group, length}, {rows, length, 1},
            {call.in[1].as<T>() + group * chunks.k_group, k, 1},
            {call.out[0].as<T>() + first * k + group * chunks.k_group, k});
    if (group == chunks.groups - 1) done(first * k, n * k);
  });
  done.finish();
}

template <class T>
void conv_transpose_kernel(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), T(0));
  if (call.in[0].count() == 0) return HandOver::all(call, call.out[0].count(), elements_of_item(call));
  const Chunks<T> chunks(call.attrs_of<ConvAttrs>(), of_transpose(call));
  const Dim k = chunks.k, length = chunks.patches.row_length();
  T* const rows = shared_arrays<rows_of_chunk<T, of_transpose>>(call);
  chunks.for_each([&](Dim first, Dim n, int group) {
    gemm<T>({n, length, chunks.k_group}, {call.in[0].as<T>() + first * k + group * chunks.k_group, k, 1},
            {call.in[1].as<T>() + group * chunks.k_group, 1, k}, {rows, length});
    chunks.patches.scatter_add(rows, group, first, n, call.out[0].as<T>());
  });
  HandOver::all(call, call.out[0].count(), elements_of_item(call));
}

template <class T>
void conv_weights_kernel(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), T(0));
  if (call.out[0].count() == 0 || call.in[1].count() == 0) return;
  const Chunks<T> chunks(call.attrs_of<ConvAttrs>(), of_weights(call));
  const Dim k = chunks.k, length = chunks.patches.row_length();
  T* const rows = shared_arrays<rows_of_chunk<T, of_weights>>(call);
  chunks.for_each([&](Dim first, Dim n, int group) {
    chunks.patches.gather(call.in[0].as<T>(), group, first, n, rows);
    gemm<T>({length, chunks.k_group, n}, {rows, 1, length},
            {call.in[1].as<T>() + first * k + group * chunks.k_group, k, 1},
            {call.out[0].as<T>() + group * chunks.k_group, k, Accumulate::yes});
  });
}

template <class T, OperandsOf operands_of>
void put(OpInfo& row, void (*run)(const KernelCall&), std::int64_t (*hands_over)(const KernelCall&)) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.patches",
                   .run = run,
                   .contiguous_inputs = true,
                   .workspace = shared_workspace<rows_of_chunk<T, operands_of>>,
                   .hands_over = hands_over});
}

template <class T>
void register_for(OpTable& table) {
  put<T, of_conv>(table.at("conv"), conv_kernel<T>, elements_of_row);
  put<T, of_transpose>(table.at("conv_transpose"), conv_transpose_kernel<T>, elements_of_item);
  put<T, of_weights>(table.at("conv_weights"), conv_weights_kernel<T>, nullptr);
}

}  // namespace

void register_patch_convolution_kernels(OpTable& table) {
  register_for<std::complex<float>>(table);
  register_for<std::complex<double>>(table);
}

}  // namespace lodestone::engine::cpu_backend
