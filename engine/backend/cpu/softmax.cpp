// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax over the last axis, a row at a time while it lies in cache. Maxima and sums in 16
// lanes combined in pairs: the same bits on every vector width.
#include "engine/backend/cpu/hand_over.hpp"
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/sums.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

enum class Form { plain, logarithm };

template <Form form, class T>
[[gnu::always_inline]] inline void softmax_rows(const T* x, T* y, std::int64_t rows, std::int64_t n) {
  const auto larger = [](T a, T b) __attribute__((always_inline)) { return scalar::Maximum{}(a, b); };
  const auto add = [](T a, T b) __attribute__((always_inline)) { return a + b; };
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T largest = in_lanes(
        n, -std::numeric_limits<T>::infinity(),
        larger, [x](std::int64_t i) __attribute__((always_inline)) { return x[i]; });
    const T shift = largest - largest == T(0) ? largest : T(0);
    for (std::int64_t i = 0; i < n; ++i) y[i] = form == Form::plain ? vmath::exp(x[i] - shift) : x[i] - shift;
    const T total = in_lanes(
        n, T(0), add, [y](std::int64_t i) __attribute__((always_inline)) {
          return form == Form::plain ? y[i] : vmath::exp(y[i]);
        });
    const T log_total = form == Form::plain ? T(0) : vmath::log(total);
    for (std::int64_t i = 0; i < n; ++i) y[i] = form == Form::plain ? y[i] / total : y[i] - log_total;
  }
}

template <Form form, class T>
void softmax_kernel(const KernelCall& call) {
  const std::int64_t n = call.out[0].shape().back();
  const auto rows = Widest<softmax_rows<form, T>>::get();
  T* const y = call.out[0].as<T>();
  const T* const x = call.reader == nullptr ? call.in[0].as<T>() : y;  // a reader makes rows there
  in_blocks<T>(call, call.out[0].count() / n, n, form == Form::plain ? 2.0 : 4.0,
               [&](Dim first, Dim last) { rows(x + first * n, y + first * n, last - first, n); });
}

template <Form form, class T>
void put(OpInfo& row) {
  row.with_kernel(Backend::processor, core::dtype_of<T>,
                  {.name = "cpu.rows",
                   .run = softmax_kernel<form, T>,
                   .contiguous_inputs = true,
                   .in_place = true,
                   .hands_over = elements_of_row,
                   .reads_by = elements_of_row});
}

}  // namespace

void register_softmax_kernels(OpTable& table) {
  put<Form::plain, float>(table.at("softmax"));
  put<Form::plain, double>(table.at("softmax"));
  put<Form::logarithm, float>(table.at("log_softmax"));
  put<Form::logarithm, double>(table.at("log_softmax"));
}

}  // namespace lodestone::engine::cpu_backend
