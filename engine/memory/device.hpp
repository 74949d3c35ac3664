// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace lodestone::engine {

/// The place of a tensor. `cpu:1` is a second device on the same processor, with memory of its own, so that
/// placement is tested everywhere.
struct Device {
  enum class Kind : std::uint8_t { cpu, cuda };
  Kind kind = Kind::cpu;
  std::uint8_t index = 0;
  [[nodiscard]] std::string text() const;  ///< "cpu:0"
  friend bool operator==(const Device&, const Device&) = default;
};
inline constexpr Device cpu{Device::Kind::cpu, 0};

/// Returns "cpu" or "cuda".
[[nodiscard]] const char* name_of(Device::Kind kind) noexcept;

/// Returns the device of tensors whose maker names none: that of the innermost `DefaultDevice` on this
/// thread, else cpu:0.
[[nodiscard]] Device default_device() noexcept;

/// A scope in which `default_device` returns another device, on the thread that opened it. Scopes end in the
/// reverse of the order in which they began; a new thread starts outside of all.
class DefaultDevice {
 public:
  /// Sets the default device while it lives. errors: DeviceError for a device this build does not have.
  explicit DefaultDevice(Device device);
  ~DefaultDevice();
  DefaultDevice(const DefaultDevice&) = delete;
  DefaultDevice& operator=(const DefaultDevice&) = delete;

 private:
  Device outer_;
};

}  // namespace lodestone::engine
