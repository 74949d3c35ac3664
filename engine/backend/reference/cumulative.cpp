// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/accumulations.hpp"
#include "engine/backend/reference/families.hpp"
#include "engine/backend/reference/strided.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine {
namespace {

using reference::element;
using reference::indices_of;

/// Calls visit(indices of element k, k) along each line of the output, in the order of the accumulation.
template <class Visit>
void for_each_line(const KernelCall& call, Visit&& visit) {
  const auto& [axis, reverse] = call.attrs_of<ScanAttrs>();
  Shape lines = call.out[0].shape();
  const Dim n = lines[axis];
  lines[axis] = 1;
  for (std::int64_t line = 0; line < lines.count(); ++line) {
    IntList at = indices_of(line, lines);
    for (Dim k = 0; k < n; ++k) {
      at[axis] = reverse ? n - 1 - k : k;
      visit(at, k);
    }
  }
}

template <class Step, class T>
void scan_loop(const KernelCall& call) {
  typename scalar::Wider<T>::type y{};
  for_each_line(call, [&](const IntList& at, Dim k) {
    const auto x = static_cast<decltype(y)>(element<T>(call.in[0], at));
    y = k == 0 ? x : Step{}(y, x);
    element<T>(call.out[0], at) = static_cast<T>(y);
  });
}

template <class T>
void recurrence_loop(const KernelCall& call) {
  typename scalar::Wider<T>::type y{};
  for_each_line(call, [&](const IntList& at, Dim k) {
    const auto a = static_cast<decltype(y)>(element<T>(call.in[0], at)),
               b = static_cast<decltype(y)>(element<T>(call.in[1], at));
    y = k == 0 ? b : scalar::Add{}(scalar::Multiply{}(a, y), b);
    element<T>(call.out[0], at) = static_cast<T>(y);
  });
}

}  // namespace

void register_reference_cumulative(OpTable& table) {
  for_each_accumulation([&]<class Step, class... T>(std::string_view name) {
    (table.at(name).with_kernel(Backend::reference, core::dtype_of<T>, {"reference", scan_loop<Step, T>}),
     ...);
  });
  OpInfo& row = table.at("linear_recurrence");
  row.with_kernel(Backend::reference, DType::f32, {"reference", recurrence_loop<float>});
  row.with_kernel(Backend::reference, DType::f64, {"reference", recurrence_loop<double>});
  row.with_kernel(Backend::reference, DType::c64, {"reference", recurrence_loop<std::complex<float>>});
  row.with_kernel(Backend::reference, DType::c128, {"reference", recurrence_loop<std::complex<double>>});
}

}  // namespace lodestone::engine
