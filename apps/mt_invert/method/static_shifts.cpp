// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/static_shifts.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/log.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lodestone::mt_invert::method {

namespace mt = physics::mt;

ShiftPrior shift_prior_of(const config::Config& config, const ModelSpace& space) {
  if (!config.static_shift) return {};
  return {space.n_shifts(), config.static_shift->sigma_decades};
}

void add_static_shifts(const config::Config& config, const ModelSpace& space, const Eigen::VectorXd& unknowns,
                       io::run::InversionResult& result) {
  if (space.n_shifts() == 0) return;
  const Eigen::VectorXd shifts = space.shifts_of(unknowns);
  for (Eigen::Index i = 0; i < shifts.size(); ++i) {
    const auto& key = space.shift_keys()[static_cast<std::size_t>(i)];
    result.static_shifts.push_back({key.mode, key.station, shifts[i]});
  }
  result.static_shift_sigma_decades = config.static_shift->sigma_decades;
  for (const mt::Mode mode : config.static_shift->modes) {
    double sum = 0.0, squares = 0.0, n = 0.0;
    for (const auto& shift : result.static_shifts) {
      if (shift.mode != mode) continue;
      sum += shift.decades;
      squares += shift.decades * shift.decades;
      n += 1.0;
    }
    if (n == 0.0) continue;
    core::log::info(
        "static shifts, {}: mean {:+.3f}, root mean square {:.3f} decades over {:.0f} stations (prior {:g})",
        mode == mt::Mode::te ? "TE" : "TM", sum / n, std::sqrt(squares / n), n,
        result.static_shift_sigma_decades);
  }
}

void write_static_shifts(const std::string& path, const io::run::InversionResult& result) {
  std::string text = "site,mode,shift_decades,rho_a_factor\n";
  for (const auto& shift : result.static_shifts) {
    text += fmt::format(
        "{},{},{},{}\n", result.data.survey.stations[static_cast<std::size_t>(shift.station)].name,
        shift.mode == mt::Mode::te ? "TE" : "TM", shift.decades, std::pow(10.0, shift.decades));
  }
  core::write_file(path, text);
}

}  // namespace lodestone::mt_invert::method
