// SPDX-License-Identifier: Apache-2.0
// Small on purpose: recording notes what a trace collects, and neither needs the header of the other.
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// The results of ops that must not be left out (`OpInfo::runs_when_recorded`), in the order of the calls.
/// This thread records them without values while the object lives. Of several the innermost one gets them.
class Effects {
 public:
  Effects();
  ~Effects();
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;
  [[nodiscard]] const Tensors& noted() const { return noted_; }
  /// Gives a result to the scope around: it belongs there.
  void pass_on(const Tensor& result) const;
  /// Returns the innermost scope of this thread, null outside of all.
  [[nodiscard]] static const Effects* innermost();
  /// Gives a result to the innermost scope, if there is one.
  static void note(const Tensor& result);

 private:
  Effects* outer_;
  Tensors noted_;
};

}  // namespace lodestone::engine
