// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/induction.hpp"

#include <cmath>

namespace lodestone::physics::mt {

double InductionArrow::length() const { return std::hypot(x, y); }

std::optional<InductionArrows> induction_arrows(const StationRow& row, ArrowConvention convention) {
  if (row.is_missing(Element::tzx) || row.is_missing(Element::tzy)) return {};
  // With z down and e^{+iωt} the real part points away from a conductor.
  const double sign = convention == ArrowConvention::parkinson ? -1.0 : 1.0;
  const Complex x = sign * row.values[Element::tzx], y = sign * row.values[Element::tzy];
  return InductionArrows{{x.real(), y.real()}, {x.imag(), y.imag()}};
}

}  // namespace lodestone::physics::mt
