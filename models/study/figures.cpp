// SPDX-License-Identifier: Apache-2.0
#include "models/study/figures.hpp"

namespace lodestone::models::study {

const std::vector<FigureName>& figure_names() {
  using F = Figures;
  static const std::vector<FigureName> names{{"c", &F::c},
                                             {"c_floor", &F::floor},
                                             {"c_within_4_iterations", &F::c_4_iterations},
                                             {"c_within_8_jacobians", &F::c_8_jacobians},
                                             {"chi_rms", &F::chi_rms},
                                             {"chi_rms_before_polish", &F::chi_rms_before_polish},
                                             {"error_domain", &F::error_domain},
                                             {"error_region", &F::error_region},
                                             {"ssim_region", &F::similarity_region},
                                             {"iterations", &F::iterations},
                                             {"iterations_to_target", &F::iterations_to_target},
                                             {"jacobians", &F::jacobians},
                                             {"forward_runs", &F::forward_runs},
                                             {"solves", &F::solves},
                                             {"seconds", &F::seconds, "s"},
                                             {"polished", &F::polished}};
  return names;
}

}  // namespace lodestone::models::study
