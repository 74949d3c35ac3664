// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "models/earths/layered.hpp"
#include "models/earths/modifiers.hpp"
#include "models/earths/random_field.hpp"
#include "models/earths/sections.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/models/fixtures.hpp"

#include <algorithm>
#include <numbers>
#include <set>

using namespace lodestone;
using namespace lodestone::models;
using tests::error_of;
using tests::HasId;
using tests::patch;
using tests::prior_of;

namespace {

earths::LayeredOptions some_layers() {
  return {.number = {2, 4}, .thickness_m = {100, 300}, .log10_resistivity = {1, 3}};
}
earths::RandomFieldOptions some_field() {
  return {.mean = {2, 2},
          .standard_deviation = {0.5, 0.5},
          .horizontal_length_m = {600, 600},
          .vertical_length_m = {200, 200}};
}

/// Returns 4 rows over 400 m, 10 columns from y = 1000 m to 6000 m; the value is that of a cell's number.
earths::Section given_section(const std::string& name = "line 1") {
  earths::Section section{name, {0, 100, 200, 300, 400}, {}, Eigen::MatrixXd(4, 10)};
  for (int i = 0; i <= 10; ++i) section.y_m.push_back(1000.0 + 500.0 * i);
  for (int i = 0; i < 40; ++i) section.log10_resistivity(i / 10, i % 10) = i;
  return section;
}

double depth_of_step(const Eigen::VectorXd& column, const std::vector<double>& depth_m) {
  const double top = column[0], below = column[column.size() - 1];
  double thickness = 0.0;
  for (Eigen::Index i = 0; i < column.size(); ++i)
    thickness += (column[i] - below) / (top - below) *
                 (depth_m[static_cast<std::size_t>(i) + 1] - depth_m[static_cast<std::size_t>(i)]);
  return thickness;
}

}  // namespace

TEST_CASE("layers: numbers, thicknesses and values are drawn from their ranges") {
  std::vector<double> depth_m;
  for (int i = 0; i <= 1000; ++i) depth_m.push_back(i);
  const auto grid = earths::patch_grid(depth_m, {0, 1});
  const earths::Prior prior = prior_of<earths::Layered>(some_layers(), grid);
  std::set<std::size_t> numbers;
  double log_sum = 0.0;
  int n_first = 0;
  for (int i = 0; i < 800; ++i) {
    const Eigen::VectorXd profile = prior.draw(i).col(0);
    REQUIRE((profile.minCoeff() >= 1.0 && profile.maxCoeff() <= 3.0));
    std::set<double> values;  // those of two cells in a row; the others are means
    for (int iz = 1; iz < 1000; ++iz) {
      if (profile[iz] == Approx(profile[iz - 1]).epsilon(1e-12)) values.insert(std::round(1e9 * profile[iz]));
    }
    numbers.insert(values.size());
    const auto first = std::find_if(profile.begin(), profile.end(),
                                    [&](double value) { return std::abs(value - profile[0]) > 1e-9; });
    const double thickness = static_cast<double>(first - profile.begin());
    REQUIRE((thickness >= 99 && thickness <= 300));
    log_sum += std::log(thickness);
    ++n_first;
  }
  CHECK(numbers == std::set<std::size_t>{2, 3, 4});
  CHECK(log_sum / n_first ==
        Approx(0.5 * (std::log(100) + std::log(300))).margin(0.05));  // uniform in the logarithm
}

TEST_CASE("layers: stated ones keep their order, dips and reliefs move interfaces as they say") {
  earths::LayeredOptions options{.layers = {{{300, 300}, {1, 1}}, {{}, {3, 3}}}};
  const Eigen::MatrixXd level = prior_of<earths::Layered>(options, patch()).draw(0);
  CHECK(level(0, 0) == 1.0);
  CHECK(level(7, 4) == Approx(2.0));  // from 280 to 320 m
  CHECK(level(24, 29) == 3.0);
  options.dip_deg = {5, 5};
  const Eigen::MatrixXd dipping = prior_of<earths::Layered>(options, patch()).draw(0);
  const double slope = std::tan(5.0 * std::numbers::pi / 180.0);
  for (const int iy : {0, 10, 29})
    CHECK(depth_of_step(dipping.col(iy), patch().z_edges_m()) ==
          Approx(300 + slope * (100.0 * iy + 50.0 - 1500.0)));
  options.dip_deg = {};
  options.relief_m = {50, 50};
  options.relief_length_m = {1500, 1500};
  const Eigen::MatrixXd wavy = prior_of<earths::Layered>(options, patch()).draw(0);
  Eigen::VectorXd depths(30);
  for (int iy = 0; iy < 30; ++iy) depths[iy] = depth_of_step(wavy.col(iy), patch().z_edges_m());
  CHECK(depths.mean() == Approx(300.0));
  CHECK(std::sqrt(2.0 * (depths.array() - 300.0).square().mean()) == Approx(50.0).epsilon(0.02));
  for (int iy = 0; iy < 15; ++iy) CHECK(depths[iy] == Approx(depths[iy + 15]));
}

TEST_CASE("layers: impossible ranges are refused by name") {
  const auto refused = [](auto change) {
    auto o = some_layers();
    change(o);
    return error_of<core::Error>([&] { (void)earths::Layered(o); });
  };
  CHECK_THAT(refused([](auto& o) { o.number = {0, 2}; }), HasId("range_too_low", {"layers", "[0, 2]"}));
  CHECK_THAT(refused([](auto& o) {
               o.thickness_m = {-10, 20};
             }),
             HasId("range_not_positive", {"thickness_m", "[-10, 20]"}));
  CHECK_THAT(refused([](auto& o) {
               o.log10_resistivity = {3, 1};
             }),
             HasId("range_reversed", {"log10_resistivity"}));
  CHECK_THAT(refused([](auto& o) { o.dip_deg = {-85, 1}; }), HasId("range_too_low", {"dip_deg", "[-85, 1]"}));
  CHECK_THAT(refused([](auto& o) { o.dip_deg = {0, 85}; }), HasId("dip_out_of_range", {"dip_deg", "85"}));
  CHECK_THAT(refused([](auto& o) { o.relief_m = {-1, 1}; }), HasId("range_too_low", {"relief_m"}));
  CHECK_THAT(refused([](auto& o) { o.relief_m = {0, 1}; }), HasId("range_not_positive", {"relief_length_m"}));
  CHECK_THAT(refused([](auto& o) {
               o.layers = {{{}, {1, 1}}, {{}, {1, 1}}};
             }),
             HasId("range_not_positive", {"thickness_m of layer 1"}));
  CHECK_THAT(refused([](auto& o) { o.log10_resistivity = {10, 1000}; }), HasId("not_log10", {"[10, 1000]"}));
  CHECK_THAT(refused([](auto& o) {
               o.layers = {{{}, {2, 1}}};
             }),
             HasId("range_reversed", {"log10_resistivity of layer 1"}));
}

TEST_CASE("random field: mean, spread and correlation over distances are those asked for") {
  constexpr int n = 3000;
  for (const earths::Correlation correlation :
       {earths::Correlation::gaussian, earths::Correlation::exponential}) {
    earths::RandomFieldOptions options = some_field();
    options.correlation = correlation;
    const Eigen::MatrixXd draws = prior_of<earths::RandomField>(options, patch()).draws(0, n);
    const auto cell = [&](int iz, int iy) {
      return Eigen::ArrayXd(draws.row(iz * 30 + iy).transpose().array() - 2.0);
    };
    const auto covariance = [&](const Eigen::ArrayXd& a, const Eigen::ArrayXd& b) {
      return (a * b).mean() / 0.25;
    };
    const double error = 4.0 * std::sqrt(2.0 / n);
    const auto c = [&](double r) {
      return correlation == earths::Correlation::gaussian ? std::exp(-0.5 * r * r) : std::exp(-r);
    };
    CHECK(std::abs(draws.mean() - 2.0) < 0.02);
    CHECK(covariance(cell(3, 3), cell(3, 3)) == Approx(1.0).margin(error));
    CHECK(covariance(cell(24, 29), cell(24, 29)) == Approx(1.0).margin(error));
    CHECK(covariance(cell(5, 5), cell(10, 5)) == Approx(c(200.0 / 200.0)).margin(error));
    CHECK(covariance(cell(5, 5), cell(5, 11)) == Approx(c(600.0 / 600.0)).margin(error));
    CHECK(covariance(cell(5, 5), cell(8, 14)) == Approx(c(120.0 / 200.0) * c(900.0 / 600.0)).margin(error));
    CHECK(std::abs(covariance(cell(0, 0), cell(24, 29))) < error);
  }
}

TEST_CASE("random field: vertical lengths that grow, a background, and single columns") {
  earths::RandomFieldOptions growing = some_field();
  growing.vertical_growth = 0.5;
  const Eigen::MatrixXd draws = prior_of<earths::RandomField>(growing, patch()).draws(0, 3000);
  const auto apart = [&](int iz) {
    const Eigen::ArrayXd a = draws.row(iz * 30).array() - 2.0, b = draws.row((iz + 4) * 30).array() - 2.0;
    return (a * b).mean() / 0.25;
  };
  const auto warped = [](double z) { return std::log1p(0.5 * z / 200.0) / 0.5; };
  for (const int iz : {0, 20}) {
    const double r = warped(40.0 * iz + 180.0) - warped(40.0 * iz + 20.0);
    CHECK(apart(iz) == Approx(std::exp(-0.5 * r * r)).margin(0.05));
  }
  earths::RandomFieldOptions over = some_field();
  over.background = tests::uniform(7.0);
  over.standard_deviation = {0.0, 0.0};
  CHECK(prior_of<earths::RandomField>(over, patch()).draw(0).isConstant(7.0));
  CHECK(prior_of<earths::RandomField>(some_field(), tests::field_grid()).draw(0).allFinite());
}

TEST_CASE("random field: impossible ranges are refused by name") {
  const auto refused = [](auto change) {
    auto o = some_field();
    change(o);
    return error_of<core::Error>([&] { (void)earths::RandomField(o); });
  };
  CHECK_THAT(refused([](auto& o) { o.mean = {3, 1}; }), HasId("range_reversed", {"mean"}));
  CHECK_THAT(refused([](auto& o) {
               o.standard_deviation = {-1, 1};
             }),
             HasId("range_too_low", {"standard_deviation"}));
  CHECK_THAT(refused([](auto& o) { o.horizontal_length_m = {}; }),
             HasId("range_not_positive", {"horizontal_length_m"}));
  CHECK_THAT(refused([](auto& o) {
               o.vertical_length_m = {-5, 5};
             }),
             HasId("range_not_positive", {"vertical_length_m"}));
  CHECK_THAT(refused([](auto& o) { o.vertical_growth = -1; }),
             HasId("wrong_growth", {"vertical_growth", "-1"}));
}

TEST_CASE(
    "sections: a piece holds means over the overlap of cells, and goes on beyond the depths of its section") {
  const earths::Section section = given_section();
  const physics::mesh::TensorGrid grid = earths::patch_grid({50, 150, 1000}, {0, 250, 1000});
  const Eigen::MatrixXd piece = earths::piece_of(section, grid, 1250.0);
  // First column within column 0; the second half 1, half 2, weighed 500 : 250.
  CHECK(piece(0, 0) == Approx(0.5 * (0 + 10)));
  CHECK(piece(0, 1) == Approx(5.0 + (500.0 * 1 + 250.0 * 2) / 750.0));
  CHECK(piece(1, 0) == Approx((50.0 * 10 + 100.0 * 20 + 700.0 * 30) / 850.0));
  std::vector<double> from_zero = section.y_m;
  for (double& edge : from_zero) edge -= 1000.0;
  const auto same = earths::patch_grid(section.depth_m, from_zero);
  CHECK(earths::piece_of(section, same, 1000.0).isApprox(section.log10_resistivity));
}

TEST_CASE("sections: places are random, half of the pieces are mirrored, and wide sections come more often") {
  earths::Section narrow = given_section("narrow");
  narrow.y_m = {0, 500, 1000, 1500};  // room for the left edge: 750 m, of the other 4250 m
  narrow.log10_resistivity = Eigen::MatrixXd::Constant(4, 3, 99.0);
  const physics::mesh::TensorGrid grid = earths::patch_grid({0, 100}, {0, 250, 750});
  const earths::Prior prior =
      prior_of<earths::Sections>(earths::SectionsOptions{{given_section(), narrow}, true}, grid);
  int n_narrow = 0, n_turned = 0, n_flat = 0;
  double least = 1e9, most = -1e9;
  constexpr int n = 4000;
  for (int i = 0; i < n; ++i) {
    const Eigen::MatrixXd drawn = prior.draw(i);
    if (drawn(0, 0) > 50.0) {
      ++n_narrow;
      continue;
    }
    n_turned += drawn(0, 0) > drawn(0, 1) ? 1 : 0;
    n_flat += drawn(0, 0) == drawn(0, 1) ? 1 : 0;
    least = std::min(least, drawn.minCoeff());
    most = std::max(most, drawn.maxCoeff());
  }
  CHECK(n_narrow == Approx(0.15 * n).margin(4.0 * std::sqrt(n * 0.15 * 0.85)));
  CHECK(n_turned == Approx(0.5 * (n - n_narrow - n_flat)).margin(2.0 * std::sqrt(n)));
  CHECK(least < 0.1);
  CHECK(most > 8.9);
  const earths::Prior upright = prior_of<earths::Sections>(earths::SectionsOptions{{given_section()}}, grid);
  for (int i = 0; i < 100; ++i) {
    const Eigen::MatrixXd drawn = upright.draw(i);
    CHECK(drawn(0, 0) <= drawn(0, 1));
  }
}

TEST_CASE("sections: a mirrored piece is what the mirrored section shows, on columns of any width") {
  earths::Section section = given_section();
  section.log10_resistivity.setRandom();
  earths::Section turned = section;
  turned.log10_resistivity = section.log10_resistivity.rowwise().reverse();
  const physics::mesh::TensorGrid whole =
      earths::patch_grid({0, 100, 400}, {0, 700, 5000});  // as wide as the section: one place only
  std::set<double> seen;
  for (int i = 0; i < 40; ++i)
    seen.insert(prior_of<earths::Sections>(earths::SectionsOptions{{section}, true}, whole).draw(i)(0, 0));
  REQUIRE(seen.size() == 2);
  CHECK(seen == std::set<double>{earths::piece_of(section, whole, 1000.0)(0, 0),
                                 earths::piece_of(turned, whole, 1000.0)(0, 0)});
}

TEST_CASE("sections: a model becomes a section whose depths count from its level surface", "[models]") {
  using physics::mesh::DepthReference;
  const Eigen::VectorXd resistivity = (Eigen::VectorXd(6) << 1, 10, 100, 1000, 1e4, 1e5).finished();
  const auto model = [&](DepthReference reference, const physics::mesh::SurfaceLine& surface) {
    return physics::mesh::resistivity_model(
        {physics::mesh::TensorGrid::section({0, 100, 300}, {-50, 0, 40, 100}, reference), surface},
        resistivity);
  };
  const earths::Section level =
      earths::section_of(model(DepthReference::datum, physics::mesh::SurfaceLine(0.0)), "line");
  CHECK(level.depth_m == std::vector<double>{0, 40, 100});
  CHECK(level.log10_resistivity.isApprox((Eigen::MatrixXd(2, 2) << 2, 3, 4, 5).finished()));
  const physics::mesh::SurfaceLine hill({0, 100, 300}, {0, -30, 0});
  CHECK(earths::section_of(model(DepthReference::surface, hill), "line").log10_resistivity.rows() == 2);
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { (void)earths::section_of(model(DepthReference::datum, hill), "line"); }),
             HasId("has_relief", {"'line'", "30 m"}));
}

TEST_CASE("sections: columns within a range are those with their centres there", "[models]") {
  const earths::Section section = given_section();
  const earths::Section part = earths::columns_within(section, {1600.0, 2800.0});
  CHECK(part.y_m == std::vector<double>{1500, 2000, 2500, 3000});
  CHECK(part.log10_resistivity == section.log10_resistivity.middleCols(1, 3));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)earths::columns_within(section, {0.0, 900.0});
             }),
             HasId("no_column", {"'line 1'", "1000", "6000 m"}));
}

TEST_CASE(
    "sections: no section, wrong shapes, values that are not finite and narrow ones are refused by name") {
  const auto refused = [](auto change) {
    auto s = given_section();
    change(s);
    return error_of<core::Error>([&] { (void)earths::Sections({{s}}); });
  };
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)earths::Sections({}); }), HasId("no_section"));
  CHECK_THAT(refused([](auto& s) { s.depth_m[1] = 0; }), HasId("wrong_edges", {"'line 1'", "depths"}));
  CHECK_THAT(refused([](auto& s) { s.y_m[1] = std::nan(""); }),
             HasId("wrong_edges", {"'line 1'", "columns"}));
  CHECK_THAT(refused([](auto& s) { s.y_m.pop_back(); }), HasId("wrong_size", {"(4, 9)", "(4, 10)"}));
  CHECK_THAT(refused([](auto& s) { s.log10_resistivity(2, 3) = std::nan(""); }),
             HasId("not_finite", {"row 3", "column 4", "nan"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior_of<earths::Sections>(earths::SectionsOptions{{given_section()}},
                                                earths::patch_grid({0, 1}, {0, 5001}));
             }),
             HasId("too_narrow", {"'line 1'", "5001 m", "5000 m"}));
}

TEST_CASE("modifiers: smoothing keeps constants and means over a window, clipping keeps what lies within") {
  Eigen::MatrixXd spike = Eigen::MatrixXd::Zero(21, 2);
  spike(10, 0) = 1.0;
  spike.col(1).setConstant(2.5);
  earths::smooth(spike, {8, 5.0});
  CHECK(spike.col(1).isConstant(2.5, 1e-12));
  CHECK(spike.col(0).sum() == Approx(1.0));
  CHECK(spike(14, 0) ==
        Approx(0.5 * std::exp(-0.5 * 0.64) * spike(10, 0)));  // the last cell lies half in the window
  CHECK(spike(13, 0) == Approx(std::exp(-0.5 * 0.36) * spike(10, 0)));
  CHECK(spike(15, 0) == 0.0);
  const earths::RandomFieldOptions wide = some_field();
  const earths::Clipped clipped(std::make_shared<earths::RandomField>(wide), {1.8, 2.1});
  const Eigen::MatrixXd free = earths::RandomField(wide).draw(earths::branch(core::Philox(1), 0), patch()),
                        cut = clipped.draw(core::Philox(1), patch());
  CHECK(cut.minCoeff() == 1.8);
  CHECK(cut.maxCoeff() == 2.1);
  CHECK((free.array() > 1.8 && free.array() < 2.1).select(free - cut, 0.0).isZero());
}

TEST_CASE("modifiers: bumps add to what is there, in number, height and width as asked, each column alike") {
  const earths::BumpsOptions one{{1, 1}, {7, 7}, {2, 2}, {0.3, 0.3}};
  const earths::Bumped bumped(tests::uniform(2.0), one);
  int n_up = 0, n_inside = 0;
  for (int i = 0; i < 300; ++i) {
    const Eigen::MatrixXd drawn = bumped.draw(core::Philox(3, i), patch());
    CHECK(drawn.col(0) == drawn.col(29));
    const Eigen::ArrayXd bump = drawn.col(0).array() - 2.0;
    const Eigen::Index n = (bump.abs() > 1e-12).count();
    CHECK(n <= 7);
    if (n < 7) continue;  // cut at an end
    ++n_inside;
    n_up += bump.sum() > 0.0 ? 1 : 0;
    CHECK(bump.abs().maxCoeff() == Approx(0.3));
  }
  CHECK(n_inside == Approx(300.0 * 19 / 25).margin(35));
  CHECK(n_up == Approx(0.5 * n_inside).margin(35));
  CHECK(earths::Bumped(tests::uniform(2.0), {{0, 0}}).draw(core::Philox(1), patch()).isConstant(2.0));
}

TEST_CASE("modifiers: they hand on what their generator refuses, and want one") {
  const auto sections = std::make_shared<earths::Sections>(earths::SectionsOptions{{given_section()}});
  const physics::mesh::TensorGrid wide = earths::patch_grid({0, 1}, {0, 9000});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)earths::Bumped(sections, {}).check_grid(wide); }),
             HasId("too_narrow", {"'line 1'"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)earths::Smoothed(sections, {}).check_grid(wide); }),
             HasId("too_narrow", {"'line 1'"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)earths::Clipped(sections, {}).check_grid(wide); }),
             HasId("too_narrow", {"'line 1'"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)earths::RandomField(
                   {.background = sections, .horizontal_length_m = {1, 1}, .vertical_length_m = {1, 1}})
                   .check_grid(wide);
             }),
             HasId("too_narrow", {"'line 1'"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)earths::Clipped(nullptr, {}); }),
             HasId("no_generator"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)earths::Clipped(sections, {2, 1});
             }),
             HasId("range_reversed", {"[2, 1]"}));
}

TEST_CASE("layers of a volume are alike in all columns, or dip down a direction of any azimuth") {
  const auto grid = earths::patch_grid({0, 50, 100, 200, 400}, {0, 100, 200, 300}, {0, 100, 200});
  const Eigen::MatrixXd level = prior_of<earths::Layered>(some_layers(), grid).draw(3);
  CHECK(level.cols() == 6);
  for (Eigen::Index column = 1; column < 6; ++column) CHECK(level.col(column) == level.col(0));
  std::vector<double> depth_m;
  for (int i = 0; i <= 400; ++i) depth_m.push_back(5.0 * i);
  const auto fine = earths::patch_grid(depth_m, {0, 100, 200, 300}, {0, 100, 200});
  earths::LayeredOptions dipping = some_layers();
  dipping.number = {2, 2};
  dipping.thickness_m = {1000, 1000};
  dipping.dip_deg = {45, 45};
  const earths::Prior prior = prior_of<earths::Layered>(dipping, fine);
  double along_x = 0.0, along_y = 0.0;
  for (int k = 0; k < 40; ++k) {
    const Eigen::MatrixXd draw = prior.draw(k);
    const auto depth = [&](int ix, int iy) { return depth_of_step(draw.col(iy * 2 + ix), depth_m); };
    const double x = (depth(1, 1) - depth(0, 1)) / 100.0, y = (depth(1, 1) - depth(1, 0)) / 100.0;
    CHECK(std::hypot(x, y) == Approx(1.0).epsilon(0.01));                      // the tangent of the dip
    CHECK(0.5 * (depth(0, 1) + depth(1, 1)) == Approx(1000.0).epsilon(0.01));  // about the middle
    along_x += x * x / 40.0;
    along_y += y * y / 40.0;
  }
  CHECK(along_x == Approx(0.5).margin(0.2));
  CHECK(along_y == Approx(0.5).margin(0.2));
}

TEST_CASE("random field of a volume: columns correlate along x as along y") {
  const auto grid = earths::patch_grid({0, 100}, {0, 300, 600}, {0, 600, 1200});
  const Eigen::MatrixXd draws = prior_of<earths::RandomField>(some_field(), grid).draws(0, 4000);
  const Eigen::MatrixXd off = draws.array() - 2.0;
  const Eigen::MatrixXd correlation = off * off.transpose() / (4000.0 * 0.25);
  const double near = std::exp(-0.5 * 0.25), far = std::exp(-0.5);  // cells (iy, ix), x first
  const Eigen::MatrixXd expected{{1, far, near, near * far},
                                 {far, 1, near * far, near},
                                 {near, near * far, 1, far},
                                 {near * far, near, far, 1}};
  CHECK((correlation - expected).cwiseAbs().maxCoeff() < 0.08);
}

TEST_CASE("families that draw sections refuse patches of a volume by their kind") {
  const auto grid = earths::patch_grid({0, 100, 400}, {0, 500, 1000}, {0, 500, 1000});
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { (void)prior_of<earths::Sections>(earths::SectionsOptions{{given_section()}}, grid); }),
             HasId("needs_section", {"sections", "2 cells along x"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)earths::patch_grid({0, 1}, {0, 1}, {1, 2});
             }),
             HasId("columns_not_from_zero", {"1 m"}));
}
