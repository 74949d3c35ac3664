// SPDX-License-Identifier: Apache-2.0
// All CPU kernels split their work by one rule.
#pragma once

#include "engine/core/parallel.hpp"
#include "engine/graph/shape.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace lodestone::engine::cpu_backend {

/// Work that takes fewer than `shared` nanoseconds stays on one thread; a piece of it is worth `piece`.
struct LeastWork {
  double shared, piece;
  /// Returns those of now: waking a thread takes some ten microseconds, and finding one that looks out for
  /// work half of one.
  [[nodiscard]] static LeastWork now() {
    return core::CloseLoops::pay() ? LeastWork{3e3, 1e3} : LeastWork{2e5, 5e4};
  }
};

/// Hands out the pieces 0 … n − 1. A thread takes neighbours, and the same ones of one kernel as of the next,
/// whose operands its cache then holds. One that has done its own takes those of others.
class Hands {
 public:
  Hands(Dim n, Dim threads) : n_(n), n_hands_(std::min<Dim>(threads, most)) {
    for (Dim hand = 0; hand < n_hands_; ++hand)
      next_of(hand).store(first_of(hand), std::memory_order_relaxed);
  }
  /// Calls f for each piece that nobody else has taken.
  template <class F>
  void take(F&& f) {
    const Dim own = core::thread_index() % n_hands_;
    for (Dim i = 0; i < n_hands_; ++i) {
      const Dim hand = (own + i) % n_hands_, end = first_of(hand + 1);
      std::atomic<Dim>& next = next_of(hand);
      while (next.load(std::memory_order_relaxed) < end) {
        const Dim piece = next.fetch_add(1, std::memory_order_relaxed);
        if (piece < end) f(piece);
      }
    }
  }

 private:
  static constexpr Dim most = 16;
  struct alignas(64) Hand {  // threads do not wait for each other's lines
    std::atomic<Dim> next;
  };
  [[nodiscard]] Dim first_of(Dim hand) const { return n_ * hand / n_hands_; }
  [[nodiscard]] std::atomic<Dim>& next_of(Dim hand) { return hands_[static_cast<std::size_t>(hand)].next; }

  Dim n_, n_hands_;
  std::array<Hand, most> hands_;
};

/// Says once to each thread of a loop that it has yet to prepare what its pieces need.
class OncePerThread {
 public:
  [[nodiscard]] bool is_first() {
    return !std::exchange(is_done_[static_cast<std::size_t>(core::thread_index())], true);
  }

 private:
  std::array<bool, core::most_threads> is_done_{};
};

/// Fetches elements that another thread wrote as if this one were to write them, so that one processor holds
/// them. A write to what two hold waits until the other has dropped it, up to 30 ns per cache line on a
/// Zen 4.
template <class T>
void take_over(const T* first, Dim n) {
  constexpr Dim line = 64 / sizeof(T);
#if defined(__x86_64__)  // the compiler's own would be a prefetch for reading
  for (Dim i = 0; i < n; i += line) asm volatile("prefetchw %0" : : "m"(first[i]));
#else
  for (Dim i = 0; i < n; i += line) __builtin_prefetch(first + i, 1);
#endif
}

/// Calls part(first, last) over [0, n), on all threads if the work (about `ns` nanoseconds on one) is worth
/// it. The split of [0, n) depends on the number of threads, so parts must be independent: their results must
/// be the same for any split.
template <class Part>
void share(Dim n, double ns, Part&& part) {
  const Dim threads = core::threads();
  if (threads == 1 || n < 2) return part(Dim{0}, n);
  const LeastWork least = LeastWork::now();
  if (ns < least.shared) return part(Dim{0}, n);
  const auto worth = static_cast<Dim>(ns / least.piece);
  const Dim pieces = std::min<Dim>({n, 4 * threads, worth});  // more than threads: one may be late
  Hands hands(pieces, threads);
  const auto take = [&] { hands.take([&](Dim i) { part(n * i / pieces, n * (i + 1) / pieces); }); };
  core::parallel_for(std::min(threads, pieces),
                     [&take](std::ptrdiff_t) { take(); });  // one reference: nothing is allocated
}

}  // namespace lodestone::engine::cpu_backend
