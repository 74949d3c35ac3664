// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Returns five cells that vary in three directions.
MatrixXd covariance() {
  MatrixXd directions(5, 3);
  directions << 1, 0, 2, 0.5, 1, 0, 0, 1, 1, -1, 0.3, 0.2, 2, 0, -0.4;
  return directions * directions.transpose();
}
VectorXd mean() { return VectorXd::LinSpaced(5, 1.0, 3.0); }

}  // namespace

TEST_CASE(
    "Gaussian decoder: standard normal codes have the covariance of the draws, in as many codes as it has "
    "directions",
    "[inversion]") {
  const auto decoder = inversion::prior::gaussian_decoder(mean(), covariance());
  CHECK(decoder->n_cells() == 5);
  CHECK(decoder->n_codes() == 3);
  CHECK((decoder->decode(VectorXd::Zero(3)) - mean()).norm() < 1e-14);
  const MatrixXd slopes = decoder->jacobians(MatrixXd::Zero(3, 2));
  REQUIRE(slopes.cols() == 6);
  const MatrixXd l = slopes.leftCols(3);
  CHECK((l * l.transpose() - covariance()).norm() < 1e-12);
  CHECK(slopes.rightCols(3) == l);
  CHECK(l.col(0).norm() > l.col(2).norm());
}

TEST_CASE("Gaussian decoder: encode gives the codes of what was decoded, and the nearest section else",
          "[inversion]") {
  const auto decoder = inversion::prior::gaussian_decoder(mean(), covariance());
  const MatrixXd codes = MatrixXd::Random(3, 4);
  CHECK((decoder->encode(decoder->decode(codes)) - codes).norm() < 1e-12);
  const VectorXd any = VectorXd::Random(5), left = any - decoder->decode(decoder->encode(any));
  CHECK((decoder->jacobians(VectorXd::Zero(3)).transpose() * left).norm() <
        1e-12);  // nothing of it lies in the range
}

TEST_CASE("Gaussian decoder: what is no covariance is refused", "[inversion]") {
  MatrixXd bad = covariance();
  CHECK_THROWS_AS(inversion::prior::gaussian_decoder(VectorXd::Zero(4), bad), core::ShapeError);
  bad(0, 1) += 1.0;
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(inversion::prior::gaussian_decoder(mean(), bad)); }),
             tests::HasId("not_symmetric"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(inversion::prior::gaussian_decoder(mean(), -covariance())); }),
             tests::HasId("negative_eigenvalue"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(inversion::prior::gaussian_decoder(mean(), MatrixXd::Zero(5, 5)));
             }),
             tests::HasId("no_variation"));
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] {
        static_cast<void>(inversion::prior::gaussian_decoder(mean(), MatrixXd::Constant(5, 5, std::nan(""))));
      }),
      tests::HasId("not_finite"));
}
