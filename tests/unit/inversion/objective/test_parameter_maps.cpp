// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/objective/parameter_maps.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone;

TEST_CASE("exp10: log10 resistivity becomes resistivity") {
  const Eigen::Vector3d rho = inversion::objective::exp10_map(3)->value(Eigen::Vector3d(-1.0, 0.0, 2.0));
  CHECK(rho.isApprox(Eigen::Vector3d(0.1, 1.0, 100.0), 1e-14));
}

TEST_CASE("bounds: any unknown gives a resistivity inside the bounds, and large ones do not overflow") {
  const auto map = inversion::objective::bounds_map(5, -1.0, 5.0);
  const Eigen::VectorXd m = map->value((Eigen::VectorXd(5) << -1e4, -3.0, 0.0, 3.0, 1e4).finished());
  CHECK(m.allFinite());
  CHECK(m.minCoeff() >= -1.0);
  CHECK(m.maxCoeff() <= 5.0);
  CHECK(m[2] == Approx(2.0));
  CHECK(map->linearize(Eigen::VectorXd::Constant(5, 1e4))->jacobian().allFinite());
}

TEST_CASE("bounds: unbounded is the inverse and moves values at or outside a bound inside") {
  const auto map = inversion::objective::bounds_map(4, 0.0, 4.0);
  const Eigen::Vector4d back =
      map->value(inversion::objective::unbounded(Eigen::Vector4d(1.0, 3.5, -2.0, 4.0), 0.0, 4.0));
  CHECK(back.isApprox(Eigen::Vector4d(1.0, 3.5, 0.004, 3.996), 1e-12));
}

TEST_CASE("bounds: wrong bounds are refused") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(inversion::objective::bounds_map(1, 2.0, 2.0)); }),
             tests::HasId("wrong_bounds", {"2 and 2"}));
  CHECK_THROWS_AS(inversion::objective::unbounded(Eigen::Vector2d::Zero(), 0.0, INFINITY),
                  core::InvalidArgument);
}
