// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/dtype.hpp"
#include "engine/graph/shape.hpp"
#include "engine/memory/device.hpp"

#include <string>

namespace lodestone::engine {

using core::DType;

/// The kind of a tensor: an array of numbers, an opaque object (a factorization), or several tensors. Ops
/// take arrays unless their row says otherwise.
enum class Kind : std::uint8_t { array, handle, tuple };

/// The abstract value of a tensor: all that is known without its elements. Shape and dtype of a handle are
/// those of its tangents.
struct Aval {
  Shape shape;
  DType dtype = DType::f32;
  Device device = default_device();
  Kind kind = Kind::array;
  [[nodiscard]] std::int64_t count() const { return shape.count(); }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count()) * core::size_of(dtype); }
  [[nodiscard]] std::string text() const;  ///< "f32[3, 4]"; the device only where it is not the default one
  friend bool operator==(const Aval&, const Aval&) = default;
};

/// Returns the bytes of the elements of an array; elements repeated by broadcasting count once.
[[nodiscard]] double bytes_of_elements(const Aval& aval, const Strides& strides);

}  // namespace lodestone::engine
