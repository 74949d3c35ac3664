// SPDX-License-Identifier: Apache-2.0
#include "models/study/data.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::models;
using Eigen::Index;
using Eigen::VectorXd;

TEST_CASE("synthetic data: noise of ε shifts c to about 0.6 ε, and chi rms of the truth is 1", "[models]") {
  const study::SyntheticSurvey survey{.n_stations = 11, .n_frequencies = 15, .tm = true};
  const auto keys = survey.impedances();
  VectorXd impedances(
      std::ssize(keys.keys));  // a half-space of 100 ohm m: phase 45 degrees, TM the other sign
  for (std::size_t i = 0; i < keys.keys.size(); ++i) {
    const double f = keys.frequencies_hz[static_cast<std::size_t>(keys.keys[i].frequency)];
    const double part = std::sqrt(0.5 * 100.0 * 2.0 * std::numbers::pi * f * 4e-7 * std::numbers::pi);
    impedances[static_cast<Index>(i)] =
        physics::mt::mode_of(keys.keys[i].quantity) == physics::mt::Mode::te ? part : -part;
  }
  const study::SyntheticData data = study::noisy_data(survey, impedances, 0.01, 3),
                             clean = study::noisy_data(survey, impedances, 0.0, 3),
                             more = study::noisy_data(survey, impedances, 0.05, 3);
  CHECK(data.misfit().rms(data.clean) == Approx(1.0).margin(0.08));
  CHECK(data.floor() == Approx(0.0044).margin(5e-4));  // √((0.87 ε/2)² …): mean squares of 2 decades and π/4
  CHECK(more.floor() == Approx(5.0 * data.floor()).epsilon(0.05));
  CHECK(clean.floor() == 0.0);
  CHECK(clean.observed == clean.clean);
  CHECK(clean.sigma.maxCoeff() ==
        Approx(0.5 * data.sigma.maxCoeff()));  // an error of 0.5 % where there is no noise
  CHECK(data.clean.head(3).isApproxToConstant(2.0, 1e-9));
  CHECK(data.relative_misfit(data.observed) == 0.0);
  CHECK((study::noisy_data(survey, impedances, 0.01, 4).observed - data.observed).norm() > 0.0);
}
