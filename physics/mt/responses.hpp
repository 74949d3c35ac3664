// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/observations.hpp"
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

/// Returns the survey whose prediction `responses_from` takes: both impedances and the tipper of a section at
/// every station and frequency.
[[nodiscard]] Survey response_survey(std::vector<Station> stations, std::vector<double> frequencies_hz);
/// Returns the survey of the parts of all elements at every station and frequency, as a volume predicts them.
[[nodiscard]] Survey full_response_survey(std::vector<Station> stations, std::vector<double> frequencies_hz);

/// The elements at every station and frequency, out of predictions of their parts.
class ElementTable {
 public:
  /// Takes the real and imaginary parts among the keys, and pairs of log10 ρₐ and phase where these stand
  /// alone; what a survey lacks stays NaN. shape: predicted (survey.keys.size()). errors: ShapeError.
  ElementTable(const Survey& survey, const Eigen::VectorXd& predicted);
  /// Returns the elements at a station and frequency, by their indices. units: ohm, tipper none.
  [[nodiscard]] const Elements::Values& at(int frequency, int station) const;
  /// Returns a datum, which follows from the elements.
  [[nodiscard]] double value(const DatumKey& key) const;
  /// Returns the least error of a datum under these floors, in its units.
  [[nodiscard]] double floor(const DatumKey& key, const ErrorFloors& floors) const;

 private:
  std::vector<double> omega_;
  std::size_t n_stations_;
  std::vector<Elements::Values> elements_;
};

/// Returns data whose values are predictions. With `like`, its keys with their errors, also where these are
/// placeholders; else the keys of the survey. Errors that are not given are 5 % of |Z|, 0.02 of tippers, and
/// what follows from these.
[[nodiscard]] Observations as_observed(const Survey& survey, const Eigen::VectorXd& predicted,
                                       const Observations* like = nullptr);

/// Returns one response per mode, frequency (in the order listed) and station out of predictions on any
/// survey; parts the survey lacks stay NaN, log10 ρₐ and phase pairs become impedances. shapes: predicted
/// (survey.keys.size()), z_m (stations). errors: ShapeError.
[[nodiscard]] std::vector<Response> responses_from(const Survey& survey, const Eigen::VectorXd& predicted,
                                                   const std::vector<double>& z_m);

}  // namespace lodestone::physics::mt
