// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/coverage.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <Eigen/Dense>

#include <cmath>

using namespace lodestone;
using namespace lodestone::inversion;
using Catch::Contains;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Four cells, of which draws move the first two alone: the range of the decoder is the mean plus any numbers
/// there.
const VectorXd mean{{1.0, 2.0, 3.0, 2.0}};
const prior::DecoderPtr flat =
    prior::gaussian_decoder(mean, MatrixXd(VectorXd{{1.0, 0.25, 0.0, 0.0}}.asDiagonal()));
const prior::SubdomainMap three(13, {{"crust", flat, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}}});

VectorXd model_of(const VectorXd& a, const VectorXd& b, const VectorXd& c) {
  VectorXd model(13);
  model << mean + a, mean + b, mean + c, 5.0;
  return model;
}

const VectorXd none = VectorXd::Zero(4);

}  // namespace

TEST_CASE(
    "coverage: distance is the part of a model that the decoder cannot make, the code is the nearest one") {
  const double rms = 0.1;
  const VectorXd model = model_of(VectorXd{{0.8, -0.6, 0.0, 0.0}}, VectorXd{{0.0, 0.0, 0.3, 0.0}},
                                  VectorXd{{0.5, 0.0, 0.0, -0.5}});
  const auto rows = prior::coverage(three, model, {{.rms = rms}});
  REQUIRE(rows.size() == 3);
  // v_i = s_i y_i/(s_i² + rms²) for standard deviations s = 1, ½
  const double v0 = 0.8 / (1.0 + rms * rms), v1 = -0.3 / (0.25 + rms * rms);
  CHECK(rows[0].chi_square == Approx((v0 * v0 + v1 * v1) / 2.0).epsilon(1e-8));
  CHECK(rows[0].tail == Approx(std::exp(-0.5 * (v0 * v0 + v1 * v1))).epsilon(1e-8));
  CHECK(rows[0].distance_decades == Approx(0.5 * std::hypot(0.8 - v0, -0.6 - 0.5 * v1)).epsilon(1e-6));
  CHECK(rows[0].verdict == prior::Verdict::inside);
  CHECK(rows[1].distance_decades == Approx(0.15).epsilon(1e-8));
  CHECK(rows[1].relative_distance == Approx(1.5).epsilon(1e-8));
  CHECK(rows[1].tail == Approx(1.0));
  CHECK(rows[2].verdict == prior::Verdict::edge);
}

TEST_CASE("coverage: a model far from the range or a code no draw has is outside, and words say which") {
  const VectorXd model = model_of(none, VectorXd{{6.0, 0.0, 0.0, 0.0}}, VectorXd{{0.0, 0.0, 0.0, 1.0}});
  const auto rows = prior::coverage(three, model, {{.rms = 0.1}});
  CHECK(rows[1].verdict == prior::Verdict::outside);
  CHECK(rows[1].relative_distance < 1.0);  // the code alone
  CHECK(rows[2].verdict == prior::Verdict::outside);
  CHECK(rows[2].tail == Approx(1.0));  // the distance alone
  CHECK(rows[2].relative_distance == Approx(5.0));
  CHECK_THAT(prior::in_words(rows), Contains("2 of 3 ") && Contains("\"crust\": 1, 2"));
  CHECK_THAT(prior::in_words(prior::coverage(three, model_of(none, none, none), {{.rms = 0.1}})),
             Contains(" 3 ") && !Contains("\"crust\""));
}

TEST_CASE("coverage: codes of a decoder that uses few of them sparingly are judged by those it uses") {
  const VectorXd model = model_of(VectorXd{{1.0, 0.0, 0.0, 0.0}}, none, none);
  const double v = 1.0 / 1.01;
  const auto rows = prior::coverage(three, model, {{.rms = 0.1, .reduced_chi_square = 0.25, .n_active = 1}});
  CHECK(rows[0].chi_square == Approx(v * v / 0.5).epsilon(1e-6));
  CHECK(rows[0].tail == Approx(std::erfc(std::sqrt(v * v / 0.5 / 2.0))).epsilon(1e-6));
}

TEST_CASE("coverage: the share of the data is that of the cells, and words say where the prior spoke") {
  VectorXd reduction = VectorXd::Constant(13, 0.9);
  reduction.segment(8, 4).setConstant(0.1);
  const auto rows = prior::coverage(three, model_of(none, none, none), {{.rms = 0.1}}, reduction);
  CHECK(*rows[1].data_share == Approx(0.9));
  CHECK_THAT(prior::in_words(rows), Contains("63 %") && Contains("2 of 3 ") && Contains(" 1 "));
}

TEST_CASE("coverage: what does not belong to the map is refused") {
  const VectorXd model = model_of(none, none, none);
  CHECK_THAT(tests::error_of<core::ShapeError>(
                 [&] { static_cast<void>(prior::coverage(three, VectorXd::Zero(12), {{.rms = 0.1}})); }),
             tests::HasId("wrong_size", {"13", "12"}));
  CHECK_THAT(tests::error_of<core::ShapeError>([&] { static_cast<void>(prior::coverage(three, model, {})); }),
             tests::HasId("wrong_number_of_scores", {"1", "0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(prior::coverage(three, model, {{.rms = 0.0}})); }),
             tests::HasId("wrong_scores", {"\"crust\"", "0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(prior::coverage(three, model, {{.rms = 0.1, .n_active = 3}})); }),
             tests::HasId("wrong_scores", {"\"crust\"", "2", "3"}));
}

TEST_CASE("tail of chi-square: closed forms, and both formulas where they meet") {
  for (const double x : {1e-9, 0.3, 1.0, 2.5, 4.0, 12.0, 60.0}) {
    CHECK(prior::chi_square_tail(x, 1.0) == Approx(std::erfc(std::sqrt(0.5 * x))).epsilon(1e-12));
    CHECK(prior::chi_square_tail(x, 2.0) == Approx(std::exp(-0.5 * x)).epsilon(1e-12));
    double sum = 0.0, term = 1.0;  // 16 degrees of freedom: e^(−x/2) Σ_(j<8) (x/2)^j/j!
    for (int j = 0; j < 8; ++j, term *= 0.5 * x / j) sum += term;
    CHECK(prior::chi_square_tail(x, 16.0) == Approx(std::exp(-0.5 * x) * sum).epsilon(1e-11));
  }
  CHECK(prior::chi_square_tail(0.0, 5.0) == 1.0);
  CHECK(prior::chi_square_tail(1e4, 16.0) < 1e-300);
  CHECK_THROWS_AS(prior::chi_square_tail(-1.0, 2.0), core::InvalidArgument);
}
