// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/analysis/layered_bound.hpp"
#include "physics/mt/analysis/nonnegative.hpp"
#include "physics/mt/d1/layered.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;
using Catch::Matchers::WithinAbs;

namespace {

std::vector<CurvePoint> curve_of(const d1::LayeredEarth& earth, double relative_error) {
  std::vector<CurvePoint> curve;
  for (int k = 0; k < 20; ++k) {
    const double frequency_hz = 100.0 * std::pow(10.0, -0.25 * k);
    const Complex z = d1::layered_impedance(earth, frequency_hz);
    curve.push_back({frequency_hz, z, relative_error * std::abs(z)});
  }
  return curve;
}

}  // namespace

TEST_CASE("non-negative least squares: the conditions of Kuhn and Tucker hold", "[physics][mt]") {
  Eigen::MatrixXd a(6, 4);
  a << 1, 2, 0, 1, 0, 1, 3, 1, 2, 0, 1, -1, 1, 1, 1, 1, -1, 2, 0, 2, 0, 1, 1, -3;
  const Eigen::VectorXd b{{1.0, -2.0, 3.0, 0.5, -1.0, 2.0}};
  const Eigen::VectorXd x = nonnegative_least_squares(a, b);
  const Eigen::VectorXd slope = a.transpose() * (b - a * x);
  CHECK(x.minCoeff() >= 0.0);
  CHECK(x.maxCoeff() > 0.1);
  CHECK(x.minCoeff() == 0.0);  // the bound counts here
  for (Eigen::Index k = 0; k < 4; ++k) {
    if (x[k] > 0.0)
      CHECK_THAT(slope[k], WithinAbs(0.0, 1e-12));
    else
      CHECK(slope[k] <= 1e-12);
  }
}

TEST_CASE("layered bound: layered earths reach their own curves", "[physics][mt]") {
  for (const d1::LayeredEarth& earth :
       {d1::LayeredEarth{{100.0}, {}}, d1::LayeredEarth{{100.0, 1.0, 1000.0}, {500.0, 2000.0}},
        d1::LayeredEarth{{10.0, 1000.0, 1.0}, {300.0, 30000.0}}}) {
    const LayeredBound bound = layered_bound(curve_of(earth, 1e-2));
    CHECK(bound.rms < 0.1);
    CHECK(bound.residual.size() == 20);
  }
}

TEST_CASE("layered bound: curves that no layered earth has are seen, and where", "[physics][mt]") {
  std::vector<CurvePoint> curve = curve_of({{100.0, 1.0, 1000.0}, {500.0, 2000.0}}, 0.02);
  const double own = layered_bound(curve).rms;
  std::vector<CurvePoint> with_jump = curve, with_wrong_phase = curve;
  with_jump[9].impedance *= 1.5;
  const LayeredBound jump = layered_bound(with_jump);
  CHECK(jump.outliers == std::vector<std::size_t>{9});
  CHECK(jump.residual[9] > 10.0);
  CHECK(jump.rms < 2.0 * own + 0.1);
  for (CurvePoint& point : with_wrong_phase) point.impedance *= std::polar(1.0, 0.5);
  CHECK(layered_bound(with_wrong_phase).rms > 3.0);
  CHECK(layered_bound({}).residual.empty());
  curve[3].sigma = 0.0;
  CHECK_THROWS_AS(layered_bound(curve), core::InvalidArgument);
}
