// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/parallel.hpp"
#include "engine/tensor/shape.hpp"

#include <algorithm>

namespace lodestone::engine::cpu_backend {

/// Work below this many operations is not worth waking a thread for: about 50 µs.
inline constexpr double least_shared_work = 1e6;

/// part(first, last) over [0, n), on the threads there are where the work (operations, roughly) is worth it. How [0, n) is split depends on the number of
/// threads, so parts must not know of each other: what they compute must be the same however it is split.
template <class Part>
void share(Dim n, double work, Part&& part) {
  const Dim pieces = work < 2 * least_shared_work ? 1 : std::min<Dim>({n, core::threads(), static_cast<Dim>(work / least_shared_work)});
  if (pieces <= 1) return part(Dim{0}, n);
  core::parallel_for(pieces, [&](std::ptrdiff_t i) { part(n * i / pieces, n * (i + 1) / pieces); });
}

}  // namespace lodestone::engine::cpu_backend
