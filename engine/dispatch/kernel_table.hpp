// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the table of kernels stays private to one source file.
// Which kernel runs: by op, kind of device and dtype.
#pragma once

#include "engine/graph/op_info.hpp"

#include <span>

namespace lodestone::engine {

/// Returns the backends whose kernels run on devices of this kind, in the order in which they are tried.
[[nodiscard]] std::span<const Backend> backends_of(Device::Kind kind);

/// A scope in which only reference kernels run on this thread: what the other backends are compared with.
class ReferenceOnly {
 public:
  ReferenceOnly();
  ~ReferenceOnly();
  ReferenceOnly(const ReferenceOnly&) = delete;
  ReferenceOnly& operator=(const ReferenceOnly&) = delete;
};

}  // namespace lodestone::engine
