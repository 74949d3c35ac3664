// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: one plan for all extents of the symbolic axes of a function.
#pragma once

#include "engine/compile/key.hpp"
#include "engine/compile/plan.hpp"

#include <functional>
#include <optional>

namespace lodestone::engine {

/// The axes of the arguments of a function that share one extent n.
class SymbolicAxes {
 public:
  explicit SymbolicAxes(std::vector<BatchAxis> axes) : axes_(std::move(axes)) {}
  /// Returns the largest n that shares a plan with these two.
  [[nodiscard]] Dim bound(Dim first, Dim second) const;
  /// Returns n of arguments, where all symbolic axes have it and the arrays are row-major without gaps. It is
  /// neither 1 nor beyond the given bound.
  [[nodiscard]] std::optional<Dim> extent(const Key& key) const;
  /// Returns the arguments of a key with another n.
  [[nodiscard]] std::vector<Key::Input> with_extent(const Key& key, Dim n) const;
  /// Returns whether two keys are for arguments and cells that differ in n alone, with the same choices of
  /// the host.
  [[nodiscard]] bool differ_in_extent(const Key& a, const Key& b) const;
  /// Returns an extent besides these to record a function for: the bound, or one that no other axis has.
  [[nodiscard]] Dim third(const Key& key, Dim first, Dim second) const;
  /// Returns odd extents from the bound on that no other axis has, so that passes take none for another.
  [[nodiscard]] std::vector<Dim> unlike_others(const Key& key, Dim bound) const;

 private:
  /// Calls visit(number of the input, axis) for each symbolic axis.
  template <class Visit>
  void for_each(const Key& key, Visit&& visit) const;
  [[nodiscard]] Dim given_bound() const;
  std::vector<BatchAxis> axes_;
};

/// Plans of one function for all n up to a bound, made of recordings for two of them.
class SymbolicPlan {
 public:
  /// A function as it was recorded for one n.
  struct At {
    Dim extent;
    Program program;
  };
  /// A function that gives what a level makes of a program for one n, if that is another.
  using Passes = std::function<std::optional<Program>(const Program& program, Dim n)>;
  /// `third` must be what `first` and `second` say of its extent. Passes run for three of the extents
  /// `for_passes`, which ascend, and what they give must agree in the same way: for the first three that do,
  /// since what may be merged depends on sizes. errors: InvalidArgument that names the first number which is
  /// not a n + b; those of the passes.
  SymbolicPlan(At first, At second, const At& third, std::span<const Dim> for_passes, const Passes& passes);
  /// Returns a plan for inputs with these strides, which shares the memory of another if there is one; null
  /// where its program is not valid for this n, or the compiler fails, which is forgiven. The rest is as of
  /// `Plan`.
  [[nodiscard]] std::shared_ptr<const Plan> at(Dim n, std::span<const Strides> inputs, Level level,
                                               std::vector<Donor> donors, HostJit& jit, const Plan* like,
                                               bool packs) const;

 private:
  [[nodiscard]] Program recorded(Dim n) const;
  void optimize(std::span<const Dim> extents, const Passes& passes);
  At first_, second_;
  std::vector<At> optimized_;  ///< two, or none
};

}  // namespace lodestone::engine
