// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/survey.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// Transfer functions of one mode at one site and frequency. units: ohm, tipper none. sign: e^{+iωt}, phases
/// not folded.
struct Response {
  std::string site;
  Mode mode = Mode::te;
  double frequency_hz = not_given;
  double y_m = not_given, z_m = not_given;      ///< place of the site
  Complex impedance_ohm{not_given, not_given};  ///< Zxy for TE, Zyx for TM
  Complex tipper{not_given, not_given};         ///< Tzy for TE; NaN for TM
  Definition definition = Definition::horizontal;
};

/// Returns the survey whose prediction `responses_from` takes: both impedances and the tipper at every
/// station and frequency.
[[nodiscard]] Survey response_survey(std::vector<Station> stations, std::vector<double> frequencies_hz);

/// Returns one response per mode, frequency (in the order listed) and station out of predictions on any
/// survey; parts the survey lacks stay NaN, log10 ρₐ and phase pairs become impedances. shapes: predicted
/// (survey.keys.size()), z_m (stations). errors: ShapeError.
[[nodiscard]] std::vector<Response> responses_from(const Survey& survey, const Eigen::VectorXd& predicted,
                                                   const std::vector<double>& z_m);

}  // namespace lodestone::physics::mt
