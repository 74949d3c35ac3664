// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/core/random.hpp"
#include "tests/gradient/map_case.hpp"

#include <cmath>

namespace lodestone::tests {
namespace {

using core::MapPtr;

MapPtr exponential(Eigen::Index size) {
  const auto f = [](double v) { return std::exp(v); };
  return core::pointwise("exp", size, f, f);
}

MapPtr some_affine(Eigen::Index n_out, Eigen::Index n_in) {
  return core::affine(some_numbers(n_out * n_in, -1.0, 1.0).reshaped(n_out, n_in),
                      some_numbers(n_out, -1.0, 1.0));
}

std::function<Eigen::VectorXd()> numbers(Eigen::Index size) {
  return [size] { return some_numbers(size, -1.0, 1.0); };
}

}  // namespace

Eigen::VectorXd some_numbers(Eigen::Index size, double low, double high) {
  const core::Philox random(2024);
  return Eigen::VectorXd::NullaryExpr(size, [&](Eigen::Index i) {
    return low + (high - low) * random.uniform(static_cast<std::uint64_t>(i));
  });
}

std::vector<MapCase> core_maps() {
  return {
      {"core/affine", [] { return some_affine(5, 4); }, numbers(4)},
      {"core/pointwise", [] { return exponential(4); }, numbers(4)},
      {"core/compose: affine after exp", [] { return core::compose(some_affine(5, 4), exponential(4)); },
       numbers(4)},
      {"core/compose: exp after affine", [] { return core::compose(exponential(3), some_affine(3, 4)); },
       numbers(4)},
      {"core/stack",
       [] {
         return core::stack({some_affine(5, 4), exponential(4)});
       },
       numbers(4)},
      {"core/parallel",
       [] {
         return core::parallel(
             {core::compose(some_affine(5, 3), exponential(3)), exponential(2), some_affine(2, 4)});
       },
       numbers(9)},
      {"core/parallel: sparse, behind a selection",
       [] {
         return core::compose(core::select(4, {3, 0, 3}), core::parallel({exponential(1), exponential(3)}));
       },
       numbers(4)},
      {"core/select",
       [] {
         return core::select(5, {4, 0, 4, 2});
       },
       numbers(5)},
      {"core/restrict_unknowns",
       [] {
         return core::restrict_unknowns(core::compose(some_affine(5, 4), exponential(4)), {3, 1},
                                        some_numbers(4, -1.0, 1.0));
       },
       numbers(2)},
  };
}

}  // namespace lodestone::tests
