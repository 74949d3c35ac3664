// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/objective/misfit.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <limits>
#include <numbers>

using namespace lodestone;
using Eigen::VectorXd;
using inversion::objective::DataMisfit;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// `reason`: 1 where a datum is masked; `turn`: that of each datum. Empty: none.
DataMisfit misfit_of(VectorXd observed, VectorXd sigma, std::vector<int> reason = {}, VectorXd turn = {},
                     double threshold = 0.0) {
  return DataMisfit(core::DataSet({.observed = std::move(observed),
                                   .sigma = std::move(sigma),
                                   .turn = std::move(turn),
                                   .reason = std::move(reason),
                                   .reasons = {"used", "masked"}}),
                    threshold);
}

}  // namespace

TEST_CASE("misfit: residuals are divided by sigma and rms counts kept data only") {
  const DataMisfit misfit = misfit_of(Eigen::Vector4d(1.0, 2.0, not_a_number, 5.0),
                                      Eigen::Vector4d(0.5, 1.0, not_a_number, 1.0), {0, 0, 1, 1});
  const Eigen::Vector4d predicted(0.0, 1.0, 7.0, not_a_number);
  CHECK(misfit.n_kept() == 2);
  CHECK(misfit.residual(predicted).isApprox(Eigen::Vector4d(2.0, 1.0, 0.0, 0.0)));
  CHECK(misfit.weights().isApprox(Eigen::Vector4d(2.0, 1.0, 0.0, 0.0)));
  CHECK(misfit.rms(predicted) == Approx(std::sqrt(2.5)));
}

TEST_CASE("misfit: phase residuals are wrapped to above -pi and up to pi, others are not") {
  constexpr double pi = std::numbers::pi;
  const DataMisfit misfit = misfit_of(Eigen::Vector4d(3.0, -3.0, pi, 3.0), Eigen::Vector4d::Ones(), {},
                                      Eigen::Vector4d(2.0 * pi, 2.0 * pi, 2.0 * pi, 0.0));
  const Eigen::VectorXd residual = misfit.residual(Eigen::Vector4d(-3.0, 3.0, 0.0, -3.0));
  CHECK(residual[0] == Approx(6.0 - 2.0 * pi));
  CHECK(residual[1] == Approx(2.0 * pi - 6.0));
  CHECK(residual[2] == Approx(pi));
  CHECK(residual[3] == Approx(6.0));
  CHECK(misfit.residual(Eigen::Vector4d(0.0, 0.0, 2.0 * pi, 0.0))[2] == Approx(pi));  // −π is written as +π
}

TEST_CASE("misfit: a kept datum that is not finite makes rms not finite") {
  const DataMisfit misfit = misfit_of(Eigen::Vector2d(1.0, 2.0), Eigen::Vector2d::Ones());
  CHECK(std::isnan(misfit.rms(Eigen::Vector2d(not_a_number, 2.0))));
}

TEST_CASE("misfit: unusable data are refused") {
  const auto refusal = [](const Eigen::Vector2d& observed, const Eigen::Vector2d& sigma) {
    return tests::error_of<core::InvalidArgument>([&] { static_cast<void>(misfit_of(observed, sigma)); });
  };
  CHECK_THAT(refusal({1.0, not_a_number}, Eigen::Vector2d::Ones()), tests::HasId("not_finite", {"row 1"}));
  CHECK_THAT(refusal({1.0, 2.0}, {1.0, 0.0}), tests::HasId("wrong_sigma", {"row 1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(misfit_of(Eigen::Vector2d(1.0, 2.0), Eigen::Vector2d::Ones(), {1, 1}));
             }),
             tests::HasId("no_datum", {"2"}));
  CHECK_THROWS_AS(misfit_of(Eigen::Vector2d(1.0, 2.0), Eigen::VectorXd::Ones(3)), core::ShapeError);
  const DataMisfit misfit = misfit_of(Eigen::Vector2d(1.0, 2.0), Eigen::Vector2d::Ones());
  CHECK_THAT(
      tests::error_of<core::ShapeError>([&] { static_cast<void>(misfit.residual(Eigen::Vector3d::Zero())); }),
      tests::HasId("wrong_predicted", {"2", "3"}));
}

TEST_CASE("misfit: with larger errors the norm falls by their square, Huber's too") {
  const VectorXd observed{{1.0, 2.0, 9.0}}, predicted{{1.1, 1.7, 2.0}};
  for (const double threshold : {0.0, 1.5}) {
    const DataMisfit stated = misfit_of(observed, VectorXd::Constant(3, 0.2), {}, {}, threshold),
                     larger = stated.with_errors_times(3.0);
    CHECK(larger.rms(predicted) == Approx(stated.rms(predicted) / 3.0));
    CHECK(larger.root_weights(predicted).isApprox(stated.root_weights(predicted)));
  }
  CHECK_THROWS_AS(misfit_of(observed, VectorXd::Ones(3)).with_errors_times(0.0), core::InvalidArgument);
}
