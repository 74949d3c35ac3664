// SPDX-License-Identifier: Apache-2.0
// Products by BLAS: dot_general, and widening_dot_general of operands that are widened first.
#include "engine/backend/cpu/gemm.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/matrix_operands.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/core/blas_setup.hpp"
#include "engine/core/half.hpp"
#include "engine/graph/op_table.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// Returns true for A B of two matrices as they are stored, too small to be shared among threads: then there
/// is nothing to group.
bool is_small_product(const KernelCall& call) {
  const auto& attrs = call.attrs_of<DotAttrs>();
  const auto is_stored = [](const View& view) {
    return view.shape().rank() == 2 && view.shape()[0] > 1 && view.shape()[1] > 1 &&
           is_contiguous(view.shape(), *view.strides);
  };
  const auto is_only = [](const Axes& axes, Dim axis) { return axes.size() == 1 && axes[0] == axis; };
  return attrs.batch_a.empty() && is_stored(call.in[0]) && is_stored(call.in[1]) &&
         is_only(attrs.contract_a, 1) && is_only(attrs.contract_b, 0) && call.out[0].shape()[0] < 128;
}

/// Multiplies stacks of matrices. Rows are split by the shape alone: BLAS adds in another order for other
/// numbers of rows, and the number of threads must not change a bit. Each piece costs BLAS another look at B,
/// hence few of them.
template <class T>
void multiply(const Operands<T>& both, T* out) {
  const auto& [a, b] = both;
  const double ns = 0.02 * static_cast<double>(a.rows * b.columns) * static_cast<double>(a.columns);
  const Dim pieces = std::clamp<Dim>(std::min(a.rows / 128, static_cast<Dim>(ns / least_shared_ns)), 1, 4);
  share(a.batch * pieces, ns * static_cast<double>(a.batch), [&, &a = a, &b = b](Dim begin, Dim end) {
    for (Dim i = begin; i < end; ++i) {
      const Dim n = i / pieces, first = i % pieces * a.rows / pieces,
                last = (i % pieces + 1) * a.rows / pieces;
      gemm<T>({last - first, b.columns, a.columns},
              {a.data + n * a.batch_stride + first * a.row_stride, a.row_stride, a.column_stride},
              {b.data + n * b.batch_stride, b.row_stride, b.column_stride},
              {out + (n * a.rows + first) * b.columns, b.columns});
    }
  });
}

template <class T>
void dot_kernel(const KernelCall& call) {
  if (is_small_product(call)) {
    const Dim rows = call.out[0].shape()[0], columns = call.out[0].shape()[1], summed = call.in[0].shape()[1];
    return gemm<T>({rows, columns, summed}, {call.in[0].as<T>(), summed, 1}, {call.in[1].as<T>(), columns, 1},
                   {call.out[0].as<T>(), columns});
  }
  if (call.out[0].count() == 0) return;
  const Operands<T> both = shared_arrays<operands<T>>(call);
  both.pack(call);
  multiply(both, call.out[0].as<T>());
}

template <class T>
Workspace workspace(const KernelCall& call) {
  return is_small_product(call) ? Workspace() : shared_workspace<operands<T>>(call);
}

/// Narrow operands, without gaps, and those in the dtype in which they are multiplied.
template <class A, class B, class Wide>
struct Widened {
  Operands<A, B> narrow;
  Operands<Wide> wide;
  Wide* product;  ///< null where the result has this dtype
};

template <class A, class B, class Wide, class Out>
Widened<A, B, Wide> widened(Layout& layout, const KernelCall& call) {
  const Operands<A, B> narrow = operands<A, B>(layout, call);
  const auto room_for = [&](const auto& of, const View& view) -> Operand<Wide> {
    Wide* const copy = layout.array<Wide>(view.count());
    return {copy, of.batch, of.rows, of.columns, of.batch_stride, of.row_stride, of.column_stride, copy};
  };
  const Operand<Wide> a = room_for(narrow.a, call.in[0]), b = room_for(narrow.b, call.in[1]);
  constexpr bool is_in_between = !std::is_same_v<Wide, Out>;
  return {narrow, {a, b}, is_in_between ? layout.array<Wide>(call.out[0].count()) : nullptr};
}

template <class From, class To>
void convert(const From* from, Dim n, To* to) {
  share(n, 0.3 * static_cast<double>(n), [&](Dim begin, Dim end) {
    for (Dim i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
  });
}

template <class A, class B, class Wide, class Out>
void widening_kernel(const KernelCall& call) {
  const Dim n = call.out[0].count();
  if (n == 0) return;
  const auto [narrow, wide, product] = shared_arrays<widened<A, B, Wide, Out>>(call);
  narrow.pack(call);
  convert(narrow.a.data, call.in[0].count(), wide.a.copy);
  convert(narrow.b.data, call.in[1].count(), wide.b.copy);
  if constexpr (std::is_same_v<Wide, Out>) {
    multiply(wide, call.out[0].as<Out>());
  } else {
    multiply(wide, product);
    convert(static_cast<const Wide*>(product), n, call.out[0].as<Out>());
  }
}

template <class A, class B, class Wide, class Out>
Kernel widening() {
  return {.name = "cpu.gemm",
          .run = widening_kernel<A, B, Wide, Out>,
          .contiguous_inputs = true,
          .workspace = shared_workspace<widened<A, B, Wide, Out>>};
}

/// Returns the kernel for these second operands. Sums of products of bytes are exact in f64.
template <class A>
const Kernel& widening_of_bytes(const KernelCall& call) {
  static const Kernel by_signed = widening<A, std::int8_t, double, std::int32_t>(),
                      by_unsigned = widening<A, std::uint8_t, double, std::int32_t>();
  return call.in[1].aval->dtype == DType::i8 ? by_signed : by_unsigned;
}

template <class A>
void put_of_bytes(OpInfo& row) {
  row.with_kernel(
      Backend::processor, core::dtype_of<A>,
      {.name = "cpu.gemm",
       .run = [](const KernelCall& call) { widening_of_bytes<A>(call).run(call); },
       .contiguous_inputs = true,
       .workspace = [](const KernelCall& call) { return widening_of_bytes<A>(call).workspace(call); }});
}

template <class T>
void put(OpInfo& row) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.gemm", .run = dot_kernel<T>, .workspace = workspace<T>});
}

}  // namespace

void register_product_kernels(OpTable& table) {
  core::prepare_blas();
  OpInfo& row = table.at("dot_general");
  put<float>(row);
  put<double>(row);
  put<std::complex<float>>(row);
  put<std::complex<double>>(row);
  OpInfo& wide = table.at("widening_dot_general");
  wide.with_kernel(Backend::processor, DType::bf16, widening<core::BFloat16, core::BFloat16, float, float>());
  wide.with_kernel(Backend::processor, DType::f16, widening<core::Float16, core::Float16, float, float>());
  put_of_bytes<std::int8_t>(wide);
  put_of_bytes<std::uint8_t>(wide);
}

}  // namespace lodestone::engine::cpu_backend
