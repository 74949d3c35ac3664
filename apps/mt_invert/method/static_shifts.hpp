// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/model_space.hpp"
#include "io/run/result.hpp"

#include <string>

namespace lodestone::mt_invert::method {

/// What is known of the shifts before the data: each is 0 ± sigma.
struct ShiftPrior {
  Eigen::Index n_shifts = 0;
  double sigma_decades = 1.0;
};
[[nodiscard]] ShiftPrior shift_prior_of(const config::Config& config, const ModelSpace& space);

/// Puts the shifts of a model into the result and logs their mean and spread per mode.
void add_static_shifts(const config::Config& config, const ModelSpace& space, const Eigen::VectorXd& unknowns,
                       io::run::InversionResult& result);

/// `site,mode,shift_decades,rho_a_factor`, one row per shift. errors: FileError.
void write_static_shifts(const std::string& path, const io::run::InversionResult& result);

}  // namespace lodestone::mt_invert::method
