// SPDX-License-Identifier: Apache-2.0
#include "engine/core/timeline.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lodestone::core {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t nanoseconds_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

/// Returns true if the processor's counter runs at one rate whatever the processor does.
bool has_invariant_counter() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned power_management = 0x80000007, invariant = 1U << 8U;
  return __get_cpuid(power_management, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
#else
  return false;
#endif
}

const bool uses_counter = has_invariant_counter();

/// A moment on both clocks, from which ticks become times.
struct Moment {
  Timeline::Ticks ticks = Timeline::now();
  std::int64_t nanoseconds = nanoseconds_now();
};
const Moment start;

/// The ring of a thread. Its words are atomic, so that another thread may copy it meanwhile; what the writer
/// has passed by then is left out.
class Ring {
 public:
  explicit Ring(int number) : number_(number), words_(new Words[Timeline::most_events]) {}

  void add(const Timeline::Event& event) noexcept {
    const std::uint64_t n = n_.load(std::memory_order_relaxed);
    Words& at = words_[n % Timeline::most_events];
    // Each store releases the count of the events before it, which who sees the store therefore sees.
    at[0].store(reinterpret_cast<std::int64_t>(event.name), std::memory_order_release);
    at[1].store(static_cast<std::int64_t>(event.kind), std::memory_order_release);
    at[2].store(event.begin, std::memory_order_release);
    at[3].store(event.end, std::memory_order_release);
    at[4].store(event.first, std::memory_order_release);
    at[5].store(event.second, std::memory_order_release);
    n_.store(n + 1, std::memory_order_release);
  }

  [[nodiscard]] Timeline::Thread events() const {
    const std::uint64_t end = n_.load(std::memory_order_acquire), begin = std::max(first_.load(), kept(end));
    Timeline::Thread result{number_, {}};
    result.events.reserve(end - begin);
    for (std::uint64_t i = begin; i < end; ++i) result.events.push_back(read(i));
    // One slot more: the writer may be at work on it.
    const std::uint64_t valid = std::clamp(kept(n_.load(std::memory_order_acquire) + 1), begin, end);
    const auto n_passed = static_cast<std::ptrdiff_t>(valid - begin);
    result.events.erase(result.events.begin(), result.events.begin() + n_passed);
    result.n_lost = valid - first_.load();
    return result;
  }

  void clear() { first_ = n_.load(); }
  std::atomic<bool> is_taken{true};  ///< a thread writes into it

 private:
  using Words = std::array<std::atomic<std::int64_t>, 6>;
  /// Returns the first of n events that has not been written over.
  static std::uint64_t kept(std::uint64_t n) { return n - std::min<std::uint64_t>(n, Timeline::most_events); }
  [[nodiscard]] Timeline::Event read(std::uint64_t i) const {
    const Words& at = words_[i % Timeline::most_events];
    const auto word = [&](std::size_t k) { return at[k].load(std::memory_order_acquire); };
    return {reinterpret_cast<const std::string*>(word(0)),
            static_cast<Timeline::Kind>(word(1)),
            word(2),
            word(3),
            word(4),
            word(5)};
  }

  int number_;
  std::atomic<std::uint64_t> n_{0};      ///< events so far
  std::atomic<std::uint64_t> first_{0};  ///< those before it were cleared
  std::unique_ptr<Words[]> words_;
};

/// All rings. Never destroyed: threads may end after every other object.
struct Rings {
  std::mutex mutex;
  std::vector<std::unique_ptr<Ring>> all;
  std::set<std::string, std::less<>> names;
};
Rings& rings() {
  static auto* const result = new Rings;
  return *result;
}

std::atomic<std::uint64_t> n_steps_written{0};
thread_local Ring* own = nullptr;
thread_local bool has_ended = false;

/// Gives the ring of a thread that ends to the next one that starts.
struct GiveBack {
  ~GiveBack() {
    own->is_taken.store(false, std::memory_order_release);
    own = nullptr;
    has_ended = true;
  }
};

Ring* take_ring() {
  if (has_ended) return nullptr;
  const std::lock_guard lock(rings().mutex);
  auto& all = rings().all;
  const auto is_free = [](const auto& each) { return !each->is_taken.load(std::memory_order_acquire); };
  const auto free = std::ranges::find_if(all, is_free);
  if (free != all.end()) {
    own = free->get();
    own->is_taken = true;
  } else {
    own = all.emplace_back(std::make_unique<Ring>(static_cast<int>(all.size()))).get();
  }
  thread_local const GiveBack at_end;
  return own;
}

}  // namespace

void Timeline::record(bool on) noexcept { on_.store(on, std::memory_order_relaxed); }

Timeline::Ticks Timeline::now() noexcept {
#if defined(__x86_64__)
  if (uses_counter) return static_cast<Ticks>(__builtin_ia32_rdtsc());
#endif
  return nanoseconds_now();
}

void Timeline::add(const Event& event) noexcept {
  try {
    Ring* const ring = own != nullptr ? own : take_ring();
    if (ring != nullptr) ring->add(event);
    if (event.kind == Kind::step) n_steps_written.fetch_add(1, std::memory_order_release);
  } catch (const std::bad_alloc&) {
    return;  // no room for a ring: the program goes on without its events
  }
}

const std::string* Timeline::name(std::string_view text) {
  Rings& of = rings();
  const std::lock_guard lock(of.mutex);
  const auto known = of.names.find(text);
  return known != of.names.end() ? &*known : &*of.names.emplace(text).first;
}

std::uint64_t Timeline::n_steps() noexcept { return n_steps_written.load(std::memory_order_acquire); }

std::vector<Timeline::Thread> Timeline::events() {
  const std::lock_guard lock(rings().mutex);
  std::vector<Thread> result;
  for (const auto& each : rings().all) result.push_back(each->events());
  return result;
}

Timeline::Scale::Scale() : microseconds_per_tick_(1e-3) {
  if (!uses_counter) return;
  const Moment here;
  const auto ticks = static_cast<double>(std::max<Ticks>(here.ticks - start.ticks, 1));
  microseconds_per_tick_ *= static_cast<double>(here.nanoseconds - start.nanoseconds) / ticks;
}

double Timeline::Scale::microseconds(Ticks at) const {
  return microseconds_per_tick_ * static_cast<double>(at - start.ticks);
}

void Timeline::clear() {
  const std::lock_guard lock(rings().mutex);
  for (const auto& each : rings().all) each->clear();
}

}  // namespace lodestone::core
