// SPDX-License-Identifier: Apache-2.0
// Updates of optimizers, one pass over contiguous arrays.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::engine::cpu_backend {
namespace {

template <class T>
struct Blend {
  T keep, take;
  explicit Blend(const KernelCall& call)
      : keep(static_cast<T>(call.attrs_of<BlendAttrs>().keep)),
        take(static_cast<T>(call.attrs_of<BlendAttrs>().take)) {}
  [[gnu::always_inline]] inline void run(std::array<const T*, 3> in, T* out, Dim first, Dim last) const {
    for (Dim i = first; i < last; ++i) out[i] = keep * in[0][i] + take * in[1][i];
  }
};

template <class T>
struct AdamStep {
  T rate, scale, epsilon;
  explicit AdamStep(const KernelCall& call)
      : rate(*call.in[3].as<T>()),
        scale(*call.in[4].as<T>()),
        epsilon(static_cast<T>(call.attrs_of<AdamAttrs>().epsilon)) {}
  [[gnu::always_inline]] inline void run(std::array<const T*, 3> in, T* out, Dim first, Dim last) const {
    for (Dim i = first; i < last; ++i)
      out[i] = in[0][i] - rate * in[1][i] / (std::sqrt(in[2][i] * scale) + epsilon);
  }
};

/// keep a + take b
ExprId blend_expression(ExprWriter& writer, const Attrs* attrs, std::span<const ExprId> in) {
  static const OpInfo &add = op_named("add"), &multiply = op_named("multiply");
  const DType dtype = writer.dtype(in[0]);
  const auto& [keep, take] = attrs_as<BlendAttrs>(attrs);
  const ExprId kept = writer.apply(multiply, {writer.number(keep, dtype), in[0]});
  return writer.apply(add, {kept, writer.apply(multiply, {writer.number(take, dtype), in[1]})});
}

/// p - rate m / (sqrt(v scale) + epsilon)
ExprId adam_expression(ExprWriter& writer, const Attrs* attrs, std::span<const ExprId> in) {
  static const OpInfo &add = op_named("add"), &multiply = op_named("multiply"), &divide = op_named("divide"),
                      &subtract = op_named("subtract"), &root = op_named("sqrt");
  const DType dtype = writer.dtype(in[0]);
  const double epsilon = attrs_as<AdamAttrs>(attrs).epsilon;
  const ExprId step = writer.apply(multiply, {in[3], in[1]});
  const ExprId size = writer.apply(root, {writer.apply(multiply, {in[2], in[4]})});
  const ExprId below = writer.apply(add, {size, writer.number(epsilon, dtype)});
  return writer.apply(subtract, {in[0], writer.apply(divide, {step, below})});
}

template <class T, class Pass>
[[gnu::always_inline]] inline void part(const Pass& pass, std::array<const T*, 3> in, T* out, Dim first,
                                        Dim last) {
  pass.run(in, out, first, last);
}

template <class T, class Pass>
void kernel(const KernelCall& call) {
  const Pass pass(call);
  const auto run = Widest<part<T, Pass>>::get();
  std::array<const T*, 3> in{};
  for (std::size_t k = 0; k < std::min(in.size(), call.in.size()); ++k) in[k] = call.in[k].as<T>();
  share(call.out[0].count(), 0.5 * static_cast<double>(call.out[0].count()),
        [&](Dim first, Dim last) { run(pass, in, call.out[0].as<T>(), first, last); });
}

template <class T, class Pass>
constexpr Kernel pass(ExprId (*expression)(ExprWriter&, const Attrs*, std::span<const ExprId>)) {
  return {.name = "cpu.pass",
          .run = kernel<T, Pass>,
          .contiguous_inputs = true,
          .in_place = true,
          .expression = expression};
}

template <class T>
void register_for(OpTable& table) {
  constexpr DType dtype = core::dtype_of<T>;
  table.at("blend").with_kernel(Backend::processor, dtype, pass<T, Blend<T>>(blend_expression));
  table.at("adam_step").with_kernel(Backend::processor, dtype, pass<T, AdamStep<T>>(adam_expression));
}

}  // namespace

void register_update_kernels(OpTable& table) {
  register_for<float>(table);
  register_for<double>(table);
}

}  // namespace lodestone::engine::cpu_backend
