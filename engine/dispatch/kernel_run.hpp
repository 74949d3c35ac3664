// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the executor decides what runs, and needs none of the memory that a kernel works on.
// Inside of the engine: one kernel on the memory of its operands.
#pragma once

#include "engine/core/error.hpp"
#include "engine/graph/node.hpp"

namespace lodestone::engine {

/// Gives a node the value that its kernel computes from its evaluated inputs. It lies in the buffer of one of
/// them where `may_overwrite`, the kernel allows it and nobody else needs that buffer. errors: those of the
/// kernel, DeviceError where there is no memory; the node then stays without a value.
void run_kernel(Node& node, bool may_overwrite);

/// Throws the error at hand again with the op, its result and the line it came up in. It comes from the
/// depths of a kernel (what a library refuses).
[[noreturn]] void rethrow_with_place(const core::ShapeError& error, const OpInfo& op, const Aval& aval,
                                     const std::source_location& where);

}  // namespace lodestone::engine
