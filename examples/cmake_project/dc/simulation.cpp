// SPDX-License-Identifier: Apache-2.0
#include "dc/simulation.hpp"

#include "dc/analytic.hpp"
#include "engine/core/error.hpp"

#include <cmath>
#include <utility>

namespace dc {
namespace {

namespace core = lodestone::core;

/// A sounding is small: its Jacobian is kept whole.
class SoundingLinearization final : public core::Linearization {
 public:
  SoundingLinearization(Eigen::VectorXd value, Eigen::MatrixXd jacobian)
      : Linearization(jacobian.cols(), std::move(value)), jacobian_(std::move(jacobian)) {}

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    return jacobian_ * directions;
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    return jacobian_.transpose() * directions;
  }
  Eigen::MatrixXd do_jacobian() const override { return jacobian_; }

  Eigen::MatrixXd jacobian_;
};

/// U(r) in ohm and its derivative with respect to ln ρ of each layer.
struct Potential {
  double value;
  Eigen::VectorXd derivative;
};

Potential potential(const LayeredEarth& earth, const HankelRule& rule, double r_m) {
  const Eigen::Index n = earth.resistivity_ohm_m.size();
  const double top = earth.resistivity_ohm_m[0];
  Potential result{top, Eigen::VectorXd::Zero(n)};  // of a half-space of the top layer, times r
  result.derivative[0] = top;
  Eigen::VectorXd d_transform(n);
  for (std::size_t i = 0; i < rule.x.size(); ++i) {
    result.value += rule.weight[i] * (resistivity_transform(earth, rule.x[i] / r_m, d_transform) - top);
    d_transform[0] -= top;
    result.derivative += rule.weight[i] * d_transform;
  }
  return {result.value / r_m, result.derivative / r_m};
}

}  // namespace

Simulation::Simulation(std::vector<double> thickness_m, Survey survey)
    : thickness_m_(std::move(thickness_m)), survey_(std::move(survey)), rule_(make_hankel_rule()) {
  survey_.validate();
  for (const double thickness : thickness_m_) {
    if (!(thickness > 0.0))
      throw core::InvalidArgument(name(), "expected positive layer thicknesses in metres, got {}", thickness);
  }
}

std::unique_ptr<core::Linearization> Simulation::do_linearize(const core::ConstVectorRef& x) const {
  const LayeredEarth earth{.resistivity_ohm_m = Eigen::pow(10.0, x.array()), .thickness_m = thickness_m_};
  Eigen::VectorXd value(size_out());
  Eigen::MatrixXd jacobian(size_out(), size_in());
  for (Eigen::Index i = 0; i < size_out(); ++i) {
    const Spacing& spacing = survey_.spacings[static_cast<std::size_t>(i)];
    const Potential near = potential(earth, rule_, spacing.half_ab_m - spacing.half_mn_m);
    const Potential far = potential(earth, rule_, spacing.half_ab_m + spacing.half_mn_m);
    const double rho_a = apparent_resistivity(spacing, near.value, far.value);
    value[i] = std::log10(rho_a);
    for (Eigen::Index j = 0; j < size_in(); ++j)
      jacobian(i, j) = apparent_resistivity(spacing, near.derivative[j], far.derivative[j]) /
                       rho_a;  // d log10 ρ_a = d ln ρ_a / d ln ρ · d log10 ρ
  }
  return std::make_unique<SoundingLinearization>(std::move(value), std::move(jacobian));
}

}  // namespace dc
