// SPDX-License-Identifier: Apache-2.0
// Accumulations along an axis: the lines that lie side by side advance together, row by row; f32 carries its sum in f64.
#include "engine/backend/accumulations.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

template <class T>
using Carried =
    std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>, T, typename scalar::Wider<T>::type>;

/// Calls row(offset of the row, whether it is the first of its lines) in the order of the accumulation.
template <class Row>
void for_each_row(const AlongAxis& size, bool reverse, Row&& row) {
  for (std::int64_t o = 0; o < size.outer; ++o) {
    for (std::int64_t k = 0; k < size.extent; ++k) row((o * size.extent + (reverse ? size.extent - 1 - k : k)) * size.inner, k == 0);
  }
}

template <class Step, class T>
void scan_kernel(const KernelCall& call) {
  const auto& [axis, reverse] = call.attrs_of<ScanAttrs>();
  const AlongAxis size(call.out.shape(), axis);
  std::vector<Carried<T>> carried(static_cast<std::size_t>(size.inner));
  for_each_row(size, reverse, [&, y = carried.data()](std::int64_t at, bool is_first) {
    const T* x = call.in[0].as<T>() + at;
    T* out = call.out.as<T>() + at;
    for (std::int64_t j = 0; j < size.inner; ++j) {
      y[j] = is_first ? static_cast<Carried<T>>(x[j]) : Step{}(y[j], static_cast<Carried<T>>(x[j]));
      out[j] = static_cast<T>(y[j]);
    }
  });
}

template <class T>
void recurrence_kernel(const KernelCall& call) {
  const auto& [axis, reverse] = call.attrs_of<ScanAttrs>();
  const AlongAxis size(call.out.shape(), axis);
  std::vector<Carried<T>> carried(static_cast<std::size_t>(size.inner));
  for_each_row(size, reverse, [&, y = carried.data()](std::int64_t at, bool is_first) {
    const T *a = call.in[0].as<T>() + at, *b = call.in[1].as<T>() + at;
    T* out = call.out.as<T>() + at;
    for (std::int64_t j = 0; j < size.inner; ++j) {
      const auto next = static_cast<Carried<T>>(b[j]);
      y[j] = is_first ? next : scalar::Add{}(scalar::Multiply{}(static_cast<Carried<T>>(a[j]), y[j]), next);
      out[j] = static_cast<T>(y[j]);
    }
  });
}

}  // namespace

void register_cumulative_kernels(OpTable& table) {
  for_each_accumulation([&]<class Step, class... T>(std::string_view name) {
    (table.at(name).with_kernel(Backend::processor, core::dtype_of<T>, {"cpu.rows", scan_kernel<Step, T>, true}), ...);
  });
  OpInfo& row = table.at("linear_recurrence");
  row.with_kernel(Backend::processor, DType::f32, {"cpu.rows", recurrence_kernel<float>, true});
  row.with_kernel(Backend::processor, DType::f64, {"cpu.rows", recurrence_kernel<double>, true});
  row.with_kernel(Backend::processor, DType::c64, {"cpu.rows", recurrence_kernel<std::complex<float>>, true});
  row.with_kernel(Backend::processor, DType::c128, {"cpu.rows", recurrence_kernel<std::complex<double>>, true});
}

}  // namespace lodestone::engine::cpu_backend
