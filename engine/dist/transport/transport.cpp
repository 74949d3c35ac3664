// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/transport/transport.hpp"

#include "engine/core/error.hpp"
#include "engine/core/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace lodestone::engine {
namespace {

constexpr double yields_s = 5e-4;  // of a wait, before it sleeps

/// Returns the axis from which on elements lie one behind the other in both places.
int first_dense_axis(const Strided& a, const Strided& b) {
  Dim run = 1;
  int axis = a.shape.rank();
  while (axis > 0 && (a.shape[axis - 1] == 1 || (a.strides[axis - 1] == run && b.strides[axis - 1] == run)))
    run *= a.shape[--axis];
  return axis;
}

}  // namespace

Strided box_in(std::byte* array, std::size_t item, const Box& around, const Box& box) {
  const Box inside = within(box, around);
  Strided result{array, box.shape, contiguous_strides(around.shape), item};
  if (box.is_empty()) return result;
  for (int axis = 0; axis < box.rank(); ++axis)
    result.data += inside.first[axis] * result.strides[axis] * static_cast<Dim>(item);
  return result;
}

void copy(const Strided& from, const Strided& to) {
  if (from.bytes() == 0) return;
  if (!(from.shape == to.shape)) {
    std::memcpy(to.data, from.data, from.bytes());
    return;
  }
  const int dense = first_dense_axis(from, to);
  std::size_t run = from.item;
  for (int axis = dense; axis < from.shape.rank(); ++axis) run *= static_cast<std::size_t>(from.shape[axis]);
  IntList index = IntList::filled(dense, 0);
  const std::byte* source = from.data;
  std::byte* target = to.data;
  for (int axis = 0; axis >= 0;) {
    std::memcpy(target, source, run);
    for (axis = dense - 1; axis >= 0; --axis) {
      const auto item = static_cast<Dim>(from.item);
      source += from.strides[axis] * item;
      target += to.strides[axis] * item;
      if (++index[axis] < from.shape[axis]) break;
      source -= from.strides[axis] * item * from.shape[axis];
      target -= to.strides[axis] * item * from.shape[axis];
      index[axis] = 0;
    }
  }
}

Failure failure_of(const std::exception_ptr& error) {
  core::LastWords words = core::last_words_of(error);
  return {words.code, std::move(words.text), std::move(words.place)};
}

void throw_failure(const Failure& failure) {
  const core::Worded words{failure.text, failure.place};
  switch (failure.code) {
    case core::ExitCode::configuration:
      throw core::ConfigError(words);
    case core::ExitCode::file:
      throw core::FileError(words);
    case core::ExitCode::format:
      throw core::FormatError(words);
    case core::ExitCode::argument:
      throw core::InvalidArgument(words);
    case core::ExitCode::solver:
      throw core::SolverError(words);
    case core::ExitCode::device:
      throw core::DeviceError(words);
    default:
      throw core::Error(failure.code, failure.text, failure.place);
  }
}

void Transport::wait(Ticket ticket) {
  using namespace std::chrono;
  if (test(ticket)) return;
  const auto begin = steady_clock::now();
  const auto waited_s = [&] { return duration<double>(steady_clock::now() - begin).count(); };
  // Another rank may need the core that this one would keep busy. The shortest sleep takes 60 µs, longer than
  // most messages of ranks with cores of their own: those waits yield alone.
  microseconds pause{0};
  while (!test(ticket)) {
    has_waited(ticket, waited_s());
    if (waited_s() < yields_s) {
      std::this_thread::yield();
      continue;
    }
    pause = std::min(pause + microseconds(10), microseconds(1000));
    std::this_thread::sleep_for(pause);
  }
  ++counts_.waits;
  counts_.seconds += waited_s();
}

void Transport::check_peers(std::span<const Message> messages) const {
  for (const Message& message : messages) {
    if (message.peer < 0 || message.peer >= size())
      throw core::InvalidArgument("Transport#no_such_rank", "expected messages for ranks 0 to {}, got {}",
                                  size() - 1, message.peer);
  }
}

void Transport::count_sent(std::span<const Message> send) {
  for (const Message& message : send) {
    if (message.peer == rank()) continue;
    ++counts_.messages;
    counts_.bytes += static_cast<std::int64_t>(message.elements.bytes());
  }
}

}  // namespace lodestone::engine
