// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d1/simulation.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/units.hpp"

#include <cmath>
#include <utility>

namespace lodestone::physics::mt::d1 {
namespace {

constexpr const char* component = "mt::d1::Simulation";

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

/// Returns Zxy or Zyx = −Zxy, whichever the datum is made of.
Complex element_over_layers(const DatumRule& rule, Complex zxy) {
  return element_of(rule) == Element::zxy ? zxy : -zxy;
}

double number_of(Quantity quantity, Complex zxy, double frequency_hz) {
  const DatumRule& rule = rule_of(quantity);
  return value_of(rule, element_over_layers(rule, zxy), omega(frequency_hz));
}

double derivative_of(Quantity quantity, Complex zxy, Complex d_zxy) {
  switch (quantity) {
    case Quantity::zxy_re:
      return d_zxy.real();
    case Quantity::zxy_im:
      return d_zxy.imag();
    case Quantity::zyx_re:
      return -d_zxy.real();
    case Quantity::zyx_im:
      return -d_zxy.imag();
    case Quantity::phase_xy:
    case Quantity::phase_yx:
      return (d_zxy / zxy).imag();
    default:
      return 2.0 * (d_zxy / zxy).real() / ln10;
  }
}

bool all_positive(const std::vector<double>& values) {
  for (const double value : values) {
    if (!(std::isfinite(value) && value > 0.0)) return false;
  }
  return true;
}

}  // namespace

Simulation::Simulation(std::vector<double> thickness_m, std::vector<double> frequencies_hz,
                       std::vector<Quantity> quantities, Thickness thickness)
    : thickness_m_(std::move(thickness_m)),
      frequencies_hz_(std::move(frequencies_hz)),
      quantities_(std::move(quantities)),
      mode_(thickness) {
  if (frequencies_hz_.empty() || quantities_.empty())
    throw core::InvalidArgument(component, "expected at least one frequency and one quantity, got {} and {}",
                                frequencies_hz_.size(), quantities_.size());
  if (!all_positive(thickness_m_))
    throw core::InvalidArgument(component, "expected positive layer thicknesses in metres");
  if (!all_positive(frequencies_hz_))
    throw core::InvalidArgument(component, "expected positive frequencies in Hz");
  for (const Quantity quantity : quantities_) {
    if (!Elements{Element::zxy, Element::zyx}.contains(element_of(rule_of(quantity))))
      throw core::InvalidArgument(
          component,
          "expected impedances, apparent resistivities or phases of Zxy and Zyx, got {}: "
          "the tipper and the diagonal are zero over a layered earth",
          name_of(quantity));
  }
}

Eigen::Index Simulation::size_in() const {
  const auto n_thickness = static_cast<Eigen::Index>(thickness_m_.size());
  return n_thickness + 1 + (mode_ == Thickness::free ? n_thickness : 0);
}

Eigen::Index Simulation::size_out() const {
  return static_cast<Eigen::Index>(frequencies_hz_.size() * quantities_.size());
}

std::unique_ptr<core::Linearization> Simulation::do_linearize(const core::ConstVectorRef& x) const {
  const auto n_thickness = static_cast<Eigen::Index>(thickness_m_.size());
  LayeredEarth earth{.resistivity_ohm_m = {}, .thickness_m = thickness_m_};
  for (Eigen::Index i = 0; i <= n_thickness; ++i) earth.resistivity_ohm_m.push_back(std::pow(10.0, x[i]));
  if (mode_ == Thickness::free) {
    for (Eigen::Index i = 0; i < n_thickness; ++i)
      earth.thickness_m[static_cast<std::size_t>(i)] = x[n_thickness + 1 + i];
  }
  Eigen::VectorXd value(size_out());
  Eigen::MatrixXd jacobian(size_out(), size_in());
  const auto n_frequencies = static_cast<Eigen::Index>(frequencies_hz_.size());
  for (Eigen::Index f = 0; f < n_frequencies; ++f) {
    const double frequency_hz = frequencies_hz_[static_cast<std::size_t>(f)];
    const LayeredResponse response = layered_response(earth, frequency_hz);
    Eigen::Index row = f;
    for (const Quantity quantity : quantities_) {
      value[row] = number_of(quantity, response.impedance_ohm, frequency_hz);
      for (Eigen::Index i = 0; i < size_in(); ++i) {
        const auto layer = static_cast<std::size_t>(i);
        const Complex d_z = i <= n_thickness
                                ? ln10 * response.d_ln_resistivity[layer]
                                : response.d_thickness[layer - static_cast<std::size_t>(n_thickness) - 1];
        jacobian(row, i) = derivative_of(quantity, response.impedance_ohm, d_z);
      }
      row += n_frequencies;
    }
  }
  return std::make_unique<SoundingLinearization>(std::move(value), std::move(jacobian));
}

}  // namespace lodestone::physics::mt::d1
