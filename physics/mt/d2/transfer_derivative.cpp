// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/transfer_derivative.hpp"

namespace lodestone::physics::mt::d2 {

void TransferDerivative::add(Complex a, const TransferDerivative& other) {
  value += a * other.value;
  for (const auto& [node, weight] : other.gradient) gradient.emplace_back(node, a * weight);
  for (const auto& part : other.direct) direct.push_back({part.cell, part.local, a * part.weight});
  for (const auto& part : other.property) property.push_back({part.cell, a * part.weight});
}

TransferDerivative quotient(const TransferDerivative& numerator, const TransferDerivative& denominator) {
  TransferDerivative result;
  result.add(1.0 / denominator.value, numerator);
  const Complex ratio = result.value;
  result.add(-ratio / denominator.value, denominator);
  result.value = ratio;
  return result;
}

}  // namespace lodestone::physics::mt::d2
