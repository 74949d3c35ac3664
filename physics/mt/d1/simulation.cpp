// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d1/simulation.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/transform.hpp"
#include "physics/mt/units.hpp"

#include <cmath>
#include <memory>
#include <utility>

namespace lodestone::physics::mt::d1 {
namespace {

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

bool all_positive(const std::vector<double>& values) {
  for (const double value : values) {
    if (!(std::isfinite(value) && value > 0.0)) return false;
  }
  return true;
}

}  // namespace

Simulation::Simulation(std::vector<double> thickness_m, ResponseLayout layout,
                       std::vector<double> frequencies_hz, Thickness thickness)
    : thickness_m_(std::move(thickness_m)),
      frequencies_hz_(std::move(frequencies_hz)),
      layout_(std::move(layout)),
      mode_(thickness) {
  if (!all_positive(thickness_m_))
    throw core::InvalidArgument("mt::d1::Simulation#thickness_not_positive",
                                "expected positive layer thicknesses in metres");
  if (!all_positive(frequencies_hz_))
    throw core::InvalidArgument("mt::d1::Simulation#frequency_not_positive",
                                "expected positive frequencies in Hz");
  check_layout();
}

void Simulation::check_layout() const {
  if (layout_.keys().empty())
    throw core::InvalidArgument("mt::d1::Simulation#no_response", "expected at least one response, got {}",
                                0);
  const int only_station = layout_.keys().front().station;
  for (const auto& [element, frequency, station] : layout_.keys()) {
    if (!predicted_elements.contains(element))
      throw core::InvalidArgument(
          "mt::d1::Simulation#not_predicted",
          "expected responses that a layered earth determines, Zxy and Zyx, got {}; the tipper and the "
          "diagonal are zero over it",
          rule_of(element).name);
    if (station != only_station)
      throw core::InvalidArgument("mt::d1::Simulation#several_stations",
                                  "expected responses of one station, got {} and {}", only_station, station);
    if (frequency < 0 || frequency >= std::ssize(frequencies_hz_))
      throw core::ShapeError("mt::d1::Simulation#wrong_frequency", "expected frequencies below {}, got {}",
                             frequencies_hz_.size(), frequency);
  }
}

Eigen::Index Simulation::size_in() const {
  const auto n_thickness = static_cast<Eigen::Index>(thickness_m_.size());
  return n_thickness + 1 + (mode_ == Thickness::free ? n_thickness : 0);
}

std::unique_ptr<core::Linearization> Simulation::do_linearize(const core::ConstVectorRef& x) const {
  const auto n_thickness = static_cast<Eigen::Index>(thickness_m_.size());
  LayeredEarth earth{.resistivity_ohm_m = {}, .thickness_m = thickness_m_};
  for (Eigen::Index i = 0; i <= n_thickness; ++i) earth.resistivity_ohm_m.push_back(std::pow(10.0, x[i]));
  if (mode_ == Thickness::free) {
    for (Eigen::Index i = 0; i < n_thickness; ++i)
      earth.thickness_m[static_cast<std::size_t>(i)] = x[n_thickness + 1 + i];
  }
  std::vector<LayeredResponse> responses;
  for (const double frequency_hz : frequencies_hz_)
    responses.push_back(layered_response(earth, frequency_hz));
  Eigen::VectorXd value(size_out());
  Eigen::MatrixXd jacobian(size_out(), size_in());
  for (std::size_t k = 0; k < layout_.keys().size(); ++k) {
    const ResponseKey& key = layout_.keys()[k];
    const LayeredResponse& response = responses[static_cast<std::size_t>(key.frequency)];
    const double sign = key.element == Element::zxy ? 1.0 : -1.0;
    const auto row = 2 * static_cast<Eigen::Index>(k);
    value[row] = sign * response.impedance_ohm.real();
    value[row + 1] = sign * response.impedance_ohm.imag();
    for (Eigen::Index i = 0; i < size_in(); ++i) {
      const auto layer = static_cast<std::size_t>(i);
      const Complex d_z = i <= n_thickness
                              ? ln10 * response.d_ln_resistivity[layer]
                              : response.d_thickness[layer - static_cast<std::size_t>(n_thickness) - 1];
      jacobian(row, i) = sign * d_z.real();
      jacobian(row + 1, i) = sign * d_z.imag();
    }
  }
  return std::make_unique<SoundingLinearization>(std::move(value), std::move(jacobian));
}

core::MapPtr data_map(std::vector<double> thickness_m, const Survey& survey,
                      Simulation::Thickness thickness) {
  require_predictable(survey, Simulation::predicted_elements);
  const ResponseLayout layout = needed_responses(survey, Simulation::predicted_elements);
  return mt::data_map(
      std::make_shared<Simulation>(std::move(thickness_m), layout, survey.frequencies_hz, thickness), layout,
      survey);
}

Eigen::VectorXd layered_data(const LayeredEarth& earth, const Survey& survey) {
  require_predictable(survey, Simulation::predicted_elements);
  std::vector<Complex> impedance_ohm;
  for (const double frequency_hz : survey.frequencies_hz)
    impedance_ohm.push_back(layered_impedance(earth, frequency_hz));
  Eigen::VectorXd result(std::ssize(survey.keys));
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const DatumKey& key = survey.keys[i];
    Elements::Values elements;
    elements[Element::zxy] = impedance_ohm[key.frequency];
    elements[Element::zyx] = -impedance_ohm[key.frequency];
    result[static_cast<Eigen::Index>(i)] =
        rule_of(key.quantity).value(elements, omega(survey.frequencies_hz[key.frequency]));
  }
  return result;
}

}  // namespace lodestone::physics::mt::d1
