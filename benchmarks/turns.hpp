// SPDX-License-Identifier: Apache-2.0
// Small on purpose: programs that compare two compiled functions of the same values share it.
#pragma once

#include "engine/compile/compile.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace lodestone::bench {

/// Returns the seconds of a call, of so many one after the other.
inline double seconds_of(const engine::Compiled& f, const engine::Tensors& in, int n) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) f(in);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / n;
}

/// Returns the seconds of a call of each of two functions: medians of 41 turns of 20 ms, one after the other.
inline std::array<double, 2> medians_of_turns(const engine::Compiled& first, const engine::Compiled& second,
                                              const engine::Tensors& in) {
  constexpr int n_rounds = 41;
  constexpr double least_seconds = 0.02;  // of a turn
  for (const engine::Compiled& each : {first, second}) each(in);
  const int n = std::max(1, static_cast<int>(least_seconds / seconds_of(first, in, 1)));
  std::array<std::vector<double>, 2> seconds;
  for (int i = 0; i < n_rounds; ++i) {
    seconds[0].push_back(seconds_of(first, in, n));
    seconds[1].push_back(seconds_of(second, in, n));
  }
  for (auto& each : seconds) std::nth_element(each.begin(), each.begin() + n_rounds / 2, each.end());
  return {seconds[0][n_rounds / 2], seconds[1][n_rounds / 2]};
}

}  // namespace lodestone::bench
