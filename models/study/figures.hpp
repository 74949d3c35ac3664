// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace lodestone::models::study {

/// The figures of one run; NaN where it has none.
struct Figures {
  double c = 0.0, floor = 0.0;                       ///< relative data misfit; of the data without noise
  double c_4_iterations = 0.0, c_8_jacobians = 0.0;  ///< smallest c up to then
  double chi_rms = 0.0,
         chi_rms_before_polish = 0.0;             ///< the target is 1; the second without a polish: the first
  double error_domain = 0.0, error_region = 0.0;  ///< ‖m − m_true‖/‖m_true‖ of log10 resistivity
  double similarity_region = 0.0;                 ///< SSIM
  double iterations = 0.0, iterations_to_target = 0.0;  ///< including those of a polish
  double jacobians = 0.0, forward_runs = 0.0,
         solves = 0.0;    ///< `solves`: right-hand sides of all frequencies and modes
  double seconds = 0.0;   ///< wall time
  double polished = 0.0;  ///< 1: the codes did not reach the target, cells went on
};
struct FigureName {
  const char* name;
  double Figures::*figure;
  const char* units = "";
};
/// Returns all members with their names, in order.
[[nodiscard]] const std::vector<FigureName>& figure_names();

}  // namespace lodestone::models::study
