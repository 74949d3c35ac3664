// SPDX-License-Identifier: Apache-2.0
// Small on purpose: isolates a macro that depends on the compiler.
#pragma once

/// Before a function whose loops vectorize: compiled for wider vectors as well, the widest the processor has
/// is taken at load time. Not under sanitizers, whose start-up comes after that choice.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define LODESTONE_VECTOR_CLONES __attribute__((target_clones("default", "fma", "avx512f")))
#else
#define LODESTONE_VECTOR_CLONES
#endif
