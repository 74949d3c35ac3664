// SPDX-License-Identifier: Apache-2.0
// Loops compiled once per instruction set, so that one binary runs everywhere. Functions carry their
// instruction set in an attribute and in their name: no inline function is compiled twice under one name.
#pragma once

#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__)
#define LODESTONE_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define LODESTONE_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma,prefer-vector-width=512")))
#else
#define LODESTONE_TARGET_AVX2
#define LODESTONE_TARGET_AVX512
#endif

namespace lodestone::engine::cpu_backend {

enum class Isa { base, avx2, avx512 };

/// Returns the instruction set of that name, as LODESTONE_ISA gives it. errors: InvalidArgument where there
/// is no such, DeviceError where this processor has it not.
[[nodiscard]] Isa isa_named(std::string_view name);
[[nodiscard]] std::string_view name_of(Isa isa);
/// Returns the instruction set that kernels run on: LODESTONE_ISA (base, avx2, avx512), else the widest this
/// processor has. Read once. errors: those of `isa_named`.
[[nodiscard]] Isa isa();

/// A function (always_inline, so that its loops get the widest vectors) compiled once per instruction set.
/// Functions that depend on the width of their vectors are given one for each set. `get()` is the one for
/// this processor.
template <auto of_base, auto of_avx2 = of_base, auto of_avx512 = of_avx2>
struct Widest;
template <class Result, class... Args, Result (*of_base)(Args...), auto of_avx2, auto of_avx512>
struct Widest<of_base, of_avx2, of_avx512> {
  static Result base(Args... args) { return of_base(args...); }
  LODESTONE_TARGET_AVX2 static Result avx2(Args... args) { return of_avx2(args...); }
  LODESTONE_TARGET_AVX512 static Result avx512(Args... args) { return of_avx512(args...); }
  [[nodiscard]] static auto get() -> Result (*)(Args...) {
    const Isa which = isa();
    return which == Isa::avx512 ? avx512 : which == Isa::avx2 ? avx2 : base;
  }
};

}  // namespace lodestone::engine::cpu_backend
