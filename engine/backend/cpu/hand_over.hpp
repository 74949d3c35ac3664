// SPDX-License-Identifier: Apache-2.0
// Small on purpose: kernels that tell a writer what they have finished share it.
#pragma once

#include "engine/backend/cpu/share.hpp"
#include "engine/graph/kernel.hpp"

namespace lodestone::engine::cpu_backend {

/// Bytes of what is read, computed and handed over at once, so that it stays in the nearest cache.
inline constexpr std::size_t bytes_at_once = 4096;
[[nodiscard]] inline Dim rows_in_cache(std::size_t bytes_of_row) {
  return std::max<Dim>(static_cast<Dim>(bytes_at_once / std::max<std::size_t>(bytes_of_row, 1)), 1);
}

/// The elements that a thread has finished for the writer of a call, if there is one. Neighbouring pieces are
/// handed over together, since each costs the writer some calls.
class HandOver {
 public:
  explicit HandOver(const KernelCall& call)
      : writer_(call.writer), least_(rows_in_cache(core::size_of(call.out[0].aval->dtype))) {
    if (writer_ != nullptr) writer_->open();
  }
  /// Says that n elements from `first` on are finished.
  void operator()(Dim first, Dim n) {
    if (writer_ == nullptr) return;
    if (first != first_ + n_) finish();
    first_ = n_ == 0 ? first : first_;
    n_ += n;
    if (n_ >= least_) finish();
  }
  /// Hands over what is left.
  void finish() {
    if (writer_ != nullptr && n_ > 0) writer_->take(first_, n_);
    n_ = 0;
  }
  /// Hands over all of n elements, which threads share by rows of so many.
  static void all(const KernelCall& call, Dim n, Dim row) {
    if (call.writer == nullptr) return;
    share(n / row, call.writer->ns() * static_cast<double>(n), [&](Dim first, Dim last) {
      call.writer->open();
      call.writer->take(first * row, (last - first) * row);
    });
  }

 private:
  const Writer* writer_;
  Dim least_, first_ = 0, n_ = 0;
};

/// Calls write(first, last) for blocks of n rows of m elements, on all threads, and hands over what is
/// written. `ns`: nanoseconds per element, roughly.
template <class T, class Write>
void in_blocks(const KernelCall& call, Dim n, Dim m, double ns, const Write& write) {
  const bool is_hooked = call.reader != nullptr || call.writer != nullptr;
  const Dim at_once = is_hooked ? rows_in_cache(static_cast<std::size_t>(m) * sizeof(T)) : n;
  share(n, ns * static_cast<double>(n * m), [&](Dim first, Dim last) {
    if (call.reader != nullptr) call.reader->open();
    HandOver done(call);
    for (Dim i = first; i < last; i += at_once) {
      const Dim end = std::min(i + at_once, last);
      if (call.reader != nullptr)
        call.reader->read(i * m, (end - i) * m, reinterpret_cast<std::byte*>(call.out[0].as<T>() + i * m));
      write(i, end);
      done(i * m, (end - i) * m);
    }
    done.finish();
  });
}

/// Returns the elements along the last axis of a result, for kernels that hand over rows.
[[nodiscard]] inline Dim elements_of_row(const KernelCall& call) { return call.out[0].shape().back(); }
/// Returns the elements of an item of a result, for kernels that hand over items.
[[nodiscard]] inline Dim elements_of_item(const KernelCall& call) {
  return call.out[0].count() / std::max<Dim>(call.out[0].shape()[0], 1);
}

}  // namespace lodestone::engine::cpu_backend
