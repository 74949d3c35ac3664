// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: the V-cycle, an approximate inverse of A on pairs.
#pragma once

#include "physics/linalg/multigrid/smoother.hpp"
#include "physics/linalg/multigrid/transfer.hpp"

#include <memory>
#include <vector>

namespace lodestone::physics::linalg::multigrid {

/// z ≈ A⁻¹ r for a residual pair r. Symmetric, as the conjugate gradients around it require.
class Cycle {
 public:
  /// The memory of one solve.
  class Work {
   public:
    virtual ~Work() = default;
  };
  virtual ~Cycle() = default;
  [[nodiscard]] virtual std::unique_ptr<Work> make_work() const = 0;
  virtual void apply(const Field<double>& r, Field<double>& z, Work& work) const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual int n_levels() const = 0;
};

/// Makes the cycle V(1,1) with symmetric sweeps on the coarsest grid, in the precision T.
template <class T>
[[nodiscard]] std::unique_ptr<Cycle> make_cycle(const EdgeSystem& system);

}  // namespace lodestone::physics::linalg::multigrid
