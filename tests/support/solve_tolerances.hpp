// SPDX-License-Identifier: Apache-2.0
// What the tolerances of a volume's solves leave of errors in responses and products.
#pragma once

#include "physics/mt/d3/simulation.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <memory>

namespace lodestone::tests {

/// The most that a simulation with the tolerances of an accuracy differs from one that is solved to rounding:
/// of impedances over the largest at their station and frequency, of other elements, and of products.
struct ToleranceErrors {
  double impedance = 0.0, other = 0.0, jvp = 0.0, vjp = 0.0;
};
/// `make`: returns a simulation with given options. `x`: a model.
template <class Make>
ToleranceErrors tolerance_errors(physics::mt::d3::Accuracy accuracy, Make make, const Eigen::VectorXd& x) {
  namespace d3 = physics::mt::d3;
  const std::shared_ptr<const d3::Simulation> usual = make(d3::solving_options(accuracy)),
                                              exact = make(d3::SimulationOptions{
                                                  .tolerance = 1e-11,
                                                  .divergence_tolerance = 1e-11,
                                                  .product_divergence_tolerance = 1e-11});
  const auto a = usual->linearize(x), b = exact->linearize(x);
  const auto& keys = exact->layout().keys();
  const auto is_impedance = [](const physics::mt::ResponseKey& key) {
    return physics::mt::all_impedances.contains(key.element);
  };
  ToleranceErrors errors;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Eigen::Index at = 2 * static_cast<Eigen::Index>(i);
    const double change = (a->value() - b->value()).segment<2>(at).norm();
    if (!is_impedance(keys[i])) {
      errors.other = std::max(errors.other, change);
      continue;
    }
    double largest = 0.0;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (is_impedance(keys[k]) && keys[k].frequency == keys[i].frequency &&
          keys[k].station == keys[i].station)
        largest = std::max(largest, b->value().segment<2>(2 * static_cast<Eigen::Index>(k)).norm());
    }
    errors.impedance = std::max(errors.impedance, change / largest);
  }
  const auto relative = [](const Eigen::MatrixXd& one, const Eigen::MatrixXd& other) {
    return (one - other).norm() / other.norm();
  };
  const Eigen::VectorXd direction = x.cwiseProduct(Eigen::VectorXd::LinSpaced(x.size(), -1.0, 2.0)),
                        weights = b->value().cwiseAbs().cwiseMax(1e-6).cwiseInverse();
  errors.jvp = relative(a->jvp(direction), b->jvp(direction));
  errors.vjp = relative(a->vjp(weights), b->vjp(weights));
  return errors;
}

/// Checks that tolerances of iterations leave what `solving_options` promises.
template <class Make>
void check_tolerances_of_iterations(Make make, const Eigen::VectorXd& x) {
  const ToleranceErrors errors = tolerance_errors(physics::mt::d3::Accuracy::iteration, make, x);
  INFO(errors.impedance << ", " << errors.other << ", products " << errors.jvp << ", " << errors.vjp);
  CHECK(errors.impedance < 2e-4);
  CHECK(errors.other < 1e-4);
  CHECK(errors.jvp < 1e-3);
  CHECK(errors.vjp < 1e-3);
}

}  // namespace lodestone::tests
