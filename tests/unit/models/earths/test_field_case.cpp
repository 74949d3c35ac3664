// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "models/earths/field_case.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/models/fixtures.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::models;
using tests::error_of;
using tests::HasId;
using tests::prior_of;

namespace {

constexpr int n_draws = 2000;

/// Returns steps 1 to 3 alone: sharp layers.
earths::FieldCaseOptions sharp() {
  earths::FieldCaseOptions options;
  options.bumps.number = {0, 0};
  options.smoothing = {1, 1.0};
  return options;
}

/// Returns cells of 50 m down to 84 km, so that interfaces can be read off.
physics::mesh::TensorGrid fine_grid() {
  std::vector<double> depth_m;
  for (int i = 0; i <= 1680; ++i) depth_m.push_back(50.0 * i);
  return earths::patch_grid(std::move(depth_m), {0.0, 1.0});
}

struct Parts {
  double background = 0.0, conductor = 0.0, top_m = 0.0, bottom_m = 0.0;
  bool grows_below = true;
  double last = 0.0;
  std::vector<double> interfaces_m;
};

/// Reads the parts off a sharp profile on the fine grid; cells that hold an interface are means of their
/// neighbours.
Parts parts_of(const Eigen::VectorXd& profile) {
  Parts parts{profile[0], profile.minCoeff(), 0.0, 0.0, true, profile[profile.size() - 1], {}};
  Eigen::Index first = 0, last = profile.size() - 1;
  while (profile[first] != parts.conductor) ++first;
  for (last = first; profile[last + 1] == parts.conductor;) ++last;
  parts.top_m = 50.0 * static_cast<double>(first);
  parts.bottom_m = 50.0 * static_cast<double>(last + 1);
  for (Eigen::Index iz = last + 3; iz < profile.size(); ++iz) {
    parts.grows_below = parts.grows_below && profile[iz] >= profile[iz - 1] - 1e-12;
    if (profile[iz] > profile[iz - 1] + 1e-12) parts.interfaces_m.push_back(50.0 * static_cast<double>(iz));
  }
  return parts;
}

}  // namespace

TEST_CASE("field case: background, conductor and what lies below are drawn from the published ranges") {
  const earths::Prior prior = prior_of<earths::FieldCase>(sharp(), fine_grid());
  const Eigen::MatrixXd draws = prior.draws(0, n_draws);
  int n_strong = 0;
  double sum_top = 0.0, sum_thickness = 0.0, sum_background = 0.0, deepest_interface = 0.0;
  for (int i = 0; i < n_draws; ++i) {
    const Parts parts = parts_of(draws.col(i));
    REQUIRE((parts.background >= 3.0 && parts.background <= 4.2));
    REQUIRE((parts.conductor >= -1.5 && parts.conductor <= 1.5));
    REQUIRE((parts.top_m >= 1e3 - 50 && parts.top_m <= 15e3 + 50));
    REQUIRE((parts.bottom_m - parts.top_m >= 2e3 - 100 && parts.bottom_m - parts.top_m <= 20e3 + 100));
    REQUIRE(parts.grows_below);
    REQUIRE((parts.last >= 2.6 && parts.last <= 4.5));
    n_strong += parts.conductor < 0.4 ? 1 : 0;
    sum_top += parts.top_m;
    sum_thickness += parts.bottom_m - parts.top_m;
    sum_background += parts.background;
    if (!parts.interfaces_m.empty())
      deepest_interface = std::max(deepest_interface, parts.interfaces_m.back());
  }
  // Four standard errors of each mean.
  CHECK(n_strong == Approx(0.6 * n_draws).margin(4.0 * std::sqrt(0.24 * n_draws)));
  CHECK(sum_top / n_draws == Approx(8e3).margin(4.0 * 14e3 / std::sqrt(12.0 * n_draws) + 25));
  CHECK(sum_thickness / n_draws == Approx(11e3).margin(4.0 * 18e3 / std::sqrt(12.0 * n_draws) + 50));
  CHECK(sum_background / n_draws == Approx(3.6).margin(4.0 * 1.2 / std::sqrt(12.0 * n_draws)));
  CHECK(deepest_interface < 80e3 + 100);
  CHECK(deepest_interface > 79e3);
}

TEST_CASE("field case: eleven steps lie below the conductor") {
  const earths::Prior prior = prior_of<earths::FieldCase>(sharp(), fine_grid());
  std::size_t most = 0;
  for (int i = 0; i < 50; ++i) {
    std::vector<double> merged;  // a cell that holds an interface shows it twice
    for (const double at : parts_of(prior.draw(i).col(0)).interfaces_m) {
      if (merged.empty() || at - merged.back() > 60.0) merged.push_back(at);
    }
    most = std::max(most, merged.size());
    CHECK(merged.size() <= 10);
  }
  CHECK(most == 10);
}

TEST_CASE(
    "field case: bumps change profiles by decades up to a few tenths each, smoothing leaves no steep step") {
  earths::FieldCaseOptions bumped = sharp(), smoothed = sharp();
  bumped.bumps = {};
  smoothed.smoothing = {};
  const physics::mesh::TensorGrid grid = tests::field_grid();
  const Eigen::MatrixXd plain = prior_of<earths::FieldCase>(sharp(), grid).draws(0, 400);
  const Eigen::MatrixXd difference = prior_of<earths::FieldCase>(bumped, grid).draws(0, 400) - plain;
  CHECK(difference.cwiseAbs().maxCoeff() > 0.3);
  CHECK(difference.cwiseAbs().maxCoeff() < 8 * 0.4);
  CHECK(std::abs(difference.mean()) < 0.02);  // of either sign
  const Eigen::MatrixXd smooth = prior_of<earths::FieldCase>(smoothed, grid).draws(0, 400);
  const auto steepest = [](const Eigen::MatrixXd& m) {
    return (m.bottomRows(m.rows() - 1) - m.topRows(m.rows() - 1)).cwiseAbs().maxCoeff();
  };
  CHECK(steepest(plain) > 4.0);
  CHECK(steepest(smooth) < 1.0);  // of 6 decades at most, an eighth per cell and a little
}

TEST_CASE("field case: a profile begun deeper is the lower part of the same profile from the surface") {
  const physics::mesh::TensorGrid deep = tests::field_grid(), whole = earths::continued_to_surface(deep);
  const Eigen::MatrixXd lower = prior_of<earths::FieldCase>(earths::FieldCaseOptions{}, deep).draws(0, 20);
  const Eigen::MatrixXd all = prior_of<earths::FieldCase>(earths::FieldCaseOptions{}, whole).draws(0, 20);
  CHECK((all.bottomRows(32) - lower).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("field case: grids of any depth, and patches whose columns are alike") {
  for (const double bottom : {300.0, 5e3, 4e5}) {
    const Eigen::MatrixXd drawn =
        prior_of<earths::FieldCase>(earths::FieldCaseOptions{},
                                    earths::patch_grid({0, 0.1 * bottom, bottom}, {0, 10, 30, 40}))
            .draw(3);
    CHECK(drawn.rows() == 2);
    CHECK(drawn.allFinite());
    CHECK(drawn.col(0) == drawn.col(2));
  }
}

TEST_CASE("field case: impossible ranges are refused by name") {
  const auto refused = [](auto change) {
    earths::FieldCaseOptions options;
    change(options);
    return error_of<core::InvalidArgument>([&] { (void)earths::FieldCase(options); });
  };
  CHECK_THAT(refused([](auto& o) {
               o.background = {4, 3};
             }),
             HasId("range_reversed", {"background", "[4, 3]"}));
  CHECK_THAT(refused([](auto& o) {
               o.conductor_top_m = {-5, 3};
             }),
             HasId("range_too_low", {"conductor_top_m"}));
  CHECK_THAT(refused([](auto& o) {
               o.conductor_thickness_m = {-5, 3};
             }),
             HasId("range_not_positive", {"conductor_thickness_m"}));
  CHECK_THAT(refused([](auto& o) {
               o.strong_conductor = {0, std::nan("")};
             }),
             HasId("range_not_finite", {"strong_conductor"}));
  CHECK_THAT(refused([](auto& o) {
               o.weak_conductor = {1, 0};
             }),
             HasId("range_reversed", {"weak_conductor"}));
  CHECK_THAT(refused([](auto& o) { o.strong_share = 1.5; }),
             HasId("wrong_strong_share", {"strong_share", "1.5"}));
  CHECK_THAT(refused([](auto& o) { o.n_steps = 0; }), HasId("no_steps", {"n_steps", "0"}));
  CHECK_THAT(refused([](auto& o) {
               o.steps_from = {2.6, 5.0};
             }),
             HasId("steps_overlap", {"steps_from", "5"}));
  CHECK_THAT(refused([](auto& o) { o.steps_to = {5.0, 4.0}; }), HasId("range_reversed", {"steps_to"}));
  CHECK_THAT(refused([](auto& o) { o.steps_bottom_m = 20e3; }),
             HasId("steps_end_too_high", {"35000 m", "20000 m"}));
  CHECK_THAT(refused([](auto& o) {
               o.bumps.number = {-1, 2};
             }),
             HasId("range_too_low", {"bumps", "[-1, 2]"}));
  CHECK_THAT(refused([](auto& o) { o.bumps.width_cells = {0, 2}; }), HasId("range_too_low", {"width_cells"}));
  CHECK_THAT(refused([](auto& o) { o.bumps.sd_cells = {0, 2}; }), HasId("range_not_positive", {"sd_cells"}));
  CHECK_THAT(refused([](auto& o) { o.bumps.peak = {-1, 2}; }), HasId("range_too_low", {"peak"}));
  CHECK_THAT(refused([](auto& o) { o.smoothing.window_cells = 0; }),
             HasId("wrong_window", {"window_cells", "0"}));
  CHECK_THAT(refused([](auto& o) { o.smoothing.sd_cells = 0; }), HasId("wrong_sd", {"sd_cells", "0"}));
}
