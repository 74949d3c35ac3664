// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/distortion.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <numbers>
#include <vector>

using namespace lodestone;
using namespace lodestone::physics::mt;

namespace {

Survey two_stations(const std::vector<Datum>& quantities) {
  return full_survey({{"a", 0.0}, {"b", 100.0}}, {1.0, 10.0}, quantities);
}

}  // namespace

TEST_CASE("static shift: keys are ordered by mode, then by station", "[physics][mt]") {
  const auto shifts =
      static_shifts(two_stations({Datum::log10_rho_xy, Datum::zyx_im, Datum::tzy_re}), {Mode::te, Mode::tm});
  CHECK(shifts.keys == std::vector<DistortionKey>{{0, 0, 0}, {1, 0, 0}, {0, 1, 1}, {1, 1, 1}});
}

TEST_CASE("static shift: stations with phases alone and modes not asked for have none", "[physics][mt]") {
  CHECK(static_shifts(two_stations({Datum::phase_xy, Datum::tzy_im}), {Mode::te, Mode::tm}).empty());
  CHECK(static_shifts(two_stations({Datum::zxy_re, Datum::log10_rho_yx}), {Mode::tm}).size() == 2);
}

TEST_CASE(
    "full distortion: stations of phase tensors, tippers and phases of determinants alone have no matrix",
    "[physics][mt]") {
  CHECK(full_distortion(two_stations({datum("phase_tensor_xx"), Datum::tzy_im, datum("phase_det")})).empty());
  Survey survey = two_stations({datum("phase_tensor_xx")});
  survey.keys.push_back({Datum::phase_xy, 0, 1});
  CHECK(full_distortion(survey).keys ==
        std::vector<DistortionKey>{{1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}});
}

TEST_CASE("distortion matrices: entries beside the unknown ones are those of the identity", "[physics][mt]") {
  const DistortionUnknowns some{DistortionKind::full, {{3, 0, 1}, {1, 1, 1}}};
  const auto matrices = distortion_matrices(some, Eigen::Vector2d(0.25, -0.5));
  REQUIRE(matrices.size() == 2);
  CHECK(matrices[0].first == 1);
  CHECK(matrices[0].second == Eigen::Matrix2d{{1.0, 0.0}, {0.0, 0.5}});
  CHECK(matrices[1].second == Eigen::Matrix2d{{1.0, 0.25}, {0.0, 1.0}});
  const DistortionUnknowns shift{DistortionKind::static_shift, {{0, 0, 0}}};
  CHECK(distortion_matrices(shift, Eigen::VectorXd::Constant(1, 2.0))[0].second ==
        Eigen::Matrix2d{{10.0, 0.0}, {0.0, 1.0}});
}

TEST_CASE("Groom & Bailey: the factors make the matrix they were taken from", "[physics][mt]") {
  const double g = 1.3, t = 0.4, e = -0.25, s = 0.2;
  const Eigen::Matrix2d twist = Eigen::Matrix2d{{1.0, -t}, {t, 1.0}} / std::sqrt(1.0 + t * t),
                        shear = Eigen::Matrix2d{{1.0, e}, {e, 1.0}} / std::sqrt(1.0 + e * e),
                        anisotropy = Eigen::Matrix2d{{1.0 + s, 0.0}, {0.0, 1.0 - s}} / std::sqrt(1.0 + s * s);
  const GroomBaileyFactors factors = groom_bailey(g * twist * shear * anisotropy);
  const double degree = std::numbers::pi / 180.0;
  CHECK(factors.gain == Approx(g));
  CHECK(std::tan(factors.twist_deg * degree) == Approx(t));
  CHECK(std::tan(factors.shear_deg * degree) == Approx(e));
  CHECK(factors.anisotropy == Approx(s));
  const GroomBaileyFactors none = groom_bailey(Eigen::Matrix2d::Identity());
  CHECK(
      (none.gain == Approx(1.0) && none.twist_deg == 0.0 && none.shear_deg == 0.0 && none.anisotropy == 0.0));
}
