// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: a number computed from the field, with its derivative.
#pragma once

#include <complex>
#include <utility>
#include <vector>

namespace lodestone::physics::mt::d2 {

using Complex = std::complex<double>;

/// F and dF = Σ gradient·du + Σ direct weight·((∂A_cell/∂property) u)[local]·dproperty + Σ property
/// weight·dproperty.
struct TransferDerivative {
  struct Direct {
    int cell, local;
    Complex weight;
  };
  struct Property {
    int cell;  ///< cell of its property 0
    Complex weight;
  };
  Complex value{};
  std::vector<std::pair<int, Complex>> gradient{};  ///< (node, ∂F/∂u)
  std::vector<Direct> direct{};
  std::vector<Property> property{};

  /// this += a·other.
  void add(Complex a, const TransferDerivative& other);
};

[[nodiscard]] TransferDerivative quotient(const TransferDerivative& numerator,
                                          const TransferDerivative& denominator);

}  // namespace lodestone::physics::mt::d2
