// SPDX-License-Identifier: Apache-2.0
// Functions that are given by an equation and a solver for it.
#pragma once

#include "engine/record/trace.hpp"

#include <memory>
#include <string>

namespace lodestone::engine {

/// The derivative F_u at a solution, factorized: what a solver keeps for derivatives. Immutable. n = number
/// of unknowns.
class ImplicitFactors {
 public:
  ImplicitFactors() = default;
  virtual ~ImplicitFactors() = default;
  ImplicitFactors(const ImplicitFactors&) = delete;
  ImplicitFactors& operator=(const ImplicitFactors&) = delete;
  /// Returns X with F_u X = B for k right-hand sides at once. shapes: [k, n] → [k, n], dtype of u.
  [[nodiscard]] virtual Tensor solve(const Tensor& right_hand_sides) const = 0;
  /// Returns X with F_uᴴ X = B, shapes as `solve`.
  [[nodiscard]] virtual Tensor solve_adjoint(const Tensor& right_hand_sides) const = 0;
  /// Returns the memory held, an estimate.
  [[nodiscard]] virtual std::size_t bytes() const { return 0; }
};

struct Solution {
  Tensor u;
  std::unique_ptr<const ImplicitFactors> factors;
};

/// u(m) defined by F(u, m) = 0.
struct ImplicitProblem {
  std::string name;  ///< for messages
  Shape unknown;     ///< shape of u
  DType dtype = DType::f64;
  /// F, with as many numbers as u; of engine ops, holomorphic in u where u is complex.
  std::function<Tensor(const Tensor& u, const Tensors& m)> residual;
  /// u for parameters that have values; may do whatever it likes with them. collective: as the solver.
  std::function<Solution(const Tensors& m)> solve;
};

/// Returns u as a function of m, by the solver, differentiated by the implicit function theorem: F_u du =
/// -F_m dm, and F_uᴴ λ = ū, m̄ = -F_mᴴ λ, with the factorization of the forward solve; the solver itself is
/// never differentiated. k directions (`vmap`, `jacobian`) are one solve with k right-hand sides. Derivatives
/// of any order, as far as those of F go. A batch of parameters is solved one by one. shapes: m as the solver
/// takes them → {u}. errors: InvalidArgument, ShapeError (the solver's or F's results), those of the solver.
/// collective: as the solver; runs when it is recorded, in program order.
[[nodiscard]] Function implicit(ImplicitProblem problem,
                                std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
