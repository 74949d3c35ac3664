// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/indices.hpp"
#include "engine/backend/reference/families.hpp"
#include "engine/backend/reference/strided.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using reference::element;

Dim index_at(const View& index, const IntList& at) {
  return index.aval->dtype == DType::i32 ? element<std::int32_t>(index, at)
                                         : element<std::int64_t>(index, at);
}

/// For the indices of an element of what `gather` gives (`taken`): where it stands among the indices, and
/// where in x.
struct Places {
  IntList index, x;
};
Places places_of(const IntList& taken, const View& index, const KernelCall& call) {
  const auto& [batch, axis, extent] = call.attrs_of<IndexAttrs>();
  const int n = index.shape().rank() - batch;
  Places result;
  for (int i = 0; i < batch; ++i) result.index.push_back(taken[i]);
  for (int i = 0; i < n; ++i) result.index.push_back(taken[axis + i]);
  for (int i = 0; i < axis; ++i) result.x.push_back(taken[i]);
  result.x.push_back(checked_index(index_at(index, result.index), extent, call));
  for (int i = axis + n; i < taken.size(); ++i) result.x.push_back(taken[i]);
  return result;
}

template <class T>
void gather_loop(const KernelCall& call) {
  for (std::int64_t i = 0; i < call.out[0].count(); ++i)
    call.out[0].as<T>()[i] =
        element<T>(call.in[0], places_of(indices_of(i, call.out[0].shape()), call.in[1], call).x);
}

template <class T>
void scatter_loop(const KernelCall& call) {
  std::fill_n(call.out[0].as<T>(), call.out[0].count(), T(0));
  for (std::int64_t i = 0; i < call.in[0].count(); ++i) {
    const IntList at = indices_of(i, call.in[0].shape());
    T& sum = element<T>(call.out[0], places_of(at, call.in[1], call).x);
    sum = scalar::Add{}(sum, element<T>(call.in[0], at));
  }
}

template <class T, class Better>
void arg_loop(const KernelCall& call) {
  const int axis = call.attrs_of<AxisAttrs>().axis;
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    IntList at = indices_of(i, call.out[0].shape()).inserted(axis, 0);
    IntList best = at;
    for (at[axis] = 1; at[axis] < call.in[0].shape()[axis]; ++at[axis]) {
      const T x = element<T>(call.in[0], at), so_far = element<T>(call.in[0], best);
      if (Better{}(x, so_far) || (x != x && so_far == so_far)) best = at;
    }
    call.out[0].as<std::int64_t>()[i] = best[axis];
  }
}

template <class T>
void slice_at_loop(const KernelCall& call) {
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    const IntList at = indices_of(i, call.out[0].shape());
    call.out[0].as<T>()[i] = (&element<T>(call.in[0], at))[offset_of_part(call, 1, call.in[0], at)];
  }
}

template <class T>
void update_at_loop(const KernelCall& call) {
  const View &x = call.in[0], &part = call.in[1], &out = call.out[0];
  for (std::int64_t i = 0; i < x.count(); ++i) out.as<T>()[i] = element<T>(x, indices_of(i, x.shape()));
  for (std::int64_t i = 0; i < part.count(); ++i) {
    const IntList at = indices_of(i, part.shape());
    (&element<T>(out, at))[offset_of_part(call, 2, out, at)] = element<T>(part, at);
  }
}

template <class T>
void check_position_loop(const KernelCall& call) {
  const Dim n = call.attrs_of<PositionAttrs>().last + 1;
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    call.out[0].as<T>()[i] =
        static_cast<T>(checked_index(element<T>(call.in[0], indices_of(i, call.in[0].shape())), n, call));
  }
}

template <class T>
void iota_loop(const KernelCall& call) {
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) call.out[0].as<T>()[i] = scalar::Cast<T>{}(i);
}

}  // namespace

void register_reference_indexing(OpTable& table) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto put = [&](std::string_view name, void (*run)(const KernelCall&)) {
      table.at(name).with_kernel(Backend::reference, dtype, {"reference", run});
    };
    core::visit_stored_dtype(dtype, [&](auto zero) {
      put("slice_at", slice_at_loop<decltype(zero)>);
      put("update_at", update_at_loop<decltype(zero)>);
    });
    core::visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>)
        put("checked_position", check_position_loop<T>);
      put("gather", gather_loop<T>);
      if constexpr (!std::is_same_v<T, bool>) {
        put("scatter_add", scatter_loop<T>);
        put("iota", iota_loop<T>);
        if constexpr (!scalar::is_complex_v<T>) {
          put("argmax", arg_loop<T, scalar::Greater>);
          put("argmin", arg_loop<T, scalar::Less>);
        }
      }
    });
  }
}

}  // namespace lodestone::engine
