// SPDX-License-Identifier: Apache-2.0
// Work on copies of operands that are too many for a cache: one loop of threads copies some and takes others.
#pragma once

#include "engine/core/parallel.hpp"
#include "engine/graph/scratch.hpp"
#include "engine/graph/shape.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace lodestone::engine::cpu_backend {

/// Rounds of copies, and of parts that read all copies of their round. Copy i and part p of a round follow
/// those of the round before, so that what a part adds up has one order.
class Rounds {
 public:
  /// The most rounds that have copies at a time.
  static constexpr Dim n_buffers = 3;

  Rounds(Layout& layout, Dim most_copies, Dim most_parts)
      : copied_(layout.array<Dim>(most_copies)), done_(layout.array<Dim>(most_parts)) {}

  /// Calls copy(round, i, buffer) and part(round, p, buffer), each once; on one thread a round after the
  /// other in buffer 0. Several threads copy one round ahead and wake once for all rounds: each task waits
  /// only for tasks with smaller indices, which were handed out before. Neither may throw.
  template <class Copy, class Part>
  void run(Dim n, Dim n_copies, Dim n_parts, bool is_shared, Copy&& copy, Part&& part) const {
    const Dim ahead = is_shared ? 1 : 0, buffers = is_shared ? n_buffers : 1;
    std::fill_n(copied_, n_copies, Dim{0});
    std::fill_n(done_, n_parts, Dim{0});
    const auto task = [&](std::ptrdiff_t i) {
      const Dim group = i / (n_copies + n_parts), k = i % (n_copies + n_parts), round = group - ahead;
      if (k < n_copies && group < n) {
        for (Dim p = 0; p < n_parts; ++p) wait_for(done_[p], group - buffers + 1);
        wait_for(copied_[k], group);
        copy(group, k, group % buffers);
        count(copied_[k]);
      } else if (k >= n_copies && round >= 0) {
        const Dim p = k - n_copies;
        for (Dim c = 0; c < n_copies; ++c) wait_for(copied_[c], round + 1);
        wait_for(done_[p], round);
        part(round, p, round % buffers);
        count(done_[p]);
      }
    };
    const Dim n_tasks = (n + ahead) * (n_copies + n_parts);
    if (is_shared) {
      core::parallel_for(n_tasks, [&task](std::ptrdiff_t i) { task(i); });
    } else {
      for (Dim i = 0; i < n_tasks; ++i) task(i);
    }
  }

 private:
  static void wait_for(Dim& rounds, Dim least) {
    const std::atomic_ref<Dim> now(rounds);
    while (now.load(std::memory_order_acquire) < least) std::this_thread::yield();
  }
  static void count(Dim& rounds) { std::atomic_ref<Dim>(rounds).fetch_add(1, std::memory_order_release); }

  Dim *copied_, *done_;  ///< rounds of each copy and part that are over
};

}  // namespace lodestone::engine::cpu_backend
