// SPDX-License-Identifier: Apache-2.0
// Small on purpose: orders of draws are used without the loader.
#pragma once

#include <cstdint>
#include <vector>

namespace lodestone::engine {

/// Returns the numbers 0 … n − 1 in an order drawn from a stream of a seed, each order equally likely (up to
/// n·2^-52). source: Durstenfeld 1964, doi:10.1145/364520.364540 (Fisher–Yates), with the Philox number at
/// index i for the i-th exchange
[[nodiscard]] std::vector<std::int64_t> permutation(std::int64_t n, std::uint64_t seed, std::uint64_t stream);

}  // namespace lodestone::engine
