// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "models/earths/bodies.hpp"
#include "models/earths/section_lines.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/models/fixtures.hpp"

#include <fmt/format.h>

using namespace lodestone;
using namespace lodestone::models;
using tests::error_of;
using tests::HasId;
using tests::patch;
using tests::prior_of;

namespace {

constexpr double background = 3.0;
earths::BodiesOptions in_rock(double section_width_m = 0.0) {
  return {tests::uniform(background), section_width_m};
}

earths::BlocksOptions one_block() {
  return {.bodies = in_rock(),
          .number = {1, 1},
          .top_m = {200, 200},
          .width_m = {500, 500},
          .height_m = {250, 250},
          .log10_resistivity = {1, 1}};
}
earths::WedgeOptions one_wedge() {
  return {.bodies = in_rock(),
          .top_m = {300, 300},
          .length_m = {800, 800},
          .thickness_m = {200, 200},
          .thin_share = {0, 0},
          .dip_deg = {0, 0},
          .log10_resistivity = {1, 1}};
}
earths::BasinOptions one_basin() {
  return {.bodies = in_rock(),
          .width_m = {1000, 1000},
          .thickness_m = {400, 400},
          .shape = {2, 2},
          .log10_resistivity = {1, 1}};
}
earths::DikesOptions one_dike() {
  return {.bodies = in_rock(),
          .number = {1, 1},
          .top_m = {100, 100},
          .width_m = {150, 150},
          .height_m = {600, 600},
          .dip_deg = {70, 70},
          .log10_resistivity = {1, 1}};
}

/// Returns the area taken by a body two decades below the background, in a draw that holds all of it.
double area_m2(const Eigen::MatrixXd& section) {
  return (background - section.array()).sum() / 2.0 * 100.0 * 40.0;
}

/// The largest of many draws: bodies that are cut by the patch's sides are smaller.
template <class Family, class Options>
double whole_area_m2(const Options& options) {
  const earths::Prior prior = prior_of<Family>(options, patch());
  double largest = 0.0;
  for (int i = 0; i < 60; ++i) largest = std::max(largest, area_m2(prior.draw(i)));
  return largest;
}

/// Returns the rows and columns that hold something else than the background.
std::pair<double, double> depths_of(const Eigen::MatrixXd& section) {
  double top = 1e9, bottom = 0.0;
  for (Eigen::Index iz = 0; iz < section.rows(); ++iz) {
    if ((section.row(iz).array() - background).abs().maxCoeff() < 1e-12) continue;
    top = std::min(top, 40.0 * static_cast<double>(iz));
    bottom = 40.0 * static_cast<double>(iz + 1);
  }
  return {top, bottom};
}

}  // namespace

TEST_CASE("lines: shares of cells within an outline are areas, of any shape") {
  const physics::mesh::TensorGrid grid = earths::patch_grid({0, 10, 30, 60}, {0, 20, 50});
  const earths::SectionLines lines{50.0, {}, 2};
  earths::SectionLines dense = lines;
  for (int k = 0; k < 400; ++k)
    dense.y_m.push_back(k < 200 ? 20.0 * (k + 0.5) / 200 : 20.0 + 30.0 * (k - 199.5) / 200);
  const auto hook =
      physics::mesh::points({{5, 5}, {45, 5}, {45, 50}, {25, 50}, {25, 25}, {5, 40}});  // not convex
  const Eigen::MatrixXd shares = earths::cell_shares(hook, grid, dense);
  const physics::mesh::Polygon polygon(hook);
  for (int iz = 0; iz < 3; ++iz) {
    for (int iy = 0; iy < 2; ++iy) {
      const auto &y = grid.y_edges_m(), &z = grid.z_edges_m();
      const double exact = polygon.clip_area_fraction({.y_m = {y[iy], y[iy + 1]}, .z_m = {z[iz], z[iz + 1]}});
      CHECK(shares(iz, iy) == Approx(exact).margin(4e-3));
    }
  }
}

TEST_CASE("lines: averages of layers are exact, above the first interface and below the last as well") {
  const Eigen::VectorXd averages =
      earths::cell_averages({{-5, 2, 2, 15, 100}, {9, 1, 7, 3, 5, 8}}, {0, 4, 10, 20, 30});
  CHECK(averages[0] == Approx((2 * 1 + 2 * 3) / 4.0));
  CHECK(averages[1] == 3.0);
  CHECK(averages[2] == Approx(4.0));
  CHECK(averages[3] == 5.0);
  CHECK(earths::cell_averages({{}, {2.5}}, {3, 4})[0] == 2.5);
}

TEST_CASE("lines: a patch lies in its section, a single column anywhere in a section as wide as it is deep") {
  double least = 1e9, most = -1e9;
  for (int i = 0; i < 500; ++i) {
    earths::Draws draws(core::Philox(1, i));
    const earths::SectionLines wide = earths::section_lines(patch(), 7000.0, draws);
    CHECK((wide.y_m.front() > 0.0 && wide.y_m.back() < 7000.0));
    CHECK(wide.y_m.back() - wide.y_m.front() == Approx(3000.0 - 100.0 / 8));
    const earths::SectionLines column =
        earths::section_lines(earths::patch_grid({0, 500, 4000}, {0, 100}), 0.0, draws);
    REQUIRE(column.y_m.size() == 1);
    least = std::min(least, column.y_m[0]);
    most = std::max(most, column.y_m[0]);
    CHECK(earths::section_lines(patch(), 0.0, draws).y_m.front() == Approx(100.0 / 16));
    CHECK(earths::section_lines(patch(), 10.0, draws).width_m == 3000.0);
  }
  CHECK((least >= 50.0 && least < 150.0));
  CHECK((most <= 3950.0 && most > 3850.0));
}

TEST_CASE("bodies: areas, depths and values are those asked for") {
  CHECK(whole_area_m2<earths::Blocks>(one_block()) == Approx(500.0 * 250.0).epsilon(0.03));
  CHECK(whole_area_m2<earths::Wedge>(one_wedge()) == Approx(0.5 * 800.0 * 200.0).epsilon(0.03));
  CHECK(whole_area_m2<earths::Basin>(one_basin()) == Approx(1000.0 * 400.0 * 2.0 / 3.0).epsilon(0.03));
  CHECK(whole_area_m2<earths::Dikes>(one_dike()) == Approx(150.0 * 600.0).epsilon(0.1));
  earths::BlocksOptions tilted = one_block();
  tilted.tilt_deg = {30, 30};
  CHECK(whole_area_m2<earths::Blocks>(tilted) == Approx(500.0 * 250.0).epsilon(0.03));
  for (int i = 0; i < 20; ++i) {
    const auto [top, bottom] = depths_of(prior_of<earths::Blocks>(one_block(), patch()).draw(i));
    CHECK(top == 200.0);
    CHECK(bottom == Approx(450.0).margin(40.0));
    CHECK(depths_of(prior_of<earths::Basin>(one_basin(), patch()).draw(i)).first == 0.0);
    CHECK(depths_of(prior_of<earths::Wedge>(one_wedge(), patch()).draw(i)).second <= 520.0);
    const auto dike = depths_of(prior_of<earths::Dikes>(one_dike(), patch()).draw(i));
    CHECK(dike.first == 80.0);
  }
}

TEST_CASE("bodies: positions, sizes, numbers and values fill their ranges") {
  earths::BlocksOptions options = one_block();
  options.top_m = {100, 500};
  options.log10_resistivity = {-1, 2};
  const earths::Prior prior = prior_of<earths::Blocks>(options, patch());
  std::vector<int> columns(30, 0);
  double lowest = 1e9, highest = -1e9, shallowest = 1e9, deepest = 0.0;
  for (int i = 0; i < 1500; ++i) {
    const Eigen::MatrixXd drawn = prior.draw(i);
    for (int iy = 0; iy < 30; ++iy)
      columns[static_cast<std::size_t>(iy)] += drawn.col(iy).minCoeff() < background - 1e-12 ? 1 : 0;
    lowest = std::min(lowest, drawn.minCoeff());
    highest = std::max(highest, drawn.minCoeff());
    shallowest = std::min(shallowest, depths_of(drawn).first);
    deepest = std::max(deepest, depths_of(drawn).first);
  }
  CHECK((lowest >= -1.0 && lowest < -0.97));
  CHECK((highest <= 2.0 && highest > 1.97));
  CHECK((shallowest >= 80.0 && shallowest <= 120.0));
  CHECK((deepest <= 500.0 && deepest >= 480.0));
  for (int iy = 6; iy < 24; ++iy)
    CHECK(columns[static_cast<std::size_t>(iy)] ==
          Approx(1500.0 * 600.0 / 3000.0).margin(75));  // as often everywhere
  earths::BlocksOptions many = one_block();
  many.number = {5, 5};
  many.width_m = {100, 100};
  many.height_m = {40, 40};
  many.top_m = {0, 900};
  double mean = 0.0;
  for (int i = 0; i < 400; ++i) mean += area_m2(prior_of<earths::Blocks>(many, patch()).draw(i)) / 400.0;
  CHECK(mean == Approx(5 * 100.0 * 40.0).epsilon(0.05));
}

TEST_CASE("bodies: wedges thin out either way, dikes dip the way their angle says") {
  int n_left = 0;
  for (int i = 0; i < 200; ++i) {
    const Eigen::MatrixXd section = prior_of<earths::Wedge>(one_wedge(), patch()).draw(i);
    const Eigen::VectorXd thickness = (background - section.array()).colwise().sum();
    double middle = 0.0, third = 0.0, sum = thickness.sum();
    for (int iy = 0; iy < 30; ++iy) middle += thickness[iy] * iy / sum;
    for (int iy = 0; iy < 30; ++iy) third += thickness[iy] * std::pow(iy - middle, 3);
    n_left += third > 0.0 ? 1 : 0;
  }
  CHECK((n_left > 60 && n_left < 140));
  for (int i = 0; i < 10; ++i) {
    const auto middle_of = [](const Eigen::RowVectorXd& row) {
      const Eigen::ArrayXd weight = background - row.transpose().array();
      return (weight * Eigen::ArrayXd::LinSpaced(30, 50.0, 2950.0)).sum() / weight.sum();
    };
    const Eigen::MatrixXd section = prior_of<earths::Dikes>(one_dike(), patch()).draw(i);
    const double moved = middle_of(section.row(14)) - middle_of(section.row(4));
    if (section.rightCols(4).minCoeff() < background - 1e-9 ||
        section.leftCols(4).minCoeff() < background - 1e-9)
      continue;  // cut by a side
    CHECK(moved == Approx(400.0 / std::tan(70.0 * 3.14159265 / 180.0)).margin(15.0));
  }
}

TEST_CASE(
    "bodies: a later one covers an earlier one, and one column shows a profile through a random place") {
  earths::BlocksOptions options = one_block();
  options.bodies.background = std::make_shared<earths::Blocks>([] {
    earths::BlocksOptions below = one_block();
    below.width_m = {1e5, 1e5};
    below.log10_resistivity = {0, 0};
    return below;
  }());
  options.width_m = {1e5, 1e5};
  options.height_m = {120, 120};
  const Eigen::MatrixXd drawn = prior_of<earths::Blocks>(options, patch()).draw(0);
  CHECK(drawn(4, 15) == background);
  CHECK(drawn(5, 15) == 1.0);  // the upper block lies on the lower one
  CHECK(drawn(9, 15) == 0.0);
  CHECK(drawn(20, 15) == background);
  const earths::Prior column = prior_of<earths::Blocks>(
      [] {
        earths::BlocksOptions block = one_block();
        block.bodies.section_width_m = 2000.0;
        return block;
      }(),
      earths::patch_grid(patch().z_edges_m(), {0.0, 100.0}));
  int n_hit = 0;
  for (int i = 0; i < 1000; ++i) n_hit += column.draw(i).minCoeff() < background ? 1 : 0;
  // Two places in 2000 m are nearer than 250 m: 1/4, less (250/2000)² at the ends.
  CHECK(n_hit == Approx(1000.0 * (0.25 - 0.0625 / 4.0)).margin(70));
}

TEST_CASE("bodies: impossible ranges of blocks and wedges are refused by name") {
  const auto block = [](auto change) {
    auto o = one_block();
    change(o);
    return error_of<core::InvalidArgument>([&] { (void)earths::Blocks(o); });
  };
  const auto wedge = [](auto change) {
    auto o = one_wedge();
    change(o);
    return error_of<core::InvalidArgument>([&] { (void)earths::Wedge(o); });
  };
  CHECK_THAT(block([](auto& o) { o.bodies.background = nullptr; }), HasId("no_background"));
  CHECK_THAT(block([](auto& o) { o.bodies.section_width_m = -1; }),
             HasId("wrong_section_width", {"section_width_m", "-1"}));
  CHECK_THAT(block([](auto& o) { o.number = {0, 2}; }), HasId("range_too_low", {"number"}));
  CHECK_THAT(block([](auto& o) { o.top_m = {-3, 2}; }), HasId("range_too_low", {"0", "top_m"}));
  CHECK_THAT(block([](auto& o) { o.width_m = {}; }), HasId("range_not_positive", {"width_m"}));
  CHECK_THAT(block([](auto& o) { o.height_m = {9, 2}; }), HasId("range_reversed", {"height_m", "[9, 2]"}));
  CHECK_THAT(block([](auto& o) { o.tilt_deg = {9, 2}; }), HasId("range_reversed", {"tilt_deg"}));
  CHECK_THAT(block([](auto& o) {
               o.log10_resistivity = {0, 1.0 / 0.0};
             }),
             HasId("range_not_finite", {"log10_resistivity", "[0, inf]"}));
  CHECK_THAT(wedge([](auto& o) { o.top_m = {-3, 2}; }), HasId("range_too_low", {"top_m"}));
  CHECK_THAT(wedge([](auto& o) { o.length_m = {}; }), HasId("range_not_positive", {"length_m"}));
  CHECK_THAT(wedge([](auto& o) { o.thickness_m = {-4, 3}; }), HasId("range_not_positive", {"thickness_m"}));
  CHECK_THAT(wedge([](auto& o) {
               o.thin_share = {0, 1.5};
             }),
             HasId("share_above_one", {"thin_share", "1.5"}));
  CHECK_THAT(wedge([](auto& o) { o.dip_deg = {0, 90}; }), HasId("dip_out_of_range", {"dip_deg", "90"}));
  CHECK_THAT(wedge([](auto& o) {
               o.log10_resistivity = {1, 0};
             }),
             HasId("range_reversed", {"log10_resistivity"}));
}

TEST_CASE("bodies: impossible ranges of basins and dikes are refused by name") {
  const auto basin = [](auto change) {
    auto o = one_basin();
    change(o);
    return error_of<core::InvalidArgument>([&] { (void)earths::Basin(o); });
  };
  const auto dike = [](auto change) {
    auto o = one_dike();
    change(o);
    return error_of<core::InvalidArgument>([&] { (void)earths::Dikes(o); });
  };
  CHECK_THAT(basin([](auto& o) { o.top_m = {-3, 2}; }), HasId("range_too_low", {"top_m"}));
  CHECK_THAT(basin([](auto& o) { o.width_m = {}; }), HasId("range_not_positive", {"width_m"}));
  CHECK_THAT(basin([](auto& o) { o.thickness_m = {}; }), HasId("range_not_positive", {"thickness_m"}));
  CHECK_THAT(basin([](auto& o) { o.shape = {0.5, 2}; }), HasId("range_too_low", {"1", "shape"}));
  CHECK_THAT(basin([](auto& o) {
               o.log10_resistivity = {1, 0};
             }),
             HasId("range_reversed", {"log10_resistivity"}));
  CHECK_THAT(dike([](auto& o) { o.number = {3, 2}; }), HasId("range_reversed", {"number"}));
  CHECK_THAT(dike([](auto& o) { o.top_m = {-3, 2}; }), HasId("range_too_low", {"top_m"}));
  CHECK_THAT(dike([](auto& o) { o.width_m = {}; }), HasId("range_not_positive", {"width_m"}));
  CHECK_THAT(dike([](auto& o) { o.height_m = {}; }), HasId("range_not_positive", {"height_m"}));
  CHECK_THAT(dike([](auto& o) { o.dip_deg = {0, 90}; }), HasId("range_too_low", {"10", "dip_deg"}));
  CHECK_THAT(dike([](auto& o) { o.dip_deg = {80, 175}; }), HasId("dip_out_of_range", {"dip_deg", "175"}));
  CHECK_THAT(dike([](auto& o) {
               o.log10_resistivity = {1, 0};
             }),
             HasId("range_reversed", {"log10_resistivity"}));
}

TEST_CASE(
    "bodies: those that all lie below the grid are refused with its depth, those that reach up into it are "
    "not") {
  const physics::mesh::TensorGrid grid = patch();
  const double end_m = grid.z_edges_m().back();
  const auto refused = [&](const earths::Generator& family) {
    try {
      family.check_grid(grid);
    } catch (const core::InvalidArgument& error) {
      CHECK_THAT(error, HasId("below_grid", {fmt::format("{:g} m", end_m), "top_m"}));
      return true;
    }
    return false;
  };
  const earths::Range below{end_m, 2.0 * end_m}, across{0.99 * end_m, 2.0 * end_m};
  earths::BlocksOptions blocks = one_block();
  earths::WedgeOptions wedge = one_wedge();
  earths::BasinOptions basin = one_basin();
  earths::DikesOptions dikes = one_dike();
  blocks.top_m = wedge.top_m = basin.top_m = dikes.top_m = below;
  CHECK(refused(earths::Blocks(blocks)));
  CHECK(refused(earths::Wedge(wedge)));
  CHECK(refused(earths::Basin(basin)));
  CHECK(refused(earths::Dikes(dikes)));
  blocks.tilt_deg = {-30, 0};
  wedge.dip_deg = {0, 20};
  basin.top_m = dikes.top_m = across;
  CHECK_FALSE(refused(earths::Blocks(blocks)));
  CHECK_FALSE(refused(earths::Wedge(wedge)));
  CHECK_FALSE(refused(earths::Basin(basin)));
  CHECK_FALSE(refused(earths::Dikes(dikes)));
}

TEST_CASE("blocks of a volume end along x as along y, each with a length of its own") {
  const auto grid = earths::patch_grid({0, 300, 350, 1000}, {0, 100, 200}, {0, 100, 200, 300});
  earths::BlocksOptions options = one_block();
  options.bodies.section_width_m = 1000.0;
  options.width_m = {4000, 4000};  // all of the section, wherever its middle is
  options.length_m = {150, 150};
  const earths::Prior prior = prior_of<earths::Blocks>(options, grid);
  double most = 0.0, mean = 0.0;
  constexpr int n = 2000;
  for (int k = 0; k < n; ++k) {
    const Eigen::MatrixXd draw = prior.draw(k);
    const Eigen::RowVectorXd taken = (background - draw.row(1).array()) / 2.0;  // of its 100 m in each column
    CHECK(taken.head(3).isApprox(taken.tail(3), 1e-12));                        // the same at both y
    most = std::max(most, 100.0 * taken.head(3).sum());
    mean += 100.0 * taken.head(3).sum() / n;
  }
  CHECK(most == Approx(150.0));
  CHECK(mean == Approx(150.0 * 300.0 / 1000.0).epsilon(0.1));  // its share of the area, ends aside
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)prior_of<earths::Blocks>(options, patch()); }),
             HasId("length_of_section", {"length_m"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)prior_of<earths::Wedge>(one_wedge(), grid); }),
             HasId("needs_section", {"wedge"}));
  options.length_m = earths::Range{-1, 2};
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)earths::Blocks(options); }),
             HasId("range_not_positive", {"length_m"}));
}
