// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/responses.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <cmath>

namespace lodestone::physics::mt {
namespace {

/// The real numbers of one mode at one station and frequency, NaN where not asked for.
struct Parts {
  double z_re = not_given, z_im = not_given, t_re = not_given, t_im = not_given, log10_rho = not_given,
         phase = not_given;
};

void set_part(Parts& parts, Datum quantity, double value) {
  const bool second = is_second_of_pair(quantity);
  switch (rule_of(quantity).floor) {
    case FloorKind::impedance:
      (second ? parts.z_im : parts.z_re) = value;
      break;
    case FloorKind::tipper:
      (second ? parts.t_im : parts.t_re) = value;
      break;
    default:
      (second ? parts.phase : parts.log10_rho) = value;
  }
}

Complex impedance_of(const Parts& parts, double frequency_hz) {
  if (std::isfinite(parts.z_re) && std::isfinite(parts.z_im)) return {parts.z_re, parts.z_im};
  if (!std::isfinite(parts.log10_rho) || !std::isfinite(parts.phase)) return {not_given, not_given};
  return std::polar(std::sqrt(std::pow(10.0, parts.log10_rho) * omega(frequency_hz) * mu0), parts.phase);
}

}  // namespace

Survey response_survey(std::vector<Station> stations, std::vector<double> frequencies_hz) {
  return full_survey(
      std::move(stations), std::move(frequencies_hz),
      {Datum::zxy_re, Datum::zxy_im, Datum::tzy_re, Datum::tzy_im, Datum::zyx_re, Datum::zyx_im});
}

std::vector<Response> responses_from(const Survey& survey, const Eigen::VectorXd& predicted,
                                     const std::vector<double>& z_m) {
  survey.validate();
  if (predicted.size() != std::ssize(survey.keys) || z_m.size() != survey.stations.size()) {
    throw core::ShapeError("mt::responses_from#wrong_size",
                           "expected {} predictions and {} depths, got {} and {}", survey.keys.size(),
                           survey.stations.size(), predicted.size(), z_m.size());
  }
  const std::size_t n_stations = survey.stations.size(), n_pairs = survey.frequencies_hz.size() * n_stations;
  std::vector<Parts> parts(2 * n_pairs);
  std::vector<bool> has_mode(2, false);
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const DatumKey& key = survey.keys[i];
    const auto mode = static_cast<std::size_t>(mode_of(key.quantity));
    has_mode[mode] = true;
    set_part(parts[mode * n_pairs + static_cast<std::size_t>(key.frequency) * n_stations +
                   static_cast<std::size_t>(key.station)],
             key.quantity, predicted[static_cast<Eigen::Index>(i)]);
  }
  std::vector<Response> responses;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (!has_mode[k / n_pairs]) continue;
    const std::size_t station = k % n_stations;
    const double f = survey.frequencies_hz[k % n_pairs / n_stations];
    responses.push_back({survey.stations[station].name,
                         static_cast<Mode>(k / n_pairs),
                         f,
                         survey.stations[station].y_m,
                         z_m[station],
                         impedance_of(parts[k], f),
                         {parts[k].t_re, parts[k].t_im},
                         survey.stations[station].definition});
  }
  return responses;
}

}  // namespace lodestone::physics::mt
