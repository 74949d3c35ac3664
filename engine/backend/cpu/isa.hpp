// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Widest vectors this processor has, of those the kernels are compiled for. Functions carry their instruction set in their name and attribute, so that one
/// binary runs everywhere and no inline function is compiled twice under one name.
#if defined(__x86_64__) && defined(__GNUC__)
#define LODESTONE_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define LODESTONE_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma,prefer-vector-width=512")))
#else
#define LODESTONE_TARGET_AVX2
#define LODESTONE_TARGET_AVX512
#endif

namespace lodestone::engine::cpu_backend {

/// Not under sanitizers: their instrumented vector loops take the compiler minutes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool wide_loops = false;
#else
inline constexpr bool wide_loops = true;
#endif

enum class Isa { base, avx2, avx512 };

[[nodiscard]] inline Isa isa() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const Isa widest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                                    __builtin_cpu_supports("avx512bw")
                                ? Isa::avx512
                            : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Isa::avx2
                                                                                              : Isa::base;
  return widest;
#else
  return Isa::base;
#endif
}

}  // namespace lodestone::engine::cpu_backend
