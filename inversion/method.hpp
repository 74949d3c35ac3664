// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/alternating.hpp"
#include "inversion/optimize/descent.hpp"
#include "inversion/optimize/gauss_newton.hpp"

#include <memory>
#include <variant>

namespace lodestone::inversion {

using optimize::StopRules;

/// Pairs of steps of cells and of codes, and Gauss–Newton for the polish behind them.
struct AlternatingOptions {
  decltype(optimize::AlternatingOptions::stop)
      stop{};  ///< for both stages; those of the two below are not used
  optimize::AlternatingOptions pairs{};
  optimize::GaussNewtonOptions polish{};
};

/// The method of an inversion with its options.
using Method = std::variant<optimize::GaussNewtonOptions, optimize::DescentOptions, AlternatingOptions>;

/// Returns the rules that end each stage.
[[nodiscard]] StopRules stop_rules(const Method& method);
[[nodiscard]] inline int max_iterations(const Method& method) { return stop_rules(method).max_iterations; }
[[nodiscard]] inline double target_rms(const Method& method) { return stop_rules(method).target_rms; }
[[nodiscard]] inline bool needs_jacobian(const Method& method) {
  return !std::holds_alternative<optimize::DescentOptions>(method);
}
[[nodiscard]] inline bool alternates(const Method& method) {
  return std::holds_alternative<AlternatingOptions>(method);
}

/// Returns the method with what its map states: the products that cost as much as all rows of J.
[[nodiscard]] Method with_price(Method method, double jacobian_products);

/// Returns the method of a stage that another one follows where it misses the target, which it does not
/// raise.
[[nodiscard]] Method before_another(Method method);

/// Returns the method for the last steps of a run, at the final accuracy: a few of them to the target of the
/// iterations, which is not raised. They begin with the λ of the last one (0: as the method begins).
[[nodiscard]] Method for_last_steps(Method method, const optimize::InversionSummary& iterated);

/// Makes the optimizer of a stage in cells, or in codes and cells together. Where the method alternates, it
/// serves the polish.
[[nodiscard]] std::unique_ptr<optimize::Optimizer> make_optimizer(MPI_Comm comm, const Method& method);
/// Makes the optimizer that alternates between cells and codes. Needs an `AlternatingOptions`.
[[nodiscard]] std::unique_ptr<optimize::Optimizer> make_alternating(MPI_Comm comm, const Method& method,
                                                                    prior::CodedRoughness codes,
                                                                    prior::EncodeOptions encode);

}  // namespace lodestone::inversion
