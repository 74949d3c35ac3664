// SPDX-License-Identifier: Apache-2.0
// What this shows: a new physics is held against closed forms and its derivatives are checked with what
// Lodestone has.
//
// Equation: half-space: ρ_a = ρ; two layers: image series; limits: ρ_a → top, bottom resistivity for small,
// large AB/2
//
// Sample run: check_dc
#include "dc/analytic.hpp"
#include "dc/simulation.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/map_checks.hpp"
#include "engine/core/session.hpp"

#include <cmath>

namespace core = lodestone::core;

namespace {

bool all_passed = true;

/// Prints one row of the table; every check is a deviation and its limit.
void judge(const std::string& what, double deviation, double limit) {
  const bool passed = deviation <= limit;
  all_passed = all_passed && passed;
  core::log::info("{:<70} {:>10.1e} {:>10.0e}  {}", what, deviation, limit, passed ? "ok" : "FAILED");
}

double half_space_deviation() {
  const dc::Simulation simulation({5.0, 20.0}, dc::schlumberger_survey(1.0, 1e4, 30));
  return (simulation.value(Eigen::Vector3d::Constant(2.3)).array() - 2.3).abs().maxCoeff();
}

/// Returns the largest relative difference from the image series for AB/2 from a hundredth to a thousand
/// times the thickness.
double image_series_deviation(double bottom_ohm_m) {
  const double top_ohm_m = 100.0, thickness_m = 10.0;
  const auto survey = dc::schlumberger_survey(0.1, 1e4, 51);
  const Eigen::VectorXd computed =
      dc::Simulation({thickness_m}, survey)
          .value(Eigen::Vector2d(std::log10(top_ohm_m), std::log10(bottom_ohm_m)));
  double worst = 0.0;
  for (Eigen::Index i = 0; i < computed.size(); ++i) {
    const auto& spacing = survey.spacings[static_cast<std::size_t>(i)];
    const double exact = dc::two_layer_apparent_resistivity(spacing, top_ohm_m, thickness_m, bottom_ohm_m);
    worst = std::max(worst, std::abs(std::pow(10.0, computed[i]) / exact - 1.0));
  }
  return worst;
}

/// A sounding over resistivities 3, 1 and 2 (log10) sees the top layer with short and the bottom layer with
/// long spacings.
double limit_deviation() {
  const dc::Survey survey{{{.half_ab_m = 0.1, .half_mn_m = 0.01}, {.half_ab_m = 1e6, .half_mn_m = 1e4}}};
  const Eigen::VectorXd data = dc::Simulation({10.0, 30.0}, survey).value(Eigen::Vector3d(3.0, 1.0, 2.0));
  return std::max(std::abs(data[0] - 3.0), std::abs(data[1] - 2.0));
}

void judge_derivatives() {
  const dc::Simulation simulation({2.0, 8.0, 30.0, 100.0}, dc::schlumberger_survey(1.0, 1e3, 15));
  const Eigen::VectorXd model = (Eigen::VectorXd(5) << 3.0, 1.5, 2.2, 0.8, 2.6).finished();
  const auto derivative = core::check_derivative(simulation, model);
  const auto adjoint = core::check_adjoint(simulation, model);
  judge("derivative: Taylor order below 2", derivative.passed ? std::max(0.0, 2.0 - derivative.figure) : 2.0,
        0.1);
  judge("adjoint gap", adjoint.figure, 1e-10);
}

double refused_deviation() {
  try {
    (void)dc::Simulation({10.0}, dc::Survey{{{.half_ab_m = 1.0, .half_mn_m = 2.0}}});
  } catch (const core::InvalidArgument&) {
    return 0.0;
  }
  return 1.0;
}

}  // namespace

int main() {
  core::Session session;
  return session.run([] {
    core::log::info("{:<70} {:>10} {:>10}", "check", "deviation", "limit");
    judge("half-space: apparent resistivity equals resistivity, log10", half_space_deviation(), 1e-12);
    judge("two layers, conductive below: image series, relative", image_series_deviation(5.0), 1e-10);
    judge("two layers, resistive below: image series, relative", image_series_deviation(2e3), 1e-10);
    judge("limits of short and long spacings, log10", limit_deviation(), 1e-3);
    judge_derivatives();
    judge("potential electrodes outside the current electrodes are refused", refused_deviation(), 0.0);
    return all_passed ? 0 : 1;
  });
}
