// SPDX-License-Identifier: Apache-2.0
// Small on purpose: two file formats share it and know nothing of each other.
#pragma once

#include "engine/core/array_io.hpp"
#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// Returns the shape and dtype of an array as a tensor has them. errors: FormatError for a missing array, or
/// more axes than tensors have.
[[nodiscard]] Aval aval_of(const core::ArraySource& source, const std::string& name,
                           Device device = default_device());
/// Bytes that came from a file as a tensor. errors: FormatError for booleans that are neither 0 nor 1.
[[nodiscard]] Tensor tensor_of(std::span<const std::byte> bytes, const Aval& aval,
                               const core::ArraySource& source, const std::string& name);
/// Returns a whole array as a tensor. errors: as both, and those of the source.
[[nodiscard]] Tensor read_tensor(const core::ArraySource& source, const std::string& name,
                                 Device device = default_device());

}  // namespace lodestone::engine
