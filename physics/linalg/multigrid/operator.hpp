// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: the operator that iterations solve for, in double precision.
#pragma once

#include "physics/linalg/multigrid/level.hpp"

#include <memory>

namespace lodestone::physics::linalg::multigrid {

/// The operator A of a system on pairs: that of the finest level on flat grids, and on a relief the one that
/// its levels only approximate.
class PairOperator {
 public:
  explicit PairOperator(const fem::EdgeGrid& grid) : layout_(grid) {}
  virtual ~PairOperator() = default;
  PairOperator(const PairOperator&) = delete;
  PairOperator& operator=(const PairOperator&) = delete;

  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Computes r = b − A x; without b it is −A x. Places without an unknown become or stay zero.
  virtual void residual(const Field<double>* b, const Field<double>& x, Field<double>& r) const = 0;
  /// Returns the norm of Σ |M u| over the edges at each inner node, the size of the terms of a divergence.
  [[nodiscard]] virtual double divergence_scale(const Field<double>& x) const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;

 private:
  Layout layout_;
};

/// Makes the operator of a system, which must outlive it.
[[nodiscard]] std::unique_ptr<const PairOperator> make_pair_operator(const EdgeSystem& system);

}  // namespace lodestone::physics::linalg::multigrid
