// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/dtype.hpp"
#include "engine/graph/shape.hpp"

#include <string>

namespace lodestone::engine {

using core::DType;

/// Where a tensor lives. `cpu:1` is a second device on the same processor, with memory of its own, so that
/// placement is tested everywhere.
struct Device {
  enum class Kind : std::uint8_t { cpu, cuda };
  Kind kind = Kind::cpu;
  std::uint8_t index = 0;
  [[nodiscard]] std::string text() const;  ///< "cpu:0"
  friend bool operator==(const Device&, const Device&) = default;
};
inline constexpr Device cpu{Device::Kind::cpu, 0};

namespace detail {
inline Device default_device = cpu;
}
/// Where tensors live for whose maker nobody says where.
[[nodiscard]] inline Device default_device() noexcept { return detail::default_device; }
/// To be called before tensors are made, not while other threads make some. errors: DeviceError for a device
/// this build does not have.
void set_default_device(Device device);

/// How a tensor is split over ranks: an entry of the table of layouts; 0 = whole on every rank, the only one
/// so far.
struct Layout {
  std::uint32_t id = 0;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// What a tensor is: an array of numbers, an opaque object (a factorisation), or several tensors. Ops take
/// arrays unless their row says otherwise.
enum class Kind : std::uint8_t { array, handle, tuple };

/// The abstract value of a tensor: all that is known without its elements. Of a handle, shape and dtype are
/// those of its tangents.
struct Aval {
  Shape shape;
  DType dtype = DType::f32;
  Device device = default_device();
  Layout layout = {};
  Kind kind = Kind::array;
  [[nodiscard]] std::int64_t count() const { return shape.count(); }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count()) * core::size_of(dtype); }
  [[nodiscard]] std::string text() const;  ///< "f32[3, 4]"; the device only where it is not the default one
  friend bool operator==(const Aval&, const Aval&) = default;
};

}  // namespace lodestone::engine
