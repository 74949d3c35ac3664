// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/report/prior.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io::report;
using Catch::Matchers::Contains;
using lodestone::test::occurrences;
using tests::error_of;
using tests::HasId;

namespace {

/// Returns n draws on the grid, each cell's value a ramp over cells and draws from 1 to 3.
PriorDraws ramp(std::vector<double> depth_m, std::vector<double> y_m, Eigen::Index n) {
  const auto n_cells = static_cast<Eigen::Index>((depth_m.size() - 1) * (y_m.size() - 1));
  PriorDraws draws{"A ramp", std::move(depth_m), std::move(y_m), Eigen::MatrixXd(n_cells, n)};
  draws.log10_resistivity.reshaped() = Eigen::VectorXd::LinSpaced(n_cells * n, 1.0, 3.0);
  return draws;
}

}  // namespace

TEST_CASE(
    "prior picture: 24 columns as curves over the percentiles of all draws, fewer where there are fewer") {
  const std::string svg = prior_picture(ramp({0, 100, 200, 300}, {0, 50}, 100)).svg();
  CHECK_THAT(svg, Contains("A ramp") && Contains("24 of 100 draws") && Contains("Depth (m)") &&
                      Contains("Resistivity (ohm m)"));
  CHECK(occurrences(svg, "stroke=\"#c74521\" stroke-width=\"1.7\"") == 24);  // one curve each
  CHECK_THAT(prior_picture(ramp({0, 100, 200, 300}, {0, 50}, 3)).svg(), Contains("3 of 3 draws"));
}

TEST_CASE("prior picture: depth is logarithmic on layers that grow much, and in kilometres where deep") {
  std::vector<double> graded{0.0};
  for (int i = 0; i < 20; ++i) graded.push_back(graded.back() + 100.0 * std::pow(1.3, i));
  CHECK_THAT(prior_picture(ramp(graded, {0, 50}, 5)).svg(),
             Contains("Depth (km)") && Contains(">0.1<") && Contains(">10<"));
  CHECK_THAT(prior_picture(ramp({0, 2000, 4000, 8000}, {0, 50}, 5)).svg(),
             Contains(">0<") && Contains(">8<"));
}

TEST_CASE("prior picture: 16 patches with one colour bar") {
  const std::string svg = prior_picture(ramp({0, 100, 200, 300}, {0, 500, 1000}, 40)).svg();
  CHECK_THAT(svg,
             Contains("16 of 40 draws") && Contains("vertical exaggeration") && Contains("Distance (m)"));
  CHECK(occurrences(svg, "Resistivity (ohm m)") == 1);
  const std::string few = prior_picture(ramp({0, 100, 200, 300}, {0, 500, 1000}, 2)).svg();
  CHECK_THAT(few, Contains("2 of 2 draws"));
  CHECK(few.size() < svg.size());
}

TEST_CASE("prior picture: values that are not finite stay white and leave the rest as it is") {
  for (const std::vector<double>& y_m : {std::vector<double>{0, 50}, std::vector<double>{0, 500, 1000}}) {
    PriorDraws draws = ramp({0, 100, 200, 300}, y_m, 30);
    draws.log10_resistivity(1, 0) = std::nan("");
    draws.log10_resistivity.row(0).setConstant(1.0 / 0.0);
    const std::string svg = prior_picture(draws).svg();
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    draws.log10_resistivity.setConstant(std::nan(""));
    CHECK(prior_picture(draws).svg().find("nan") == std::string::npos);
  }
}

TEST_CASE("prior picture: the resistivity scale can be given, and the picture is written") {
  const test::OutputFolder folder;
  const Canvas canvas =
      prior_picture(ramp({0, 100, 200, 300}, {0, 500, 1000}, 4), {.min_log10 = -1.0, .max_log10 = 5.0});
  CHECK_THAT(canvas.svg(), Contains(">0.1<") && Contains(">10⁵<"));
  canvas.write_png(folder / "prior.png");
  CHECK(test::slurp(folder / "prior.png").rfind("\x89PNG", 0) == 0);
}

TEST_CASE("prior picture: no draw, wrong shapes and edges that do not increase are refused") {
  PriorDraws draws = ramp({0, 100, 200, 300}, {0, 50}, 5);
  draws.log10_resistivity.resize(3, 0);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)prior_picture(draws); }), HasId("no_draw"));
  draws.log10_resistivity.setZero(4, 2);
  CHECK_THAT(error_of<core::ShapeError>([&] { (void)prior_picture(draws); }),
             HasId("wrong_cells", {"3", "4"}));
  draws.depth_m[1] = 200;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)prior_picture(draws); }),
             HasId("edges_not_increasing"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)prior_picture(PriorDraws{}); }),
             HasId("edges_not_increasing"));
}
