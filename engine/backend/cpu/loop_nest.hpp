// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the template is shared by two kernels and needs none of their headers.
#pragma once

#include "engine/graph/op_info.hpp"

namespace lodestone::engine::cpu_backend {

/// Two loops over a row-major output without gaps: `rows` rows of `length` elements, and how far an input's
/// elements and rows are apart.
template <int n_inputs>
struct Plane {
  std::int64_t rows, length;
  std::array<std::int64_t, n_inputs> step, row_step;
};
/// Runs a plane from the first elements of output and inputs.
template <int n_inputs>
using PlaneKernel = void (*)(const Plane<n_inputs>&, std::byte* out,
                             const std::array<const std::byte*, n_inputs>& in);

/// Goes over a row-major output and strided inputs, with neighbouring axes merged wherever all operands allow
/// it: a contiguous operation becomes one loop. The two innermost loops are the kernel's; the others, or
/// parts of those, are shared by threads where it pays. `cost`: nanoseconds per element, roughly. n_inputs: 1
/// to 3.
template <int n_inputs>
void run_planes(const KernelCall& call, double cost, PlaneKernel<n_inputs> kernel);

}  // namespace lodestone::engine::cpu_backend
