// SPDX-License-Identifier: Apache-2.0
// Small on purpose: all CPU kernels split their work by one rule.
#pragma once

#include "engine/core/parallel.hpp"
#include "engine/graph/shape.hpp"

#include <algorithm>

namespace lodestone::engine::cpu_backend {

/// Waking a thread takes some ten microseconds: work that takes fewer than this many nanoseconds stays on
/// one.
inline constexpr double least_shared_ns = 2e5;
/// A piece of work is worth this many.
inline constexpr double least_piece_ns = 5e4;

/// Calls part(first, last) over [0, n), on all threads if the work (about `ns` nanoseconds on one) is worth
/// it. The split of [0, n) depends on the number of threads, so parts must be independent: their results must
/// be the same for any split.
template <class Part>
void share(Dim n, double ns, Part&& part) {
  const Dim threads = core::threads();
  if (threads == 1 || n < 2 || ns < least_shared_ns) return part(Dim{0}, n);
  const Dim pieces = std::min<Dim>(
      {n, 4 * threads, static_cast<Dim>(ns / least_piece_ns)});  // more than threads: one may be late
  const auto piece = [&](std::ptrdiff_t i) { part(n * i / pieces, n * (i + 1) / pieces); };
  core::parallel_for(pieces,
                     [&piece](std::ptrdiff_t i) { piece(i); });  // one reference: nothing is allocated
}

}  // namespace lodestone::engine::cpu_backend
