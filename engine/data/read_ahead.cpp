// SPDX-License-Identifier: Apache-2.0
#include "engine/data/read_ahead.hpp"

namespace lodestone::engine {

ReadAhead::ReadAhead(int n_ahead, Make make, After after)
    : n_ahead_(static_cast<std::size_t>(n_ahead)),
      device_(default_device()),
      make_(std::move(make)),
      after_(std::move(after)),
      thread_([this] { run(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

NamedTensors ReadAhead::take(Place place) {
  std::unique_lock lock(mutex_);
  if (!(place == (made_.empty() ? next_ : made_.front().place))) {
    made_.clear();
    next_ = place;
    ++n_jumps_;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return !made_.empty(); });
  Made first = std::move(made_.front());
  made_.pop_front();
  changed_.notify_all();
  if (first.error) std::rethrow_exception(first.error);
  return std::move(first.batch);
}

void ReadAhead::run() {
  const DefaultDevice device(device_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_ending_ || (next_.epoch >= 0 && made_.size() < n_ahead_); });
    if (is_ending_) return;
    Made made{next_, {}, {}};
    const std::uint64_t n_jumps = n_jumps_;
    lock.unlock();
    try {
      made.batch = make_(made.place);
    } catch (...) {
      made.error = std::current_exception();
    }
    lock.lock();
    if (n_jumps != n_jumps_) continue;  // somebody wants another one meanwhile
    next_ = after_(made.place);
    made_.push_back(std::move(made));
    changed_.notify_all();
  }
}

}  // namespace lodestone::engine
