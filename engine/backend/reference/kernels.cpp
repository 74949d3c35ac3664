// SPDX-License-Identifier: Apache-2.0
// Every op by plain loops over all elements: what the fast kernels are compared with, and what runs where
// there is none.
#include "engine/backend/elementwise_kernels.hpp"
#include "engine/backend/reference/families.hpp"
#include "engine/backend/reference/strided.hpp"
#include "engine/backend/register.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/dtypes.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <cstring>

namespace lodestone::engine {
namespace {

using reference::element;
using reference::indices_of;
using reference::offset_of;

template <class Function, class T>
void unary_loop(const KernelCall& call) {
  using Out = decltype(Function{}(T{}));
  using Wide = typename scalar::Wider<T>::type;
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    const auto x = static_cast<Wide>(element<T>(call.in[0], indices_of(i, call.out[0].shape())));
    call.out[0].as<Out>()[i] = static_cast<Out>(Function{}(x));
  }
}

template <class Function, class T>
void binary_loop(const KernelCall& call) {
  using Out = decltype(Function{}(T{}, T{}));
  using Wide = typename scalar::Wider<T>::type;
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    const IntList indices = indices_of(i, call.out[0].shape());
    const auto a = static_cast<Wide>(element<T>(call.in[0], indices)),
               b = static_cast<Wide>(element<T>(call.in[1], indices));
    call.out[0].as<Out>()[i] = static_cast<Out>(Function{}(a, b));
  }
}

struct ReferenceLoops {
  OpTable& table;
  template <class Function, class... T>
  void unary(std::string_view name) const {
    if (table.at(name).decompose) return;  // the decomposition is its reference
    (table.at(name).with_kernel(Backend::reference, core::dtype_of<T>,
                                {"reference", unary_loop<Function, T>}),
     ...);
  }
  template <class Function, class... T>
  void binary(std::string_view name) const {
    (table.at(name).with_kernel(Backend::reference, core::dtype_of<T>,
                                {"reference", binary_loop<Function, T>}),
     ...);
  }
};

void cast_loop(const KernelCall& call) {
  core::visit_stored_dtype(call.in[0].aval->dtype, [&](auto from) {
    core::visit_stored_dtype(call.out[0].aval->dtype, [&](auto to) {
      for (std::int64_t i = 0; i < call.out[0].count(); ++i)
        call.out[0].as<decltype(to)>()[i] = scalar::Cast<decltype(to)>{}(
            element<decltype(from)>(call.in[0], indices_of(i, call.out[0].shape())));
    });
  });
}

void select_loop(const KernelCall& call) {
  const std::size_t size = core::size_of(call.out[0].aval->dtype);
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    const IntList indices = indices_of(i, call.out[0].shape());
    const View& chosen = call.in[element<bool>(call.in[0], indices) ? 1 : 2];
    std::memcpy(call.out[0].data + static_cast<std::size_t>(i) * size,
                chosen.data + offset_of(indices, *chosen.strides) * static_cast<std::int64_t>(size), size);
  }
}

/// The result so far of each output, and whether an element has come.
template <class T>
struct Totals {
  typename scalar::Wider<T>::type* total;
  bool* seen;
};
template <class T>
Totals<T> totals_of(Layout& layout, const KernelCall& call) {
  const std::int64_t n = call.out[0].count();
  return {layout.array<typename scalar::Wider<T>::type>(n), layout.array<bool>(n)};
}

/// out[kept] = combine of x over the reduced axes, from `start` (none: from the first element).
template <class T, class Combine>
void reduce_loop(const KernelCall& call, Combine combine, bool from_zero) {
  const Axes& axes = call.attrs_of<ReduceAttrs>().axes;
  using Wide = typename scalar::Wider<T>::type;
  const auto [totals, seen] = shared_arrays<totals_of<T>>(call);
  std::fill_n(totals, call.out[0].count(), Wide(0));
  std::fill_n(seen, call.out[0].count(), from_zero);
  for (std::int64_t i = 0; i < call.in[0].count(); ++i) {
    const IntList indices = indices_of(i, call.in[0].shape());
    IntList kept;
    for (int axis = 0; axis < indices.size(); ++axis) {
      if (!axes.contains(axis)) kept.push_back(indices[axis]);
    }
    const std::int64_t at = offset_of(kept, *call.out[0].strides);
    const auto x = static_cast<Wide>(element<T>(call.in[0], indices));
    totals[at] = seen[at] ? static_cast<Wide>(combine(totals[at], x)) : x;
    seen[at] = true;
  }
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) call.out[0].as<T>()[i] = static_cast<T>(totals[i]);
}

template <class T>
void sum_loop(const KernelCall& call) {
  reduce_loop<T>(call, scalar::Add{}, true);
}
template <class T>
void max_loop(const KernelCall& call) {
  reduce_loop<T>(call, scalar::Maximum{}, false);
}
template <class T>
void min_loop(const KernelCall& call) {
  reduce_loop<T>(call, scalar::Minimum{}, false);
}

void pad_loop(const KernelCall& call) {
  core::visit_stored_dtype(call.out[0].aval->dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto& attrs = call.attrs_of<PadAttrs>();
    for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
      IntList source = indices_of(i, call.out[0].shape());
      bool inside = true;
      for (int axis = 0; axis < source.size(); ++axis) {
        const Dim step = attrs.inside[axis] + 1, at = source[axis] - attrs.low[axis];
        inside = inside && at >= 0 && at % step == 0 && at / step < call.in[0].shape()[axis];
        source[axis] = at / step;
      }
      call.out[0].as<T>()[i] = inside ? element<T>(call.in[0], source) : scalar::Cast<T>{}(attrs.value);
    }
  });
}

void concatenate_loop(const KernelCall& call) {
  const int axis = call.attrs_of<AxisAttrs>().axis;
  const std::size_t size = core::size_of(call.out[0].aval->dtype);
  Dim first = 0;
  for (const View& part : call.in) {
    const bool is_there = part.data == call.out[0].data + first * (*call.out[0].strides)[axis] *
                                                              static_cast<std::int64_t>(size);
    for (std::int64_t i = 0; i < (is_there ? 0 : part.count()); ++i) {
      IntList indices = indices_of(i, part.shape());
      const std::byte* from = part.data + offset_of(indices, *part.strides) * static_cast<std::int64_t>(size);
      indices[axis] += first;
      std::memcpy(
          call.out[0].data + offset_of(indices, *call.out[0].strides) * static_cast<std::int64_t>(size), from,
          size);
    }
    first += part.shape()[axis];
  }
}

template <class A, class B = A, class C = A>
void dot_loop(const KernelCall& call) {
  const auto& attrs = call.attrs_of<DotAttrs>();
  const View &a = call.in[0], &b = call.in[1];
  const Axes free_a = DotAttrs::free_axes(a.shape().rank(), attrs.contract_a, attrs.batch_a);
  const Axes free_b = DotAttrs::free_axes(b.shape().rank(), attrs.contract_b, attrs.batch_b);
  Shape summed;
  for (const Dim axis : attrs.contract_a) summed.push_back(a.shape()[static_cast<int>(axis)]);
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    const IntList out = indices_of(i, call.out[0].shape());
    IntList of_a = IntList::filled(a.shape().rank(), 0), of_b = IntList::filled(b.shape().rank(), 0);
    const int n_batch = attrs.batch_a.size();
    for (int n = 0; n < n_batch; ++n) {
      of_a[static_cast<int>(attrs.batch_a[n])] = out[n];
      of_b[static_cast<int>(attrs.batch_b[n])] = out[n];
    }
    for (int n = 0; n < free_a.size(); ++n) of_a[static_cast<int>(free_a[n])] = out[n_batch + n];
    for (int n = 0; n < free_b.size(); ++n)
      of_b[static_cast<int>(free_b[n])] = out[n_batch + free_a.size() + n];
    C sum(0);
    for (std::int64_t k = 0; k < summed.count(); ++k) {
      const IntList along = indices_of(k, summed);
      for (int n = 0; n < summed.rank(); ++n) {
        of_a[static_cast<int>(attrs.contract_a[n])] = along[n];
        of_b[static_cast<int>(attrs.contract_b[n])] = along[n];
      }
      sum = scalar::Add{}(sum, scalar::Multiply{}(C(element<A>(a, of_a)), C(element<B>(b, of_b))));
    }
    call.out[0].as<C>()[i] = sum;
  }
}

void bytes_dot_loop(const KernelCall& call) {
  using Signed = std::int8_t;
  using Unsigned = std::uint8_t;
  if (call.in[0].aval->dtype == DType::i8) return dot_loop<Signed, Signed, std::int32_t>(call);
  if (call.in[1].aval->dtype == DType::i8) return dot_loop<Unsigned, Signed, std::int32_t>(call);
  dot_loop<Unsigned, Unsigned, std::int32_t>(call);
}

/// Makes a row-major copy of elements with gaps; the new shape is a view of the copy.
void reshape_copy(const KernelCall& call) {
  static const OpInfo& copy = op_named("copy");
  const View out{call.out[0].data, call.in[0].aval, call.in[0].strides};
  copy.kernel(call.in[0].aval->device, call.in[0].aval->dtype)
      .run({copy, nullptr, call.in, std::span(&out, 1)});
}

void for_dtypes(OpTable& table, std::string_view name, DTypes dtypes, void (*run)(const KernelCall&)) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    if (dtypes.contains(static_cast<DType>(i)))
      table.at(name).with_kernel(Backend::reference, static_cast<DType>(i), {"reference", run});
  }
}

}  // namespace

void register_reference_kernels(OpTable& table) {
  register_reference_windows(table);
  register_reference_random(table);
  register_reference_indexing(table);
  register_reference_cumulative(table);
  register_reference_linalg(table);
  for_each_elementwise(ReferenceLoops{table});
  for_dtypes(table, "cast", any_stored, cast_loop);
  for_dtypes(table, "select", {DType::b8}, select_loop);
  for_dtypes(table, "pad", any_stored, pad_loop);
  for_dtypes(table, "concatenate", any_stored, concatenate_loop);
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    core::visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto put = [&](std::string_view name, void (*run)(const KernelCall&),
                           Workspace (*workspace)(const KernelCall&) = shared_workspace<totals_of<T>>) {
        table.at(name).with_kernel(Backend::reference, dtype,
                                   {.name = "reference", .run = run, .workspace = workspace});
      };
      if (numbers.contains(dtype)) put("sum", sum_loop<T>);
      if (numbers.contains(dtype)) put("dot_general", dot_loop<T>, nullptr);
      if constexpr (!scalar::is_complex_v<T> && !std::is_same_v<T, bool>) {
        put("max", max_loop<T>);
        put("min", min_loop<T>);
      }
    });
  }
  for_dtypes(table, "reshape", any_stored, reshape_copy);
  for_dtypes(table, "widening_dot_general", {DType::bf16}, dot_loop<core::BFloat16, core::BFloat16, float>);
  for_dtypes(table, "widening_dot_general", {DType::f16}, dot_loop<core::Float16, core::Float16, float>);
  for_dtypes(table, "widening_dot_general", {DType::i8, DType::u8}, bytes_dot_loop);
}

}  // namespace lodestone::engine
