// SPDX-License-Identifier: Apache-2.0
// Small on purpose: layers share one check and no header of each other.
// Inside of engine/nn: what modules ask of their inputs.
#pragma once

#include "engine/core/error.hpp"
#include "engine/record/record.hpp"

namespace lodestone::engine {

/// Checks that x ends in so many channels. errors: ShapeError that names the module.
inline void check_channels(std::string_view module, const Located& x, Dim channels) {
  if (x.tensor.rank() >= 1 && x.tensor.shape().back() == channels) return;
  throw core::ShapeError(std::string(module) + "#wrong_channels",
                         "expected an input [batch…, {}], channels last, got {} {}", channels,
                         x.tensor.aval().text(), at_line(x.where));
}

}  // namespace lodestone::engine
