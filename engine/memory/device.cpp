// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/device.hpp"

#include "engine/memory/arena.hpp"

#include <fmt/format.h>

#include <utility>

namespace lodestone::engine {
namespace {

thread_local constinit Device innermost = cpu;

/// Returns the device if this build has it. errors: DeviceError.
Device checked(Device device) { return Arena::of(device).device(); }

}  // namespace

const char* name_of(Device::Kind kind) noexcept { return kind == Device::Kind::cpu ? "cpu" : "cuda"; }

std::string Device::text() const { return fmt::format("{}:{}", name_of(kind), index); }

Device default_device() noexcept { return innermost; }

DefaultDevice::DefaultDevice(Device device) : outer_(std::exchange(innermost, checked(device))) {}
DefaultDevice::~DefaultDevice() { innermost = outer_; }

}  // namespace lodestone::engine
