// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/isa.hpp"

#include "engine/core/error.hpp"

#include <array>
#include <cstdlib>

namespace lodestone::engine::cpu_backend {
namespace {

constexpr std::array<std::string_view, 3> names{"base", "avx2", "avx512"};

[[nodiscard]] Isa widest() {
#if defined(__x86_64__) && defined(__GNUC__)
  const bool has_fma = __builtin_cpu_supports("fma");
  if (has_fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return Isa::avx512;
  if (has_fma && __builtin_cpu_supports("avx2")) return Isa::avx2;
#endif
  return Isa::base;
}

}  // namespace

Isa isa_named(std::string_view name) {
  std::size_t at = 0;
  while (at < names.size() && names[at] != name) ++at;
  if (at == names.size())
    throw core::InvalidArgument("LODESTONE_ISA#unknown_name", "expected base, avx2 or avx512, got \"{}\"",
                                name);
  const auto widest_name = name_of(widest());
  if (static_cast<Isa>(at) > widest()) {
    throw core::DeviceError(
        "LODESTONE_ISA#not_on_this_processor",
        "expected an instruction set this processor has (up to {}), got {}; unset it to use the widest",
        widest_name, name);
  }
  return static_cast<Isa>(at);
}

std::string_view name_of(Isa isa) { return names[static_cast<std::size_t>(isa)]; }

Isa isa() {
  static const Isa chosen = [] {
    const char* name = std::getenv("LODESTONE_ISA");
    return name == nullptr || *name == '\0' ? widest() : isa_named(name);
  }();
  return chosen;
}

}  // namespace lodestone::engine::cpu_backend
