// SPDX-License-Identifier: Apache-2.0
// Numbers of the host in functions that are recorded once: learning rates, weights of losses, temperatures.
#pragma once

#include "engine/record/tensor.hpp"

#include <functional>
#include <vector>

namespace lodestone::engine {

/// Returns a scalar with the number that f gives. In a function that `compile` records, f is called before
/// every run instead, so that one recording serves all numbers; it then reads cells (`Variable`) as they are
/// when the run begins. Everywhere else f is called at once.
///
/// f is kept with the recorded function: it must hold what it uses.
[[nodiscard]] Tensor fed(std::function<Number()> f, DType dtype = DType::f64,
                         Device device = default_device(),
                         std::source_location where = std::source_location::current());

/// A number that the host gives before a run.
struct Feed {
  std::function<Number()> number;
  Aval aval;
  [[nodiscard]] Tensor value() const;
};

/// While one lives, this thread records a function that will run often: what it is fed are further inputs.
class FeedScope {
 public:
  FeedScope();
  ~FeedScope();
  FeedScope(const FeedScope&) = delete;
  FeedScope& operator=(const FeedScope&) = delete;
  /// Returns true if one lives on this thread.
  [[nodiscard]] static bool is_open();

  [[nodiscard]] const std::vector<Feed>& feeds() const { return feeds_; }
  /// Returns what stands for the numbers while the function is recorded.
  [[nodiscard]] const Tensors& placeholders() const { return placeholders_; }

 private:
  friend Tensor fed(std::function<Number()> f, DType dtype, Device device, std::source_location where);
  FeedScope* outer_;
  std::vector<Feed> feeds_;
  Tensors placeholders_;
};

}  // namespace lodestone::engine
