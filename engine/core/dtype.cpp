// SPDX-License-Identifier: Apache-2.0
#include "engine/core/dtype.hpp"

#include <array>

namespace lodestone::core {
namespace {

constexpr std::array<std::size_t, n_dtypes> sizes{1, 1, 1, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
constexpr std::array<std::string_view, n_dtypes> names{"b8",   "i8",  "u8",  "i32", "u32", "i64", "u64",
                                                       "bf16", "f16", "f32", "f64", "c64", "c128"};

}  // namespace

std::size_t size_of(DType dtype) { return sizes[static_cast<std::size_t>(dtype)]; }
std::string_view name_of(DType dtype) { return names[static_cast<std::size_t>(dtype)]; }

}  // namespace lodestone::core
