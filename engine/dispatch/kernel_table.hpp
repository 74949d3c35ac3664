// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the table of kernels stays private to one source file.
// Which kernel runs: by op, device and dtype.
#pragma once

#include "engine/graph/op_info.hpp"

#include <span>

namespace lodestone::engine {

/// Returns the backends whose kernels run on a device, in the order in which they are tried. `cpu:1` has
/// those of `cpu:0` but oneDNN, so that what that library covers is tested, too.
[[nodiscard]] std::span<const Backend> backends_of(Device device);

/// A scope in which only reference kernels run on this thread: what the other backends are compared with.
class ReferenceOnly {
 public:
  ReferenceOnly();
  ~ReferenceOnly();
  ReferenceOnly(const ReferenceOnly&) = delete;
  ReferenceOnly& operator=(const ReferenceOnly&) = delete;
};

}  // namespace lodestone::engine
