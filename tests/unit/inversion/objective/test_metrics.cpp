// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "inversion/objective/metrics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::inversion;
using Catch::Contains;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd rough_section(std::uint64_t seed, Eigen::Index n_z = 9, Eigen::Index n_y = 12) {
  const core::Philox random(seed);
  MatrixXd section(n_z, n_y);
  std::uint64_t i = 0;
  for (double& value : section.reshaped()) value = 2.0 + 0.5 * random.normal(i++);
  return section;
}

}  // namespace

TEST_CASE("relative error: of the cells asked for alone, relative to the truth in them") {
  const VectorXd truth{{3.0, 4.0, 100.0}}, model{{3.0, 5.5, 0.0}};
  CHECK(objective::relative_error(model, truth, {0, 1}) == Approx(0.3));
  CHECK(objective::relative_error(truth, truth, {0, 1, 2}) == 0.0);
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(objective::relative_error(model, truth, {})); }),
             tests::HasId("no_cell", {"3"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(objective::relative_error(model, truth, {3})); }),
             tests::HasId("cell_outside", {"2", "3"}));
  CHECK_THROWS_AS(objective::relative_error(model.head(2), truth, {0}), core::ShapeError);
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(objective::relative_error(model, VectorXd::Zero(3), {0})); }),
             tests::HasId("zero_truth"));
}

TEST_CASE("structural similarity: 1 for equal sections, the same either way round") {
  const MatrixXd a = rough_section(1), b = rough_section(2);
  CHECK(objective::structural_similarity(a, a) == Approx(1.0).margin(1e-14));
  CHECK(objective::structural_similarity(a, b) ==
        Approx(objective::structural_similarity(b, a)).epsilon(1e-14));
  CHECK(std::abs(objective::structural_similarity(a, b)) <
        0.2);  // independent draws have no structure in common
}

TEST_CASE("structural similarity: of level sections it compares the levels, with C1 = (0.01 · 3)²") {
  const MatrixXd a = MatrixXd::Constant(7, 7, 2.0), b = MatrixXd::Constant(7, 7, 1.0);
  CHECK(objective::structural_similarity(a, b) ==
        Approx((2.0 * 2.0 * 1.0 + 9e-4) / (4.0 + 1.0 + 9e-4)).epsilon(1e-12));
  CHECK(objective::structural_similarity(a, b, {.range_decades = 6.0}) ==
        Approx((4.0 + 36e-4) / (5.0 + 36e-4)).epsilon(1e-12));
}

TEST_CASE("structural similarity: half the contrast at the same mean costs what the formula says") {
  MatrixXd a = MatrixXd::Constant(2, 2, 1.0);
  a.row(1).setConstant(3.0);
  const MatrixXd b = (0.5 * (a.array() - 2.0) + 2.0).matrix();
  const double c2 = std::pow(0.03 * 3.0, 2);  // variances 1 and ¼, covariance ½, equal means
  CHECK(objective::structural_similarity(a, b, {.window_cells = 2}) ==
        Approx((1.0 + c2) / (1.25 + c2)).epsilon(1e-12));
  CHECK(objective::structural_similarity(a, (4.0 - a.array()).matrix(), {.window_cells = 2}) ==
        Approx((-2.0 + c2) / (2.0 + c2)).epsilon(1e-12));
}

TEST_CASE(
    "structural similarity: the mean over windows, so what differs in one corner counts for the windows that "
    "see it") {
  const MatrixXd a = MatrixXd::Constant(8, 7, 2.0);
  MatrixXd b = a;
  b(0, 0) = 3.0;  // in the upper of two windows
  const double whole = objective::structural_similarity(a, b),
               upper = objective::structural_similarity(a.topRows(7), b.topRows(7));
  CHECK(whole == Approx(0.5 * (1.0 + upper)).epsilon(1e-12));
  CHECK(upper < 1.0);
}

TEST_CASE("structural similarity: sections that do not fit each other or a window are refused") {
  const MatrixXd a = rough_section(1);
  CHECK_THROWS_AS(objective::structural_similarity(a, a.topRows(8)), core::ShapeError);
  CHECK_THAT(tests::error_of<core::ShapeError>(
                 [&] { static_cast<void>(objective::structural_similarity(a.topRows(6), a.topRows(6))); }),
             tests::HasId("wrong_sections", {"7 × 7"}));
  CHECK_THROWS_AS(objective::structural_similarity(a, a, {.range_decades = 0.0}), core::InvalidArgument);
  CHECK_THROWS_AS(objective::structural_similarity(a, a, {.window_cells = 1}), core::InvalidArgument);
}
