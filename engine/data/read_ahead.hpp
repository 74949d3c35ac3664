// SPDX-License-Identifier: Apache-2.0
// Inside of engine/data: batches made in advance.
#pragma once

#include "engine/record/tensor.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace lodestone::engine {

/// Which batch of which epoch.
struct Place {
  std::int64_t epoch = 0, batch = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// Makes batches one after the other on a thread of its own, a few ahead of the caller.
class ReadAhead {
 public:
  using Make = std::function<NamedTensors(Place)>;  ///< gives evaluated tensors
  using After = std::function<Place(Place)>;
  ReadAhead(int n_ahead, Make make, After after);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Returns the batch of a place; the thread goes on from there. errors: those of making it.
  [[nodiscard]] NamedTensors take(Place place);

 private:
  struct Made {
    Place place;
    NamedTensors batch;
    std::exception_ptr error;
  };
  void run();

  std::size_t n_ahead_;
  Device device_;  ///< default device of the reading thread, as on the thread that made this
  Make make_;
  After after_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Made> made_;
  Place next_{-1, 0};  ///< the one being made, or to be made next; no epoch before the first call
  std::uint64_t n_jumps_ = 0;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace lodestone::engine
