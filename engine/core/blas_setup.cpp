// SPDX-License-Identifier: Apache-2.0
#include "engine/core/blas_setup.hpp"

#include "engine/core/log.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>

// Weak, so that any BLAS will do, and none.
extern "C" {
[[gnu::weak]] void openblas_set_num_threads(int n);
[[gnu::weak]] char* openblas_get_corename();
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace lodestone::core {
namespace {

/// Returns OpenBLAS's name of the widest kernels this processor runs; null where the oldest ones are right.
const char* fitting_kernels() {
#if defined(__x86_64__) && defined(__GNUC__)
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

/// Returns true for kernels without AVX, OpenBLAS's choice for unknown processors.
bool are_old(std::string_view kernels) {
  constexpr std::array<std::string_view, 9> old{"Katmai", "Coppermine", "Northwood",  "Prescott", "Banias",
                                                "Core2",  "Penryn",     "Dunnington", "Nehalem"};
  return std::ranges::find(old, kernels) != old.end();
}

void choose_kernels() {
  const char* fitting = fitting_kernels();
  if (fitting == nullptr || std::getenv("OPENBLAS_CORETYPE") != nullptr || !are_old(blas_kernels())) return;
  if (gotoblas_dynamic_quit != nullptr && gotoblas_dynamic_init != nullptr) {
    setenv("OPENBLAS_CORETYPE", fitting, 1);
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
  }
  if (are_old(blas_kernels()))
    log::warning(
        log::Id("core::prepare_blas#old_kernels"),
        "OpenBLAS does not recognize this processor and runs its {} kernels, which are several times slower "
        "than others; set OPENBLAS_CORETYPE={}",
        blas_kernels(), fitting);
}

}  // namespace

void prepare_blas() {
  static std::once_flag done;
  std::call_once(done, [] {
    choose_kernels();
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  });
}

std::string blas_kernels() { return openblas_get_corename != nullptr ? openblas_get_corename() : ""; }

}  // namespace lodestone::core
