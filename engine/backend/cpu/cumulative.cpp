// SPDX-License-Identifier: Apache-2.0
// Accumulations along an axis: the lines that lie side by side advance together, row by row; f32 carries its
// sum in f64.
#include "engine/backend/accumulations.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

template <class T>
using Carried = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>, T,
                                   typename scalar::Wider<T>::type>;

/// Some lines that lie side by side.
template <class T>
struct Lines {
  std::int64_t from, count;  ///< start of the first line, number of lines
  std::int64_t step;         ///< from one element of a line to the next
  std::int64_t extent;
  Carried<T>* carried;
};

constexpr std::int64_t side_by_side = 256;

template <class T>
Carried<T>* carried_of(Layout& layout, const KernelCall& call) {
  const AlongAxis size(call.out[0].shape(), call.attrs_of<ScanAttrs>().axis);
  return layout.array<Carried<T>>(std::min(side_by_side, size.inner));
}

/// Calls advance(lines) for all lines, in the order of the accumulation, on the threads there are.
template <class T, class AdvanceLines>
void for_lines(const KernelCall& call, AdvanceLines&& advance) {
  const auto& [axis, reverse] = call.attrs_of<ScanAttrs>();
  const AlongAxis size(call.out[0].shape(), axis);
  if (call.out[0].count() == 0) return;
  const std::int64_t pieces = (size.inner + side_by_side - 1) / side_by_side;
  const std::int64_t start = reverse ? (size.extent - 1) * size.inner : 0,
                     step = reverse ? -size.inner : size.inner;
  share(size.outer * pieces, 2.0 * static_cast<double>(call.out[0].count()), [&](Dim first, Dim last) {
    Carried<T>* const carried = own_arrays<carried_of<T>>(call);
    for (Dim i = first; i < last; ++i) {
      const std::int64_t j = i % pieces * side_by_side;
      advance(Lines<T>{i / pieces * size.extent * size.inner + start + j,
                       std::min(side_by_side, size.inner - j), step, size.extent, carried});
    }
  });
}

template <class Step, class T>
void scan_kernel(const KernelCall& call) {
  for_lines<T>(call, [&](const Lines<T>& lines) {
    const T* x = call.in[0].as<T>() + lines.from;
    T* out = call.out[0].as<T>() + lines.from;
    Carried<T>* const y = lines.carried;
    for (std::int64_t k = 0; k < lines.extent; ++k, x += lines.step, out += lines.step) {
      for (std::int64_t j = 0; j < lines.count; ++j) {
        y[j] = k == 0 ? static_cast<Carried<T>>(x[j]) : Step{}(y[j], static_cast<Carried<T>>(x[j]));
        out[j] = static_cast<T>(y[j]);
      }
    }
  });
}

template <class T>
void recurrence_kernel(const KernelCall& call) {
  for_lines<T>(call, [&](const Lines<T>& lines) {
    const T *a = call.in[0].as<T>() + lines.from, *b = call.in[1].as<T>() + lines.from;
    T* out = call.out[0].as<T>() + lines.from;
    Carried<T>* const y = lines.carried;
    for (std::int64_t k = 0; k < lines.extent; ++k, a += lines.step, b += lines.step, out += lines.step) {
      for (std::int64_t j = 0; j < lines.count; ++j) {
        const auto next = static_cast<Carried<T>>(b[j]);
        y[j] = k == 0 ? next : scalar::Add{}(scalar::Multiply{}(static_cast<Carried<T>>(a[j]), y[j]), next);
        out[j] = static_cast<T>(y[j]);
      }
    }
  });
}

template <class T>
void put(OpInfo& row, void (*run)(const KernelCall&)) {
  row.with_kernel(
      Backend::processor, core::dtype_of<T>,
      {.name = "cpu.rows", .run = run, .contiguous_inputs = true, .workspace = own_workspace<carried_of<T>>});
}

}  // namespace

void register_cumulative_kernels(OpTable& table) {
  for_each_accumulation([&]<class Step, class... T>(std::string_view name) {
    (put<T>(table.at(name), scan_kernel<Step, T>), ...);
  });
  OpInfo& row = table.at("linear_recurrence");
  put<float>(row, recurrence_kernel<float>);
  put<double>(row, recurrence_kernel<double>);
  put<std::complex<float>>(row, recurrence_kernel<std::complex<float>>);
  put<std::complex<double>>(row, recurrence_kernel<std::complex<double>>);
}

}  // namespace lodestone::engine::cpu_backend
