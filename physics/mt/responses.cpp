// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/responses.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

Complex missing() { return {not_given, not_given}; }

/// Returns the impedance of an apparent resistivity and a phase.
Complex impedance_of(double log10_rho, double phase_rad, double omega) {
  if (!std::isfinite(log10_rho) || !std::isfinite(phase_rad)) return missing();
  return std::polar(std::sqrt(std::pow(10.0, log10_rho) * omega * mu0), phase_rad);
}

/// Apparent resistivities and phases of the two off-diagonal elements, which may stand without impedances.
struct RhoAndPhase {
  std::array<double, 2> log10_rho{not_given, not_given}, phase_rad{not_given, not_given};
};

/// Returns the elements whose apparent resistivity and phase are data, in the order of `RhoAndPhase`.
constexpr std::array<Element, 2> off_diagonal{Element::zxy, Element::zyx};

}  // namespace

Survey response_survey(std::vector<Station> stations, std::vector<double> frequencies_hz) {
  return full_survey(
      std::move(stations), std::move(frequencies_hz),
      {Datum::zxy_re, Datum::zxy_im, Datum::tzy_re, Datum::tzy_im, Datum::zyx_re, Datum::zyx_im});
}

Survey full_response_survey(std::vector<Station> stations, std::vector<double> frequencies_hz) {
  std::vector<Datum> parts;
  for (const Element element : all_elements) {
    parts.push_back(real_part_of(element));
    parts.push_back(partner_of(parts.back()));
  }
  return full_survey(std::move(stations), std::move(frequencies_hz), parts);
}

ElementTable::ElementTable(const Survey& survey, const Eigen::VectorXd& predicted)
    : n_stations_(survey.stations.size()) {
  if (predicted.size() != std::ssize(survey.keys))
    throw core::ShapeError("mt::ElementTable#wrong_size", "expected {} predictions, got {}",
                           survey.keys.size(), predicted.size());
  for (const double frequency_hz : survey.frequencies_hz) omega_.push_back(omega(frequency_hz));
  const std::size_t n = omega_.size() * n_stations_;
  elements_.assign(n, StationRow::missing_values());
  std::vector<RhoAndPhase> readings(n);
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const DatumKey& key = survey.keys[i];
    const std::size_t at =
        static_cast<std::size_t>(key.frequency) * n_stations_ + static_cast<std::size_t>(key.station);
    const DatumRule& rule = rule_of(key.quantity);
    const auto element = rule.needs.single();
    if (!element) continue;
    const double value = predicted[static_cast<Eigen::Index>(i)];
    const bool is_second = is_second_of_pair(key.quantity);
    if (is_part(rule)) {
      Complex& number = elements_[at][*element];
      number = is_second ? Complex(number.real(), value) : Complex(value, number.imag());
    } else {
      const std::size_t which = *element == off_diagonal.front() ? 0 : 1;
      (is_second ? readings[at].phase_rad : readings[at].log10_rho)[which] = value;
    }
  }
  for (std::size_t at = 0; at < n; ++at) {
    for (std::size_t which = 0; which < off_diagonal.size(); ++which) {
      Complex& number = elements_[at][off_diagonal[which]];
      if (std::isfinite(number.real()) && std::isfinite(number.imag())) continue;
      number = impedance_of(readings[at].log10_rho[which], readings[at].phase_rad[which],
                            omega_[at / n_stations_]);
    }
  }
}

const Elements::Values& ElementTable::at(int frequency, int station) const {
  return elements_[static_cast<std::size_t>(frequency) * n_stations_ + static_cast<std::size_t>(station)];
}

double ElementTable::value(const DatumKey& key) const {
  return rule_of(key.quantity)
      .value(at(key.frequency, key.station), omega_[static_cast<std::size_t>(key.frequency)]);
}

double ElementTable::floor(const DatumKey& key, const ErrorFloors& floors) const {
  const DatumRule& rule = rule_of(key.quantity);
  return floor_of(rule, floors, modulus_of(rule, at(key.frequency, key.station)));
}

Observations as_observed(const Survey& survey, const Eigen::VectorXd& predicted, const Observations* like) {
  constexpr double relative = 0.05;  // of |Z|
  constexpr ErrorFloors errors{.impedance_relative = relative,
                               .log10_rho = 2.0 * relative / ln10,
                               .phase_deg = relative * deg_per_rad,
                               .tipper_absolute = 0.02,
                               .interstation_absolute = 0.02};
  const ElementTable table(survey, predicted);
  Observations data;
  if (like != nullptr) {
    data = *like;
  } else {
    const auto n = survey.keys.size();
    data.survey = survey;
    data.reason.assign(n, MaskReason::kept);
    data.interpolated.assign(n, 0);
    data.value.resize(std::ssize(survey.keys));
    data.sigma = Eigen::VectorXd::Constant(std::ssize(survey.keys), not_given);
  }
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const DatumKey& key = data.survey.keys[i];
    const auto at = static_cast<Eigen::Index>(i);
    data.value[at] = table.value(key);
    if (data.reason[i] != MaskReason::missing) data.reason[i] = MaskReason::kept;
    if (!std::isfinite(data.sigma[at])) data.sigma[at] = table.floor(key, errors);
  }
  return data;
}

std::vector<Response> responses_from(const Survey& survey, const Eigen::VectorXd& predicted,
                                     const std::vector<double>& z_m) {
  survey.validate();
  if (predicted.size() != std::ssize(survey.keys) || z_m.size() != survey.stations.size()) {
    throw core::ShapeError("mt::responses_from#wrong_size",
                           "expected {} predictions and {} depths, got {} and {}", survey.keys.size(),
                           survey.stations.size(), predicted.size(), z_m.size());
  }
  const ElementTable table(survey, predicted);
  std::vector<Response> responses;
  for (const Mode mode : {Mode::te, Mode::tm}) {
    if (std::ranges::none_of(survey.keys, [mode](const DatumKey& key) { return is_of(key.quantity, mode); }))
      continue;
    for (std::size_t f = 0; f < survey.frequencies_hz.size(); ++f) {
      for (std::size_t s = 0; s < survey.stations.size(); ++s) {
        const Station& station = survey.stations[s];
        const Elements::Values& elements = table.at(static_cast<int>(f), static_cast<int>(s));
        responses.push_back({station.name, mode, survey.frequencies_hz[f], station.y_m, z_m[s],
                             elements[mode == Mode::te ? Element::zxy : Element::zyx],
                             mode == Mode::te ? elements[Element::tzy] : missing(), station.definition});
      }
    }
  }
  return responses;
}

}  // namespace lodestone::physics::mt
