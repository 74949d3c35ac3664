// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/memory/device.hpp"

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace lodestone::engine {

/// The memory of an arena, in bytes.
struct ArenaStats {
  std::size_t in_use = 0;    ///< handed out
  std::size_t cached = 0;    ///< kept for the next request
  std::size_t peak = 0;      ///< largest `in_use` since the last `reset_peak`
  std::size_t requests = 0;  ///< number of `allocate` calls
};

/// The memory of one device: blocks in size classes (four per power of two), kept after use and handed out
/// again. Where a budget or a limit has no room for all cached blocks, the largest go back to the system
/// first. Thread safe.
class Arena {
 public:
  static constexpr std::size_t alignment = 64;

  /// The arena of a device. errors: DeviceError for a device this build does not have.
  static Arena& of(Device device);

  /// Returns the bytes that a request of so many takes: those of its size class.
  [[nodiscard]] static std::size_t taken_by(std::size_t bytes);

  explicit Arena(Device device);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns at least `bytes`, aligned. errors: DeviceError that names the budget or the system's refusal.
  [[nodiscard]] std::byte* allocate(std::size_t bytes);
  void free(std::byte* block, std::size_t bytes) noexcept;
  /// Counts memory that others allocated for this device (factorizations of a solver). errors: DeviceError
  /// past the budget.
  void hold(std::size_t bytes);
  void release(std::size_t bytes) noexcept;
  /// Blocks in use and cached ones together stay within this many bytes: a request that they leave no room
  /// for gets that of cached blocks, and fails if that is not enough; 0: no limit.
  void set_budget(std::size_t bytes);
  /// At most this many bytes stay cached; a quarter of the machine's memory until set.
  void set_cache_limit(std::size_t bytes);
  [[nodiscard]] std::size_t cache_limit() const;
  /// Gives cached blocks back to the system.
  void trim() noexcept;
  void reset_peak();
  [[nodiscard]] ArenaStats stats() const;
  [[nodiscard]] Device device() const { return device_; }

 private:
  void note_use() noexcept;
  void make_room(std::size_t wanted, std::size_t bytes);
  [[nodiscard]] std::byte* from_system(std::size_t wanted, std::size_t bytes);
  [[nodiscard]] std::size_t most_cached() const noexcept;
  void shrink_cache(std::size_t most) noexcept;
  static constexpr int n_classes = 4 * 48;
  Device device_;
  const std::string* curve_;  ///< its name on the time line
  std::size_t noted_ = 0;     ///< bytes in use at its last point there
  mutable std::mutex mutex_;
  std::array<std::vector<std::byte*>, n_classes> free_;
  ArenaStats stats_;
  std::size_t budget_ = 0;
  std::size_t cache_limit_;
};

}  // namespace lodestone::engine
