// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/arena.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace lodestone::engine {
namespace {

struct SizeClass {
  int index;
  std::size_t bytes;
};

/// The smallest class that holds `bytes`: 2^k · (4, 5, 6 or 7) / 4, from 64 bytes on.
SizeClass class_of(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, Arena::alignment);
  const int power = static_cast<int>(std::bit_width(wanted)) - 1;
  const std::size_t quarter = (std::size_t{1} << power) / 4;
  const auto quarters = static_cast<int>((wanted - (std::size_t{1} << power) + quarter - 1) / quarter);
  return {4 * power + quarters, (std::size_t{1} << power) + static_cast<std::size_t>(quarters) * quarter};
}

constexpr int n_cpu_devices = 2;

}  // namespace

Arena& Arena::of(Device device) {
  // Never destroyed: tensors with static lifetime may outlive every other object.
  static auto* const arenas =
      new std::array<Arena, n_cpu_devices>{Arena({Device::Kind::cpu, 0}), Arena({Device::Kind::cpu, 1})};
  if (device.kind != Device::Kind::cpu || device.index >= n_cpu_devices) {
    throw core::DeviceError("engine#unknown_device",
                            "expected one of cpu:0, cpu:1, got {}; this build has no other device",
                            device.text());
  }
  return (*arenas)[device.index];
}

Arena::~Arena() { trim(); }

std::byte* Arena::allocate(std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 47;  // what a process can address
  if (bytes > most)
    throw core::DeviceError("engine#too_many_bytes",
                            "expected at most {} bytes for one array on {}, got {}; use smaller arrays", most,
                            device_.text(), bytes);
  const SizeClass size = class_of(bytes);
  const std::lock_guard lock(mutex_);
  ++stats_.requests;
  check_budget(size.bytes, bytes);
  std::byte* block = nullptr;
  auto& cached = free_[static_cast<std::size_t>(size.index)];
  if (!cached.empty()) {
    block = cached.back();
    cached.pop_back();
    stats_.cached -= size.bytes;
  } else {
    block = static_cast<std::byte*>(::operator new (size.bytes, std::align_val_t{alignment}, std::nothrow));
    if (block == nullptr) {
      trim_locked();
      block = static_cast<std::byte*>(::operator new (size.bytes, std::align_val_t{alignment}, std::nothrow));
    }
    if (block == nullptr) {
      throw core::DeviceError(
          "engine#out_of_memory",
          "expected {} bytes on {}, the system has none left ({} in use); use a smaller batch", bytes,
          device_.text(), stats_.in_use);
    }
  }
  stats_.in_use += size.bytes;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  return block;
}

void Arena::check_budget(std::size_t wanted, std::size_t bytes) const {
  if (budget_ == 0 || stats_.in_use + wanted <= budget_) return;
  throw core::DeviceError("engine#over_budget",
                          "expected {} to stay within its budget of {} bytes, got a request for {} with {} "
                          "in use; free tensors or raise the budget",
                          device_.text(), budget_, bytes, stats_.in_use);
}

void Arena::hold(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  check_budget(bytes, bytes);
  stats_.in_use += bytes;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
}

void Arena::release(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.in_use -= bytes;
}

void Arena::free(std::byte* block, std::size_t bytes) noexcept {
  const SizeClass size = class_of(bytes);
  const std::lock_guard lock(mutex_);
  stats_.in_use -= size.bytes;
  try {
    free_[static_cast<std::size_t>(size.index)].push_back(block);
    stats_.cached += size.bytes;
  } catch (const std::bad_alloc&) {
    ::operator delete (block, std::align_val_t{alignment});
  }
}

void Arena::set_budget(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  budget_ = bytes;
}

void Arena::trim() noexcept {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void Arena::trim_locked() noexcept {
  for (auto& blocks : free_) {
    for (std::byte* block : blocks) ::operator delete (block, std::align_val_t{alignment});
    blocks.clear();
  }
  stats_.cached = 0;
}

void Arena::reset_peak() {
  const std::lock_guard lock(mutex_);
  stats_.peak = stats_.in_use;
}

ArenaStats Arena::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace lodestone::engine
