// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/arena.hpp"

#include "engine/core/error.hpp"
#include "engine/core/process_memory.hpp"
#include "engine/core/timeline.hpp"

#include <algorithm>
#include <bit>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lodestone::engine {
namespace {

struct SizeClass {
  int index;
  std::size_t bytes;
};

/// Returns 2^k · (4, 5, 6 or 7) / 4.
constexpr std::size_t bytes_of_class(int index) {
  return (std::size_t{1} << (index / 4)) / 4 * static_cast<std::size_t>(4 + index % 4);
}

/// The smallest class that holds `bytes`, from 64 bytes on.
SizeClass class_of(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, Arena::alignment);
  const int power = static_cast<int>(std::bit_width(wanted)) - 1;
  const std::size_t quarter = (std::size_t{1} << power) / 4;
  const auto quarters = static_cast<int>((wanted - (std::size_t{1} << power) + quarter - 1) / quarter);
  const int index = 4 * power + quarters;
  return {index, bytes_of_class(index)};
}

std::byte* new_block(std::size_t bytes) noexcept {
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{Arena::alignment}, std::nothrow));
}

void delete_block(std::byte* block) noexcept {
  ::operator delete (block, std::align_val_t{Arena::alignment});
}

/// Returns a quarter of the machine's memory, so that what arrays of other sizes leave behind does not fill
/// it.
std::size_t default_cache_limit() {
  constexpr std::size_t if_unknown = std::size_t{1} << 30;
  const std::size_t memory = core::machine_memory_bytes();
  return memory > 0 ? memory / 4 : if_unknown;
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

std::size_t Arena::taken_by(std::size_t bytes) { return class_of(bytes).bytes; }

Arena::Arena(Device device)
    : device_(device),
      curve_(core::Timeline::name("memory of " + device.text())),
      cache_limit_(default_cache_limit()) {}
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
  std::byte* block = nullptr;
  auto& cached = free_[static_cast<std::size_t>(size.index)];
  if (!cached.empty()) {
    block = cached.back();
    cached.pop_back();
    stats_.cached -= size.bytes;
  } else {
    make_room(size.bytes, bytes);
    block = from_system(size.bytes, bytes);
  }
  stats_.in_use += size.bytes;
  note_use();
  return block;
}

/// Keeps the peak, and gives the time line a point of the curve wherever use has changed by a 64th of it.
void Arena::note_use() noexcept {
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  if (!core::Timeline::is_on()) return;
  const std::size_t change = std::max(noted_, stats_.in_use) - std::min(noted_, stats_.in_use);
  if (change * 64 <= stats_.peak) return;
  noted_ = stats_.in_use;
  const core::Timeline::Ticks now = core::Timeline::now();
  core::Timeline::add({curve_, core::Timeline::Kind::memory, now, now,
                       static_cast<std::int64_t>(stats_.in_use), static_cast<std::int64_t>(stats_.peak)});
}

/// Lets the budget have room for `wanted` bytes more, which were asked for as `bytes`.
void Arena::make_room(std::size_t wanted, std::size_t bytes) {
  if (budget_ == 0) return;
  if (stats_.in_use + wanted > budget_)
    throw core::DeviceError("engine#over_budget",
                            "expected {} to stay within its budget of {} bytes, got a request for {} with {} "
                            "in use; free tensors or raise the budget",
                            device_.text(), budget_, bytes, stats_.in_use);
  shrink_cache(budget_ - stats_.in_use - wanted);
}

std::byte* Arena::from_system(std::size_t wanted, std::size_t bytes) {
  std::byte* block = new_block(wanted);
  if (block == nullptr) {
    shrink_cache(0);
    block = new_block(wanted);
  }
  if (block == nullptr)
    throw core::DeviceError(
        "engine#out_of_memory",
        "expected {} bytes on {}, the system has none left ({} in use); use a smaller batch", bytes,
        device_.text(), stats_.in_use);
  return block;
}

void Arena::hold(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  make_room(bytes, bytes);
  stats_.in_use += bytes;
  note_use();
}

void Arena::release(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.in_use -= bytes;
  note_use();
}

void Arena::free(std::byte* block, std::size_t bytes) noexcept {
  const SizeClass size = class_of(bytes);
  const std::lock_guard lock(mutex_);
  stats_.in_use -= size.bytes;
  note_use();
  const std::size_t most = most_cached();
  if (size.bytes > most) return delete_block(block);
  shrink_cache(most - size.bytes);
  try {
    free_[static_cast<std::size_t>(size.index)].push_back(block);
    stats_.cached += size.bytes;
  } catch (const std::bad_alloc&) {
    delete_block(block);
  }
}

/// The bytes for which limit and budget have room in the cache.
std::size_t Arena::most_cached() const noexcept {
  if (budget_ == 0) return cache_limit_;
  return std::min(cache_limit_, budget_ - std::min(budget_, stats_.in_use));
}

/// Gives cached blocks back to the system, the largest first, until at most this many bytes are left.
void Arena::shrink_cache(std::size_t most) noexcept {
  for (int i = n_classes; i-- > 0 && stats_.cached > most;) {
    auto& blocks = free_[static_cast<std::size_t>(i)];
    for (; !blocks.empty() && stats_.cached > most; blocks.pop_back()) {
      delete_block(blocks.back());
      stats_.cached -= bytes_of_class(i);
    }
  }
}

void Arena::set_budget(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  budget_ = bytes;
  shrink_cache(most_cached());
}

void Arena::set_cache_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  cache_limit_ = bytes;
  shrink_cache(most_cached());
}

std::size_t Arena::cache_limit() const {
  const std::lock_guard lock(mutex_);
  return cache_limit_;
}

void Arena::trim() noexcept {
  const std::lock_guard lock(mutex_);
  shrink_cache(0);
#ifdef __GLIBC__
  ::malloc_trim(0);  // the heap may have been told to keep what is freed
#endif
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
