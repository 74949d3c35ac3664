// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: iterations on pairs around a cycle.
#pragma once

#include "physics/linalg/multigrid/cycle.hpp"
#include "physics/linalg/multigrid/operator.hpp"

namespace lodestone::physics::linalg::multigrid {

/// The system and the solution that one method leaves to the next.
class Iteration {
 public:
  Iteration(const PairOperator& op, const Field<double>& b);
  /// Computes r = b − A x anew.
  void renew();
  [[nodiscard]] ResidualSize size() const;
  [[nodiscard]] bool is_solved(const EdgeSolveOptions& options) const;
  [[nodiscard]] double b_norm() const { return b_norm_; }

  const PairOperator& op;
  const Field<double>& b;
  Field<double> x, r;

 private:
  double b_norm_;
};

/// Iterates to the tolerances or to an early end. Conjugate orthogonal conjugate gradients (van der Vorst &
/// Melissen 1990, IEEE Trans. Magn. 26, 706) with a flexible β, since a cycle in single precision is not
/// quite linear; bilinear forms over the pair. → the ending; `n` counts applications of the cycle.
[[nodiscard]] Ending conjugate_gradients(const Cycle& cycle, const EdgeSolveOptions& options,
                                         Iteration& state, int& n);
/// Iterates likewise by flexible GMRES with restarts (Saad 1993, SIAM J. Sci. Comput. 14, 461): slower, and
/// its residual never grows.
[[nodiscard]] Ending flexible_gmres(const Cycle& cycle, const EdgeSolveOptions& options, Iteration& state,
                                    int& n);
/// Iterates as `flexible_gmres` where a cycle reduces less: a run up to the restart may leave half.
[[nodiscard]] Ending patient_gmres(const Cycle& cycle, const EdgeSolveOptions& options, Iteration& state,
                                   int& n);

}  // namespace lodestone::physics::linalg::multigrid
