// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/graph/box.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace lodestone::engine {

/// Elements in memory, at a distance of their strides along each axis.
struct Strided {
  std::byte* data = nullptr;
  Shape shape;
  Strides strides;       ///< in elements
  std::size_t item = 1;  ///< bytes of an element
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(shape.count()) * item; }
};
/// Returns where a box lies in the row-major array of another box around it.
[[nodiscard]] Strided box_in(std::byte* array, std::size_t item, const Box& around, const Box& box);
/// Copies elements. shapes: both have as many elements of one size; equal shapes, or both without gaps.
void copy(const Strided& from, const Strided& to);

/// Elements to send to another rank, or to receive from it.
struct Message {
  int peer = 0;
  Strided elements;
};

/// The end of a rank, as the others are told of it.
struct Failure {
  core::ExitCode code = core::ExitCode::unexpected;
  std::string text, place;  ///< as those of core::Error
};
[[nodiscard]] Failure failure_of(const std::exception_ptr& error);
[[noreturn]] void throw_failure(const Failure& failure);

/// Counts of what a rank has sent and waited for.
struct TransportCounts {
  std::int64_t messages = 0, bytes = 0;  ///< sent to other ranks
  std::int64_t waits = 0;                ///< in which it was not ready at once
  double seconds = 0.0;                  ///< spent in them
};

/// A rank's end of the connection of several ranks, by which bytes are exchanged. Used by the thread of its
/// rank alone.
class Transport {
 public:
  using Ticket = std::uint64_t;  ///< an exchange that was started

  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Starts an exchange. Messages of equal number between two ranks meet in the order of their starts; their
  /// elements stay in place until the exchange is over or this rank has failed. errors: as `test`.
  [[nodiscard]] virtual Ticket start(std::span<const Message> send, std::span<const Message> receive,
                                     std::uint64_t number) = 0;
  /// Makes progress with all exchanges, and returns whether this one is over. errors: those of another rank,
  /// in its words; InvalidArgument for a message of another length than its receiver expects.
  virtual bool test(Ticket ticket) = 0;
  /// Waits until an exchange is over. errors: as `test`.
  virtual void wait(Ticket ticket);
  /// Tells all other ranks that this one has ended; those that wait throw the same. Of several failures the
  /// first one counts.
  virtual void fail(const Failure& failure) noexcept = 0;

  void exchange(std::span<const Message> send, std::span<const Message> receive, std::uint64_t number) {
    wait(start(send, receive, number));
  }
  [[nodiscard]] const TransportCounts& counts() const { return counts_; }
  /// Returns how many numbers of a group were asked for before, on this rank.
  [[nodiscard]] std::uint64_t next_number(std::uint64_t group) { return numbers_[group]++; }

 protected:
  void count_sent(std::span<const Message> send);
  /// Refuses messages for ranks that do not exist. errors: InvalidArgument.
  void check_peers(std::span<const Message> messages) const;
  /// Hears from `wait` from time to time how long it has waited. errors: those of transports without
  /// patience.
  virtual void has_waited(Ticket /*ticket*/, double /*seconds*/) {}
  TransportCounts counts_;

 private:
  std::map<std::uint64_t, std::uint64_t> numbers_;
};

/// A rank's end of the world.
using World = std::shared_ptr<Transport>;

}  // namespace lodestone::engine
