// SPDX-License-Identifier: Apache-2.0
// Products by BLAS: dot_general, and widening_dot_general of operands that are widened first.
#include "engine/backend/cpu/gemm.hpp"
#include "engine/backend/cpu/hand_over.hpp"
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

/// A division of the rows of each matrix of a stack: by the shape alone, since BLAS adds in another order
/// for other numbers of rows, and the number of threads must not change a bit. Each piece costs BLAS another
/// look at B, hence few of them.
struct RowPieces {
  static constexpr double ns_of_piece = 2e5;
  double ns;  ///< for a matrix, on one thread, roughly
  Dim rows, n;
  template <class A, class B>
  explicit RowPieces(const Operands<A, B>& both)
      : ns(0.02 * static_cast<double>(both.a.rows * both.b.columns) * static_cast<double>(both.a.columns)),
        rows(both.a.rows),
        n(std::clamp<Dim>(std::min(rows / 128, static_cast<Dim>(ns / ns_of_piece)), 1, 4)) {}
  [[nodiscard]] Dim first(Dim piece) const { return piece * rows / n; }
  [[nodiscard]] Dim longest() const { return (rows + n - 1) / n; }
};

/// Returns the place of the rows of a piece of A, on the thread that a reader makes them on.
template <class T>
T* made_rows(Layout& of_thread, const KernelCall& call, const Operand<T>& a, const RowPieces& by) {
  return of_thread.array<T>(call.reader == nullptr ? 0 : by.longest() * a.columns);
}

/// Multiplies stacks of matrices, piece by piece.
template <class T>
void multiply(const KernelCall& call, const Operands<T>& both, T* out) {
  const auto& [a, b] = both;
  const RowPieces by(both);
  const bool is_one = a.batch * by.n == 1;
  share(a.batch * by.n, by.ns * static_cast<double>(a.batch), [&, &a = a, &b = b](Dim begin, Dim end) {
    Layout own(call.reader == nullptr ? nullptr : call.scratch.of_this_thread());
    T* const made = made_rows(own, call, a, by);
    if (call.reader != nullptr) call.reader->open();
    HandOver done(call);
    for (Dim i = begin; i < end; ++i) {
      const Dim n = i / by.n, first = by.first(i % by.n), rows = by.first(i % by.n + 1) - first,
                at = n * a.rows + first;
      GemmOperand<T> left{a.data + n * a.batch_stride + first * a.row_stride, a.row_stride, a.column_stride};
      if (call.reader != nullptr) {
        call.reader->read(at * a.columns, rows * a.columns, reinterpret_cast<std::byte*>(made));
        left = {made, a.columns, 1};
      }
      gemm<T>({rows, b.columns, a.columns}, left,
              {b.data + n * b.batch_stride, b.row_stride, b.column_stride},
              {out + at * b.columns, b.columns});
      if (!is_one) done(at * b.columns, rows * b.columns);
    }
    done.finish();
  });
  if (is_one) HandOver::all(call, a.rows * b.columns, b.columns);
}

/// Returns the elements of a row of the result.
template <class A, class B = A>
Dim columns_of(const KernelCall& call) {
  Layout layout;
  return operands<A, B>(layout, call).b.columns;
}

/// Returns the elements of a row of A where its rows lie one behind the other and are multiplied in several
/// pieces, else 0. A reader can then make them as they come.
template <class T>
Dim summed_in_order(const KernelCall& call) {
  Layout layout;
  const Operands<T> both = operands<T>(layout, call);
  const Operand<T>& a = both.a;
  const bool is_in_order = a.order.empty() && (a.columns == 1 || a.column_stride == 1) &&
                           (a.rows == 1 || a.row_stride == a.columns) &&
                           (a.batch == 1 || a.batch_stride == a.rows * a.columns);
  return is_in_order && a.batch * RowPieces(both).n > 1 ? a.columns : 0;
}

template <class T>
void dot_kernel(const KernelCall& call) {
  if (call.reader == nullptr && is_small_product(call)) {
    const Dim rows = call.out[0].shape()[0], columns = call.out[0].shape()[1], summed = call.in[0].shape()[1];
    gemm<T>({rows, columns, summed}, {call.in[0].as<T>(), summed, 1}, {call.in[1].as<T>(), columns, 1},
            {call.out[0].as<T>(), columns});
    return HandOver::all(call, rows * columns, columns);
  }
  if (call.out[0].count() == 0) return;
  const Operands<T> both = shared_arrays<operands<T>>(call);
  both.pack(call);
  multiply(call, both, call.out[0].as<T>());
}

template <class T>
Workspace workspace(const KernelCall& call) {
  if (call.reader == nullptr && is_small_product(call)) return {};
  Layout shared, own;
  const Operands<T> both = operands<T>(shared, call);
  static_cast<void>(made_rows(own, call, both.a, RowPieces(both)));
  return {shared.bytes(), own.bytes()};
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
    multiply(call, wide, call.out[0].as<Out>());
  } else {
    const KernelCall unhooked{call.op, call.attrs, call.in, call.out, call.scratch, call.where};
    multiply(unhooked, wide, product);
    convert(static_cast<const Wide*>(product), n, call.out[0].as<Out>());
    HandOver::all(call, n, wide.b.columns);
  }
}

template <class A, class B, class Wide, class Out>
Kernel widening() {
  return {.name = "cpu.gemm",
          .run = widening_kernel<A, B, Wide, Out>,
          .contiguous_inputs = true,
          .workspace = shared_workspace<widened<A, B, Wide, Out>>,
          .hands_over = columns_of<A, B>};
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
       .workspace = [](const KernelCall& call) { return widening_of_bytes<A>(call).workspace(call); },
       .hands_over = [](const KernelCall& call) { return widening_of_bytes<A>(call).hands_over(call); }});
}

template <class T>
void put(OpInfo& row) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.gemm",
                   .run = dot_kernel<T>,
                   .reads_once = true,
                   .workspace = workspace<T>,
                   .hands_over = columns_of<T>,
                   .reads_by = summed_in_order<T>});
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
