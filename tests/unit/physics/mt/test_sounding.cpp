// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "physics/mt/sounding.hpp"
#include "physics/mt/transform.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::physics::mt;
using tests::error_of;
using tests::HasId;

namespace {

const std::vector<double> frequencies{100.0, 1.0, 0.01};

/// Returns one station over 100, 10 and 1000 ohm m, in the quantities asked for, with errors of 5 % of |Z|.
Observations layered(const std::vector<Datum>& quantities) {
  Observations data;
  data.survey = full_survey({{"a", 0.0}}, frequencies, quantities);
  const auto rows = predictable_rows(data.survey, section_elements);
  data.value = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(data.survey.keys.size()), 0.1);
  data.value(rows) =
      d1::data_map({500.0, 2000.0}, survey_of(data.survey, rows))->value(Eigen::Vector3d(2.0, 1.0, 3.0));
  data.sigma = Eigen::VectorXd::Constant(data.value.size(), 0.05);
  data.reason.assign(data.survey.keys.size(), MaskReason::kept);
  for (std::size_t k = 0; k < data.survey.keys.size(); ++k) {
    if (quantities.front() != Datum::zxy_re) continue;
    const auto first = static_cast<Eigen::Index>(k % 3 + 6 * (k / 6));
    data.sigma[static_cast<Eigen::Index>(k)] = 0.05 * std::hypot(data.value[first], data.value[first + 3]);
  }
  return data;
}

Eigen::VectorXd expected() {
  return d1::data_map({500.0, 2000.0},
                      full_survey({{"a"}}, frequencies, {Datum::log10_rho_xy, Datum::phase_xy}))
      ->value(Eigen::Vector3d(2.0, 1.0, 3.0));
}

}  // namespace

TEST_CASE("sounding: over a layered earth every mode and form of the data gives the same curve",
          "[physics][mt]") {
  const auto logs = layered({Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx});
  const auto impedances = layered({Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im});
  const auto effective = layered({datum("log10_rho_det"), datum("phase_det"), datum("zxx_re")});
  for (const auto mode : {SoundingMode::te, SoundingMode::tm, SoundingMode::average}) {
    for (const auto* data : {&logs, &impedances, &effective}) {
      const Sounding sounding = sounding_of(*data, 0, mode);
      CHECK(sounding.n_kept() == 6);
      CHECK((sounding.value - expected()).norm() < 1e-12);
    }
  }
}

TEST_CASE("sounding: errors of the impedance become those of resistivity and phase, and average down",
          "[physics][mt]") {
  const auto data = layered({Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im});
  const Sounding te = sounding_of(data, 0, SoundingMode::te),
                 both = sounding_of(data, 0, SoundingMode::average);
  CHECK(te.sigma[0] == Approx(0.1 / std::numbers::ln10));
  CHECK(te.sigma[3] == Approx(0.05));
  CHECK(both.sigma[3] == Approx(0.05 / std::numbers::sqrt2));
}

TEST_CASE("sounding: masked data are left out, and the other mode stands in for the average",
          "[physics][mt]") {
  auto data = layered({Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx});
  data.reason[1] = MaskReason::listed;
  data.value[7] += 0.5;
  CHECK(sounding_of(data, 0, SoundingMode::te).kept[1] == 0);
  const auto set = sounding_of(data, 0, SoundingMode::te).data_set();
  CHECK_FALSE(set.is_used(1));
  CHECK(set.turn()[0] == 0.0);
  CHECK(set.turn()[set.size() - 1] == rule_of(Datum::phase_xy).turn);
  CHECK(set.key().texts("quantity").back() == "phase_xy");
  CHECK(sounding_of(data, 0, SoundingMode::average).value[1] == Approx(data.value[7]));
  CHECK(sounding_of(data, 0, SoundingMode::average).sigma[1] == Approx(0.05));
  CHECK_THAT(error_of<core::ShapeError>([&] { (void)sounding_of(data, 1, SoundingMode::te); }),
             HasId("wrong_station", {"1"}));
}
