// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/objective/misfit.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/survey.hpp"

namespace lodestone::models::study {

/// Stations evenly from 0 to 10 km, frequencies evenly in their logarithm from 1000 to 1 Hz.
struct SyntheticSurvey {
  int n_stations = 41, n_frequencies = 20;
  bool tm = false;  ///< beside TE
  [[nodiscard]] physics::mt::Survey impedances() const;
  [[nodiscard]] physics::mt::Survey data() const;  ///< log10 ρₐ and phase of each mode
};

/// Data of a synthetic test with known noise.
struct SyntheticData {
  physics::mt::Survey survey;  ///< log10 of ohm m and radian
  Eigen::VectorXd clean, observed, sigma;
  double noise = 0.0;  ///< ε: each part of Z has a standard deviation of ε |Z|/√2

  [[nodiscard]] inversion::objective::DataMisfit misfit() const;
  /// Returns c = ‖d − p‖/‖d‖, unit weights, phases of both modes in the first quadrant. source: Zhou et al.
  /// 2024, "relative data misfit"
  [[nodiscard]] double relative_misfit(const Eigen::VectorXd& predicted) const;
  /// Returns c of the data without noise.
  [[nodiscard]] double floor() const { return relative_misfit(clean); }
};

/// Returns the impedances of a section on meshes designed for the section itself, in ohm. shape: as the keys
/// of `survey.impedances()`. errors: those of the simulation.
[[nodiscard]] Eigen::VectorXd true_impedances(const physics::mesh::Model& section,
                                              const SyntheticSurvey& survey,
                                              physics::mt::d2::Accuracy accuracy);

/// Adds normal noise of relative size ε to the impedances, the same draws for any ε. Errors are σ(log10 ρₐ) =
/// ε √2/ln 10 and σ(phase) = ε/√2, with ε at least `least_error`.
[[nodiscard]] SyntheticData noisy_data(const SyntheticSurvey& survey, const Eigen::VectorXd& impedances,
                                       double noise, std::uint64_t seed, double least_error = 0.005);

}  // namespace lodestone::models::study
