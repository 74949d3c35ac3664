// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the template is shared by two kernels and needs none of their headers.
#pragma once

#include "engine/graph/op_info.hpp"

namespace lodestone::engine::cpu_backend {

/// Goes over a row-major output and strided inputs, with neighbouring axes merged wherever all operands allow
/// it: a contiguous operation becomes one loop. The two innermost loops are the plane's; the others, or
/// parts of those, are shared by threads where it pays. `cost`: nanoseconds per element, roughly. n_inputs: 1
/// to 3.
template <int n_inputs>
void run_planes(const KernelCall& call, double cost, PlaneFn plane);

}  // namespace lodestone::engine::cpu_backend
