// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/report/reach.hpp"
#include "io/report/report.hpp"
#include "io/report/slice_drawing.hpp"
#include "io/report/volume.hpp"
#include "io/run/result.hpp"
#include "io/run/section_comparison.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

#include <cmath>
#include <regex>

using namespace lodestone;
using namespace lodestone::io::report;
using Catch::Matchers::Contains;
using lodestone::test::occurrences;
namespace mesh = physics::mesh;

namespace {

/// A line of ten sites over 100 ohm m from 1 s to a longest period, in a grid with wide padding. It ends at
/// 100 km. One skin depth is 5.03 km times the root of the period in seconds.
inversion::Outcome line(double length_m, double longest_s) {
  inversion::Outcome outcome;
  std::vector<double> y_m{-40.0 * length_m}, z_m;
  for (int k = -2; k <= 22; ++k) y_m.push_back(0.05 * k * length_m);
  y_m.push_back(41.0 * length_m);
  for (int k = 0; k <= 50; ++k) z_m.push_back(40.0 * k * k);
  outcome.model = {{mesh::TensorGrid::section(y_m, z_m)}, {}, Eigen::VectorXd::Constant(26 * 50, 2.0)};
  outcome.start = outcome.model.values;
  std::vector<std::string> names;
  std::vector<double> places;
  for (int k = 0; k < 10; ++k) {
    names.push_back("site" + std::to_string(k));
    places.push_back(length_m * k / 9.0);
  }
  outcome.sites.add_texts("name", names);
  outcome.sites.add_numbers("y_m", "m", places);
  core::Table key;
  key.add_numbers("period_s", "s", {1.0, longest_s});
  outcome.data =
      core::DataSet({.observed = Eigen::Vector2d(1.0, 1.0), .sigma = Eigen::Vector2d(0.1, 0.1), .key = key});
  outcome.predicted = Eigen::Vector2d(1.0, 1.0);
  return outcome;
}

/// Marks the cells below a depth as not investigated.
Eigen::VectorXd& investigate(inversion::Outcome& outcome, double depth_m) {
  const mesh::TensorGrid& grid = outcome.model.earth.grid;
  Eigen::VectorXd& seen = outcome.findings.uncertainty.emplace().posterior.emplace().investigated;
  seen = Eigen::VectorXd::Zero(grid.n_cells());
  for (int iz = 0; iz < grid.n_z() && grid.z_centre_m(iz) < depth_m; ++iz)
    for (int iy = 0; iy < grid.n_y(); ++iy) seen[grid.index(iz, iy)] = 1.0;
  return seen;
}

double exaggeration_of(const std::string& svg) {
  std::smatch found;
  REQUIRE(std::regex_search(svg, found, std::regex("vertical exaggeration ([0-9.]+) : 1")));
  return std::stod(found[1]);
}

}  // namespace

TEST_CASE("reach: a picture is a fifth deeper than data see, and has round ends") {
  const SectionPart part = shown_part(line(200e3, 16.0));
  REQUIRE(part.seen_m);
  CHECK(*part.seen_m == Approx(20.13e3).epsilon(1e-3));
  CHECK(part.max_depth_m == 25e3);  // 1.2 × 20.13 km, rounded up
  CHECK_FALSE(part.ends_above_seen);
  CHECK(part.picture().remark.empty());
  CHECK(part.y_m == mesh::Interval{-30e3, 230e3});  // sites and a margin, not the padding
}

TEST_CASE("reach: a short line with long periods has a picture half as deep as it is long") {
  const inversion::Outcome outcome = line(10e3, 100.0);
  const SectionPart part = shown_part(outcome);
  CHECK(*part.seen_m == Approx(50.33e3).epsilon(1e-3));
  CHECK(part.max_depth_m == 8e3);  // half of 13 km, rounded up
  CHECK(part.ends_above_seen);
  CHECK(part.seen_text() == "about 50 km");
  const std::string svg = section_picture(outcome, part.picture()).svg();
  CHECK_THAT(svg, Contains("upper 8 km") && Contains("data see to about 50 km;  vertical"));
  CHECK(exaggeration_of(svg) == Approx(1.0).margin(0.05));
  const SectionPart wanted = shown_part(outcome, 60e3);
  CHECK(wanted.max_depth_m == 60e3);
  CHECK_FALSE(wanted.ends_above_seen);
  CHECK(shown_part(outcome, 1e6).max_depth_m == 100e3);  // the whole grid
  CHECK(shown_part(line(10e3, 1e6)).seen_text() == "the end of the grid, 100 km");
}

TEST_CASE("reach: pictures show five layers at least, and a grid that is nearly shown as a whole") {
  const SectionPart tiny = shown_part(line(20.0, 100.0));
  CHECK(tiny.max_depth_m == 1000.0);  // five layers of 40 · k² m
  CHECK(shown_part(line(500e3, 256.0)).max_depth_m == 100e3);
}

TEST_CASE("reach: the depth of investigation of a posterior goes before skin depths") {
  inversion::Outcome outcome = line(200e3, 16.0);
  investigate(outcome, 9e3);
  const SectionPart part = shown_part(outcome);
  CHECK(*part.seen_m == Approx(8.42e3));  // the centre of the layer from 7.84 to 9 km
  CHECK(part.max_depth_m == 12e3);
  outcome.findings.uncertainty.reset();
  outcome.data = {};
  CHECK_FALSE(shown_part(outcome).seen_m);  // without periods
  CHECK(shown_part(outcome).max_depth_m == 100e3);
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([] { static_cast<void>(shown_part(test::synthetic_volume())); }),
      tests::HasId("not_a_section", {"3"}));
}

TEST_CASE("reach: the z of a picture counts from a surface that cuts the grid") {
  inversion::Outcome outcome = line(200e3, 16.0);
  outcome.model.earth.grid = mesh::TensorGrid(outcome.model.earth.grid.edges(), mesh::DepthReference::datum);
  outcome.model.earth.surface = mesh::SurfaceLine({-30e3, 230e3}, {1e3, 3e3});
  const SectionPart part = shown_part(outcome);
  CHECK(*part.seen_m == Approx(20.13e3).epsilon(1e-3));
  CHECK(part.max_depth_m == Approx(27e3));
}

TEST_CASE("reach: a panel is as near to true scale as its height and width allow") {
  const auto svg = [](double length_m, double depth_m) {
    const inversion::Outcome outcome = line(length_m, 16.0);
    return section_picture(outcome, shown_part(outcome, depth_m).picture()).svg();
  };
  CHECK(exaggeration_of(svg(20e3, 10e3)) == Approx(1.0).margin(0.05));
  CHECK(exaggeration_of(svg(20e3, 20e3)) == Approx(1.0).margin(0.05));  // a narrower picture
  CHECK(exaggeration_of(svg(20e3, 100e3)) < 0.4);
  CHECK(exaggeration_of(svg(2000e3, 10e3)) == Approx(78.5).margin(0.6));
  CHECK_THAT(svg(20000e3, 10e3), Contains("exaggeration 785 : 1"));  // not 7.8e+02
}

TEST_CASE("colours: cells beyond the depth of investigation set no ends, and ends are labelled ticks") {
  inversion::Outcome outcome = line(200e3, 16.0);
  const mesh::TensorGrid& grid = outcome.model.earth.grid;
  for (int iz = 0; iz < grid.n_z(); ++iz)
    for (int iy = 0; iy < grid.n_y(); ++iy)
      outcome.model.values[grid.index(iz, iy)] = grid.z_centre_m(iz) < 15e3 ? 1.0 + 0.04 * iy : 4.2;
  CellColours colours = section_colours(outcome);
  CHECK(std::pow(10.0, colours.low) == Approx(10.0));
  CHECK(std::pow(10.0, colours.high) == Approx(30000.0));
  investigate(outcome, 15e3);
  colours = section_colours(outcome);
  CHECK(std::pow(10.0, colours.high) == Approx(100.0));
  CHECK(colours.clipped().above);  // which the colour bar states
  CHECK_THAT(section_picture(outcome, shown_part(outcome).picture()).svg(), Contains(">100<"));
  outcome.findings.uncertainty->posterior->investigated.setZero();  // then all cells count
  CHECK(std::pow(10.0, section_colours(outcome).high) > 10000.0);
}

TEST_CASE("colours: one value lies in the middle of about a decade") {
  inversion::Outcome outcome = line(200e3, 16.0);
  for (const auto& [value, low, high] :
       {std::tuple{100.0, 30.0, 300.0}, {50.0, 30.0, 300.0}, {0.2, 0.1, 1.0}, {0.03, 0.01, 0.1}}) {
    outcome.model.values.setConstant(std::log10(value));
    const CellColours colours = section_colours(outcome);
    CHECK(std::pow(10.0, colours.low) == Approx(low));
    CHECK(std::pow(10.0, colours.high) == Approx(high));
    CHECK_THAT(section_picture(outcome).svg(), Contains(fmt::format(">{:g}<", high)));
  }
}

TEST_CASE("contours: maps and vertical slices of a volume have them on demand, in true places") {
  const inversion::Outcome outcome = test::synthetic_volume(800.0);
  const VolumeSlices slices = slices_of(outcome);
  const std::string line_of_contour = "stroke-opacity=\"0.8\"";
  const PictureChoices with{.contours = true};
  CHECK(occurrences(horizontal_slices_picture(outcome, slices).svg(), line_of_contour) == 0);
  CHECK(occurrences(vertical_slices_picture(outcome, slices).svg(), line_of_contour) == 0);
  CHECK(occurrences(horizontal_slices_picture(outcome, slices, with).svg(), line_of_contour) > 2);
  CHECK(occurrences(vertical_slices_picture(outcome, slices, with).svg(), line_of_contour) > 1);

  // log10 of resistivity grows with x alone: on a map the line of 100 ohm m runs along y at x = 2 km.
  inversion::Outcome plane;
  plane.model = {
      {mesh::TensorGrid(mesh::Edges{{0, 1e3, 2e3, 3e3, 4e3}, {0, 1e3, 2e3, 3e3}, {0, 1e3, 2e3}})}, {}, {}};
  const mesh::TensorGrid& grid = plane.model.earth.grid;
  plane.model.values.resize(grid.n_cells());
  for (Eigen::Index k = 0; k < grid.n_cells(); ++k) plane.model.values[k] = 1.25 + 0.5 * (k % grid.n_x());
  const SliceView view{&plane.model, mesh::slice(plane.model.earth, mesh::HorizontalCut{500.0})};
  Canvas canvas(400.0, 400.0);
  draw_slice_contours(canvas, view, {0, 0, 400, 400}, [](const mesh::Flat& at) {
    return Point{0.1 * at.u_m, 400.0 - 0.1 * at.v_m};
  });
  CHECK_THAT(canvas.svg(), Contains("M50 200") || Contains("M250 200"));
}

TEST_CASE("report: choices of pictures reach sections and volumes, and layers have none") {
  const test::OutputFolder folder;
  const auto page = [&](const inversion::Outcome& outcome, const ReportOptions& options) {
    io::report::write_report(folder.path(), outcome, options);
    return test::slurp(folder / "report.html");
  };
  const inversion::Outcome section = line(10e3, 100.0);
  const std::string chosen = page(section, {});
  CHECK_THAT(chosen, Contains("upper 8 km") && Contains("The data see to about 50 km (one skin depth") &&
                         Contains("The section as deep as data see"));
  CHECK(std::filesystem::exists(folder / "pictures" / "section_deep.png"));
  const std::string deep = page(section, {.choices = {.low = -2.0, .high = 3.0}, .depth_m = 60e3});
  CHECK_THAT(deep, Contains("upper 60 km") && !Contains("as deep as data see") && Contains(">0.01<"));
  CHECK_THAT(page(test::synthetic_volume(), {.choices = {.low = -2.0, .high = 3.0, .contours = true}}),
             Contains(">0.01<") && Contains("Lines of equal values"));
  const auto refused = [&](const inversion::Outcome& outcome, const ReportOptions& options) {
    return tests::error_of<core::InvalidArgument>([&] { static_cast<void>(page(outcome, options)); });
  };
  CHECK_THAT(refused(test::synthetic_volume(), {.depth_m = 5.0}), tests::HasId("not_a_section", {"3"}));
  CHECK_THAT(refused(test::layers_of_density(), {.depth_m = 5.0}), tests::HasId("not_a_section", {"1"}));
  CHECK_THAT(refused(test::layers_of_density(), {.choices = {.contours = true}}), tests::HasId("of_layers"));
  CHECK_THAT(refused(test::layers_of_density(), {.choices = {.low = 1.0}}), tests::HasId("of_layers"));
}

TEST_CASE("compare: the picture has room for what pictures of each run show, unless its depth is chosen") {
  const test::OutputFolder first, second;
  inversion::Outcome outcome = line(10e3, 100.0);  // shown to 8 km
  io::run::write_result(first / "result.h5", outcome);
  io::run::write_result(second / "result.h5", line(20e3, 100.0));  // shown to 15 km
  io::run::ComparedSections what{.sections = {first.path(), second.path()}};
  const std::string picture = second / "sections.svg";
  static_cast<void>(io::run::compare_sections(what, picture));
  const std::string svg = test::slurp(picture);
  CHECK(occurrences(svg, ">14<") == 2);  // on both axes of depth
  CHECK_THAT(svg, !Contains(">16<") && !Contains(">80<"));
  what.max_depth_m = 100e3;
  static_cast<void>(io::run::compare_sections(what, picture));
  CHECK(occurrences(test::slurp(picture), ">80<") == 2);
}
