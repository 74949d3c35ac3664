// SPDX-License-Identifier: Apache-2.0
// Elementwise loops: axes merged, the innermost loop compiled for each vector width, large ones shared by
// threads.
#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/loop_nest.hpp"
#include "engine/backend/elementwise_kernels.hpp"
#include "engine/graph/dtypes.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// True if loops are worth vectorizing: arithmetic of floats. Calls of the mathematical library, complex
/// numbers and integers get one plain loop. That saves nine tenths of the compiler's work.
template <class Function, class T>
inline constexpr bool is_wide = std::is_floating_point_v<T>&& scalar::is_arithmetic<Function>;

/// Contiguous elements; a function that vectorizes only for usual arguments is checked block by block.
template <class Function, class In, class Out>
[[gnu::always_inline]] inline void unary_row(std::int64_t n, Out* out, const In* in) {
  if constexpr (scalar::has_usual<Function, In>) {
    constexpr std::int64_t block = 256;
    for (std::int64_t first = 0; first < n; first += block) {
      const std::int64_t last = std::min(first + block, n);
      int n_unusual = 0;
      for (std::int64_t i = first; i < last; ++i) n_unusual += Function::is_usual(in[i]) ? 0 : 1;
      if (n_unusual == 0) {
        for (std::int64_t i = first; i < last; ++i) out[i] = Function::usual(in[i]);
      } else {
        for (std::int64_t i = first; i < last; ++i) out[i] = Function{}(in[i]);
      }
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(in[i]);
  }
}

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void unary_plane(const Plane& plane, Out* out, const In* in) {
  const std::int64_t n = plane.length, step = plane.step[0];
  for (std::int64_t row = 0; row < plane.rows; ++row, out += n, in += plane.row_step[0]) {
    if (is_wide<Function, In> && step == 1) {
      unary_row<Function>(n, out, in);
    } else if (step == 0) {
      std::fill_n(out, n, Function{}(*in));
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(in[i * step]);
    }
  }
}

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void binary_plane(const Plane& plane, Out* out, const In* a, const In* b) {
  constexpr bool wide = is_wide<Function, In>;
  const std::int64_t n = plane.length, step_a = plane.step[0], step_b = plane.step[1];
  for (std::int64_t row = 0; row < plane.rows;
       ++row, out += n, a += plane.row_step[0], b += plane.row_step[1]) {
    if (wide && step_a == 1 && step_b == 1) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i], b[i]);
    } else if (wide && step_a == 1 && step_b == 0) {
      const In right = *b;
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i], right);
    } else if (wide && step_a == 0 && step_b == 1) {
      const In left = *a;
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(left, b[i]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i * step_a], b[i * step_b]);
    }
  }
}

template <class Function, class In, class Out>
[[gnu::always_inline]] inline void unary_loop(const Plane& plane, std::byte* out, const PlaneInputs& in) {
  unary_plane<Function>(plane, reinterpret_cast<Out*>(out), reinterpret_cast<const In*>(in[0]));
}
template <class Function, class In, class Out>
[[gnu::always_inline]] inline void binary_loop(const Plane& plane, std::byte* out, const PlaneInputs& in) {
  binary_plane<Function>(plane, reinterpret_cast<Out*>(out), reinterpret_cast<const In*>(in[0]),
                         reinterpret_cast<const In*>(in[1]));
}

/// Nanoseconds per element, roughly, for deciding on threads.
template <class Function>
inline constexpr double cost_of =
    scalar::is_arithmetic<Function> && !scalar::is_elementary<Function> ? 0.4 : 4.0;

/// Not under sanitizers: their instrumented vector loops take the compiler minutes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool wide_loops = false;
#else
constexpr bool wide_loops = true;
#endif

/// Returns a loop for the widest vectors there are, where these pay.
template <class Function, class In, auto loop>
PlaneFn widest() {
  if constexpr (wide_loops && is_wide<Function, In>) {
    return Widest<loop>::get();
  } else {
    return Widest<loop>::base;
  }
}

template <class Function, class In>
constexpr LoopBody::Usual usual_of() {
  if constexpr (scalar::has_usual<Function, In>) return {Function::usual_condition, Function::usual_text};
  return {};
}

template <class Function, class In, class Out = decltype(Function{}(In{}))>
constexpr LoopBody unary_body{widest<Function, In, unary_loop<Function, In, Out>>, 1, cost_of<Function>,
                              Function::text, usual_of<Function, In>()};
template <class Function, class In, class Out = decltype(Function{}(In{}, In{}))>
constexpr LoopBody binary_body{widest<Function, In, binary_loop<Function, In, Out>>, 2, cost_of<Function>,
                               Function::text};

template <const LoopBody& body>
void loop_kernel(const KernelCall& call) {
  run_planes<body.n_inputs>(call, body.ns, body.fn());
}
template <const LoopBody& body>
constexpr Kernel kernel_of(bool in_place) {
  return {.name = "cpu.loop", .run = loop_kernel<body>, .in_place = in_place, .body = &body};
}

struct Loops {
  OpTable& table;
  template <class Function, class... T>
  void unary(std::string_view name) const {
    const bool in_place = name != "copy" && name != "transfer";  // these are for memory of their own
    (table.at(name).with_kernel(Backend::processor, core::dtype_of<T>,
                                kernel_of<unary_body<Function, T>>(in_place)),
     ...);
  }
  template <class Function, class... T>
  void binary(std::string_view name) const {
    (table.at(name).with_kernel(Backend::processor, core::dtype_of<T>,
                                kernel_of<binary_body<Function, T>>(true)),
     ...);
  }
};

const LoopBody& cast_body(DType from, DType to) {
  const LoopBody* body = nullptr;
  core::visit_stored_dtype(from, [&]<class From>(From) {
    core::visit_stored_dtype(to, [&]<class To>(To) { body = &unary_body<scalar::Cast<To>, From, To>; });
  });
  return *body;
}

void cast_kernel(const KernelCall& call) {
  const LoopBody& body = cast_body(call.in[0].aval->dtype, call.out[0].aval->dtype);
  run_planes<1>(call, body.ns, body.fn());
}

ExprId cast_expression(ExprWriter& writer, const Attrs* attrs, std::span<const ExprId> in) {
  const DType to = attrs_as<CastAttrs>(attrs).to;
  return writer.apply(cast_body(writer.dtype(in[0]), to), to, in);
}

template <class T>
void select_plane(const Plane& plane, std::byte* out, const PlaneInputs& in) {
  T* to = reinterpret_cast<T*>(out);
  const bool* c = reinterpret_cast<const bool*>(in[0]);
  const T *a = reinterpret_cast<const T*>(in[1]), *b = reinterpret_cast<const T*>(in[2]);
  const auto [of_c, of_a, of_b] = plane.step;
  for (std::int64_t row = 0; row < plane.rows; ++row) {
    for (std::int64_t i = 0; i < plane.length; ++i) to[i] = c[i * of_c] ? a[i * of_a] : b[i * of_b];
    to += plane.length;
    c += plane.row_step[0];
    a += plane.row_step[1];
    b += plane.row_step[2];
  }
}

template <class T>
PlaneFn select_loop() {
  return select_plane<T>;
}
template <class T>
constexpr LoopBody select_body{select_loop<T>, 3, 0.5, "c ? a : b"};

/// Choices are only moved, so the size is all that counts.
const LoopBody& select_body_of(DType choices) {
  switch (core::size_of(choices)) {
    case 1:
      return select_body<std::uint8_t>;
    case 2:
      return select_body<std::uint16_t>;
    case 4:
      return select_body<std::uint32_t>;
    case 8:
      return select_body<std::uint64_t>;
    default:
      return select_body<std::complex<double>>;
  }
}

void select_kernel(const KernelCall& call) {
  const LoopBody& body = select_body_of(call.out[0].aval->dtype);
  run_planes<3>(call, body.ns, body.fn());
}

ExprId select_expression(ExprWriter& writer, const Attrs*, std::span<const ExprId> in) {
  const DType choices = writer.dtype(in[1]);
  return writer.apply(select_body_of(choices), choices, in);
}

}  // namespace

void register_elementwise_kernels(OpTable& table) {
  for_each_elementwise(Loops{table});
  table.at("select").with_kernel(Backend::processor, DType::b8,
                                 {.name = "cpu.loop", .run = select_kernel, .expression = select_expression});
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (any_stored.contains(dtype))
      table.at("cast").with_kernel(Backend::processor, dtype,
                                   {.name = "cpu.loop", .run = cast_kernel, .expression = cast_expression});
  }
}

}  // namespace lodestone::engine::cpu_backend
