// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/outcome.hpp"
#include "physics/mt/distortion.hpp"
#include "physics/mt/observations.hpp"

#include <variant>
#include <vector>

namespace lodestone::inversion::mt {

/// Static shifts as further unknowns.
struct StaticShiftOptions {
  double sigma_decades = 0.15;  ///< deviation of the Gaussian prior
  std::vector<physics::mt::Mode> modes{physics::mt::Mode::te, physics::mt::Mode::tm};
};
/// Real 2 × 2 matrices in front of the impedances of a volume as further unknowns.
struct DistortionMatrixOptions {
  double sigma = 0.2;  ///< deviation of the Gaussian prior of each entry around the identity
};
/// The distortion that is estimated beside a model: none, or one number per station and mode, or four per
/// station.
using DistortionOptions = std::variant<std::monostate, StaticShiftOptions, DistortionMatrixOptions>;

/// Further unknowns of a distortion, each 0 ± sigma before the data.
struct DistortionPrior {
  physics::mt::DistortionUnknowns unknowns{};
  double sigma = 1.0;
};
/// Returns the unknowns of a survey, and logs their number. `dimension`: axes of the earth. errors:
/// InvalidArgument where matrices are wanted and the earth is no volume, or none of its data has one.
[[nodiscard]] DistortionPrior distortion_of(const DistortionOptions& options,
                                            const physics::mt::Survey& survey, int dimension);
/// Logs how curves lie beside those of their neighbours where a section's shifts are no unknowns and its
/// data show them.
void advise_on_shifts(const DistortionOptions& options, const physics::mt::Observations& data, int dimension);

/// Returns the estimated distortion as a table with a file of its own. "static_shift": site, mode,
/// shift_decades, rho_a_factor. "distortion": site, c_xx, c_xy, c_yx, c_yy, the factors of Groom & Bailey,
/// and deviation, the root mean square of C − 1 over sigma. shape: p (prior.unknowns.size()).
[[nodiscard]] NamedTable distortion_table(const std::vector<physics::mt::Station>& stations,
                                          const DistortionPrior& prior, const Eigen::VectorXd& p);
/// Logs mean and spread of each entry over the stations. shape: p (prior.unknowns.size()).
void log_distortion(const DistortionPrior& prior, const Eigen::VectorXd& p);
/// Logs one warning that names the numbers beyond three deviations of their prior, if there are any. shape: p
/// (prior.unknowns.size()).
void warn_of_large_distortion(const std::vector<physics::mt::Station>& stations, const DistortionPrior& prior,
                              const Eigen::VectorXd& p);

}  // namespace lodestone::inversion::mt
