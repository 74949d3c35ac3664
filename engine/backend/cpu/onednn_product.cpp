// SPDX-License-Identifier: Apache-2.0
// Products of narrow operands by oneDNN, where the processor multiplies them itself: bf16 in f32, i8 and u8
// in i32.
#include "engine/backend/cpu/hand_over.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/matrix_operands.hpp"
#include "engine/backend/cpu/onednn.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/core/half.hpp"
#include "engine/graph/op_table.hpp"

#include <array>

namespace lodestone::engine::cpu_backend {
namespace {

using dnnl::memory;

memory::data_type type_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return memory::data_type::bf16;
    case DType::i8:
      return memory::data_type::s8;
    case DType::u8:
      return memory::data_type::u8;
    case DType::i32:
      return memory::data_type::s32;
    default:
      return memory::data_type::f32;
  }
}

/// A stack of products of matrices on one thread: dtypes, extents, and distances in elements.
struct Problem {
  DType a, b, c;
  Dim batch, rows, columns, summed;
  std::array<Dim, 3> a_steps, b_steps;
  auto operator<=>(const Problem&) const = default;

  /// Returns the nanoseconds that it takes, roughly.
  [[nodiscard]] double ns() const {
    return 0.002 * static_cast<double>(batch * rows) * static_cast<double>(columns * summed);
  }
};

class Product {
 public:
  /// Makes it. errors: dnnl::error where the library has none.
  explicit Product(const Problem& p)
      : a_(onednn::array(
            {{p.batch, p.rows, p.summed}, type_of(p.a), memory::dims(p.a_steps.begin(), p.a_steps.end())})),
        b_(onednn::array({{p.batch, p.summed, p.columns},
                          type_of(p.b),
                          memory::dims(p.b_steps.begin(), p.b_steps.end())})),
        c_(onednn::array({{p.batch, p.rows, p.columns}, type_of(p.c), memory::format_tag::abc})) {
    const dnnl::matmul::primitive_desc description({a_.get_desc(), b_.get_desc(), c_.get_desc()},
                                                   onednn::with_own_workspace(), onednn::processor());
    // Its products of packed matrices, with a transposed, are fast, too.
    const std::string_view name = description.impl_info_str();
    is_fast_ = onednn::is_fast(name) || name == "gemm:jit";
    primitive_ = dnnl::matmul(description);
    workspace_ = onednn::array(description.scratchpad_desc());
  }

  [[nodiscard]] bool is_fast() const { return is_fast_; }
  [[nodiscard]] std::size_t scratch_bytes() const { return workspace_.get_desc().get_size(); }
  void run(const void* a, const void* b, void* c, std::byte* scratch) {
    a_.set_data_handle(const_cast<void*>(a));  // read only
    b_.set_data_handle(const_cast<void*>(b));
    c_.set_data_handle(c);
    workspace_.set_data_handle(scratch);
    onednn::run(
        primitive_,
        {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}, {DNNL_ARG_SCRATCHPAD, workspace_}});
  }

 private:
  memory a_, b_, c_, workspace_;
  dnnl::matmul primitive_;
  bool is_fast_ = false;
};

/// The problem of a call, divided by the stack, or by the rows of one product.
struct Division {
  Problem all;
  onednn::Pieces pieces;

  explicit Division(const Problem& problem)
      : all(problem),
        pieces(by_stack() ? problem.batch : problem.rows, problem.ns(),
               by_stack() ? onednn::Pieces::most : of_rows()) {}
  [[nodiscard]] bool by_stack() const { return all.batch > 1; }
  [[nodiscard]] Product* piece(Dim i) const {
    Problem problem = all;
    Dim& divided = by_stack() ? problem.batch : problem.rows;
    divided = pieces.items_of(i, divided);
    return onednn::made_of<Product>(problem);
  }
  /// Returns the elements between the first of neighbouring pieces.
  [[nodiscard]] Dim step_of_a() const { return pieces.items * all.a_steps[by_stack() ? 0 : 1]; }
  [[nodiscard]] Dim step_of_b() const { return by_stack() ? pieces.items * all.b_steps[0] : 0; }
  [[nodiscard]] Dim step_of_c() const { return pieces.items * all.columns * (by_stack() ? all.rows : 1); }
  [[nodiscard]] Dim elements_of(Dim i) const {
    return pieces.items_of(i, by_stack() ? all.batch : all.rows) * all.columns * (by_stack() ? all.rows : 1);
  }

 private:
  /// Returns how many pieces the rows allow: each of them brings b into oneDNN's order again.
  [[nodiscard]] Dim of_rows() const {
    constexpr Dim rows_of_piece = 1024;
    return std::clamp<Dim>(all.rows / rows_of_piece, 2, onednn::Pieces::most);
  }
};

/// Returns the distances between the elements of an operand as oneDNN knows them: those of axes of extent 1
/// are as if the array were dense.
template <class T>
std::array<Dim, 3> steps_of(const Operand<T>& of) {
  const Dim stack = of.batch == 1 ? of.rows * of.columns : of.batch_stride;
  if (of.column_stride == 1 || of.columns == 1) return {stack, of.rows == 1 ? of.columns : of.row_stride, 1};
  return {stack, 1, of.columns == 1 ? of.rows : of.column_stride};
}

template <class A, class B, class C>
Problem problem_of(const Operands<A, B>& both) {
  const auto& [a, b] = both;
  return {core::dtype_of<A>, core::dtype_of<B>, core::dtype_of<C>, a.batch,    a.rows,
          b.columns,         a.columns,         steps_of(a),       steps_of(b)};
}

/// Returns how a call is divided, if oneDNN has a fast algorithm for it.
std::optional<Division> division_of(const Problem& problem) {
  if (problem.batch * problem.rows * problem.columns * problem.summed == 0) return std::nullopt;
  const Division division(problem);
  if (division.piece(0) == nullptr || division.piece(division.pieces.n - 1) == nullptr) return std::nullopt;
  return division;
}

template <class B>
bool has_second(const KernelCall& call) {
  return call.in[1].aval->dtype == core::dtype_of<B>;
}

template <class A, class B, class C>
void multiply(const KernelCall& call) {
  if (!has_second<B>(call)) return onednn::own_kernel(call).run(call);
  const Operands<A, B> both = shared_arrays<operands<A, B>>(call);
  const auto division = division_of(problem_of<A, B, C>(both));
  if (!division) return onednn::own_kernel(call).run(call);
  both.pack(call);
  share(division->pieces.n, division->all.ns(), [&](Dim first, Dim last) {
    const onednn::OneThread alone;
    HandOver done(call);
    for (Dim i = first; i < last; ++i) {
      division->piece(i)->run(both.a.data + i * division->step_of_a(),
                              both.b.data + i * division->step_of_b(),
                              call.out[0].as<C>() + i * division->step_of_c(), call.scratch.of_this_thread());
      done(i * division->step_of_c(), division->elements_of(i));
    }
    done.finish();
  });
}

template <class A, class B, class C>
Workspace workspace(const KernelCall& call) {
  if (!has_second<B>(call)) return onednn::own_kernel(call).workspace(call);
  Layout shared;
  const auto division = division_of(problem_of<A, B, C>(operands<A, B>(shared, call)));
  if (!division) return onednn::own_kernel(call).workspace(call);
  std::size_t own = 0;
  for (const Dim i : {Dim{0}, division->pieces.n - 1})
    own = std::max(own, division->piece(i)->scratch_bytes());
  return {.shared = shared.bytes(), .per_thread = own};
}

/// Puts a kernel in front where the processor multiplies such numbers: elsewhere f32 is faster.
template <class A, class B, class C>
void put(OpInfo& row, dnnl_cpu_isa_t instructions) {
  if ((dnnl_get_effective_cpu_isa() & instructions) != instructions) return;
  constexpr DType dtype = core::dtype_of<A>;
  const Kernel& own = row.kernel_of(Backend::processor, dtype);
  row.with_kernel(Backend::onednn, dtype,
                  {.name = own.name,
                   .run = multiply<A, B, C>,
                   .contiguous_inputs = true,
                   .workspace = workspace<A, B, C>,
                   .hands_over = own.hands_over});
}

}  // namespace

void register_onednn_products(OpTable& table) {
  if (!onednn::is_wanted()) return;
  static_cast<void>(onednn::processor());  // its instruction set is limited now
  OpInfo& row = table.at("widening_dot_general");
  put<core::BFloat16, core::BFloat16, float>(row, dnnl_cpu_isa_avx512_core_bf16);
  put<std::int8_t, std::int8_t, std::int32_t>(row, dnnl_cpu_isa_avx512_core_vnni);
  put<std::uint8_t, std::int8_t, std::int32_t>(row, dnnl_cpu_isa_avx512_core_vnni);
}

}  // namespace lodestone::engine::cpu_backend
