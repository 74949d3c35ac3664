// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::core {

/// The record of what the threads of this process did when, event by event on one clock. Each thread writes
/// into a ring of its own, without a lock, an allocation or a text per event; the oldest events give way to
/// new ones. Off until `record(true)`; then an event costs some 20 ns.
class Timeline {
 public:
  enum class Kind : std::uint8_t {
    region,    ///< extent of a `ScopedTimer`
    step,      ///< a step of a training or an iteration of an inversion
    pass,      ///< the work of the compiler; numbers: instructions before and after
    op,        ///< an op of a graph that runs op by op; number: bytes of its result
    launch,    ///< a kernel of a plan; numbers: its position in the plan, bytes of its operands
    function,  ///< call of a plan that no kernel computes
    memory     ///< a point of a curve; numbers: bytes in use, largest so far
  };
  using Ticks = std::int64_t;  ///< positions of the clock, see `Scale`
  struct Event {
    const std::string* name;  ///< lives as long as the process, see `name`
    Kind kind;
    Ticks begin, end;
    std::int64_t first = 0, second = 0;  ///< numbers, as the kind says
  };
  /// The events of one thread, in the order in which they ended.
  struct Thread {
    int number;  ///< in the order in which threads wrote their first event
    std::vector<Event> events;
    std::uint64_t n_lost = 0;  ///< older events that had to give way
  };
  static constexpr std::size_t most_events = std::size_t{1} << 18;  ///< per thread

  [[nodiscard]] static bool is_on() noexcept { return on_.load(std::memory_order_relaxed); }
  static void record(bool on) noexcept;
  /// Returns the clock's position. cost: 8 ns on processors with an invariant counter.
  [[nodiscard]] static Ticks now() noexcept;
  /// Writes an event of this thread, whether or not recording is on. Without memory for a ring it is dropped.
  static void add(const Event& event) noexcept;
  /// Returns the one text of these letters. cost: a lock and a look-up; for events that occur often, once.
  [[nodiscard]] static const std::string* name(std::string_view text);

  /// Returns the events since the last `clear`; threads go on meanwhile.
  [[nodiscard]] static std::vector<Thread> events();
  /// Makes times of ticks; the longer the process runs, the more exact its rate is.
  class Scale {
   public:
    Scale();
    /// Returns the time since the start of the process, µs.
    [[nodiscard]] double microseconds(Ticks at) const;

   private:
    double microseconds_per_tick_;
  };
  /// Returns the number of steps that were written in all.
  [[nodiscard]] static std::uint64_t n_steps() noexcept;
  /// Forgets all events.
  static void clear();

 private:
  inline static std::atomic<bool> on_{false};
};

/// An event from its construction to its end, if recording is on at both.
class TimelineScope {
 public:
  TimelineScope(Timeline::Kind kind, std::string_view name)
      : event_{Timeline::is_on() ? Timeline::name(name) : nullptr, kind,
               Timeline::is_on() ? Timeline::now() : 0, 0} {}
  ~TimelineScope() {
    if (event_.name == nullptr || !Timeline::is_on()) return;
    event_.end = Timeline::now();
    Timeline::add(event_);
  }
  TimelineScope(const TimelineScope&) = delete;
  TimelineScope& operator=(const TimelineScope&) = delete;
  void set_numbers(std::int64_t first, std::int64_t second) {
    event_.first = first;
    event_.second = second;
  }

 private:
  Timeline::Event event_;
};

}  // namespace lodestone::core
