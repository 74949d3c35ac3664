// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/alternating.hpp"
#include "inversion/optimize/descent.hpp"
#include "inversion/optimize/gauss_newton.hpp"

#include <memory>
#include <variant>

namespace lodestone::inversion {

/// Pairs of steps of cells and of codes, and Gauss–Newton for the polish behind them.
struct AlternatingMethod {
  optimize::AlternatingOptions pairs{};
  optimize::GaussNewtonOptions polish{};
};

/// The method of an inversion with its options.
using Method = std::variant<optimize::GaussNewtonOptions, optimize::DescentOptions, AlternatingMethod>;

[[nodiscard]] int max_iterations(const Method& method);
[[nodiscard]] double target_rms(const Method& method);
[[nodiscard]] inline bool needs_jacobian(const Method& method) {
  return !std::holds_alternative<optimize::DescentOptions>(method);
}
[[nodiscard]] inline bool alternates(const Method& method) {
  return std::holds_alternative<AlternatingMethod>(method);
}

/// Makes the optimizer of a stage in cells, or in codes and cells together. Where the method alternates, it
/// serves the polish.
[[nodiscard]] std::unique_ptr<optimize::Optimizer> make_optimizer(MPI_Comm comm, const Method& method);
/// Makes the optimizer that alternates between cells and codes. Needs an `AlternatingMethod`.
[[nodiscard]] std::unique_ptr<optimize::Optimizer> make_alternating(MPI_Comm comm, const Method& method,
                                                                    prior::CodedRoughness codes,
                                                                    prior::EncodeOptions encode);

}  // namespace lodestone::inversion
