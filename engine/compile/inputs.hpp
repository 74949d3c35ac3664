// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what a compiled function gives to a plan.
#pragma once

#include "engine/compile/donation.hpp"
#include "engine/record/feed.hpp"
#include "engine/record/variable.hpp"

namespace lodestone::engine {

/// Arguments, values of cells and numbers of the host for one run, one after the other. Their lists are used
/// again by the next call of this thread.
class Inputs {
 public:
  explicit Inputs(const Tensors& arguments);
  ~Inputs();
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  /// Takes what these cells hold instead of what other ones hold. A cell with a number that is seen often
  /// (zeros, ones) gives an array, as all later values of it will be. False: a transform may follow a value.
  [[nodiscard]] bool take(const Variables& cells);
  /// Adds the numbers that the host gives for this run, behind the cells.
  void feed(const std::vector<Feed>& feeds);
  /// Returns a mark per donation: whether the array belongs to its cell alone.
  [[nodiscard]] std::span<const std::uint8_t> given_up(const std::vector<Donation>& donations,
                                                       const Variables& cells);

  [[nodiscard]] std::span<const Tensor> all() const { return all_; }
  [[nodiscard]] std::span<const Tensor> arguments() const { return all().first(n_arguments_); }
  [[nodiscard]] std::span<const Tensor> cells() const { return all().subspan(n_arguments_); }

 private:
  std::size_t n_arguments_;
  Tensors all_;
  std::vector<std::uint8_t> given_up_;
};

}  // namespace lodestone::engine
