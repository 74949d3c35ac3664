// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/mt/distortion.hpp"
#include "inversion/mt/tables.hpp"
#include "io/report/misfit.hpp"
#include "io/report/mt_data.hpp"
#include "io/report/mt_soundings.hpp"
#include "io/report/property.hpp"
#include "io/report/report.hpp"
#include "io/report/residual_maps.hpp"
#include "io/report/slice.hpp"
#include "io/report/tables.hpp"
#include "io/report/volume.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

using namespace lodestone;
using namespace lodestone::io::report;
using Catch::Matchers::Contains;
using lodestone::test::occurrences;
namespace mesh = physics::mesh;

namespace {

std::string hex(const Color& color) {
  return fmt::format("#{:02x}{:02x}{:02x}", std::lround(255 * color.red), std::lround(255 * color.green),
                     std::lround(255 * color.blue));
}

/// The circles of a picture with their fill.
struct Circle {
  double x, y, radius;
  std::string fill;
};

std::vector<Circle> circles_in(const std::string& svg) {
  static const std::regex form("<circle cx=\"([^\"]+)\" cy=\"([^\"]+)\" r=\"([^\"]+)\" fill=\"([^\"]+)\"");
  std::vector<Circle> circles;
  for (std::sregex_iterator at(svg.begin(), svg.end(), form), end; at != end; ++at)
    circles.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), (*at)[4]});
  return circles;
}

/// A volume of 2 × 3 columns and 2 layers with a site in the middle of each column: log10 of resistivity is
/// the number of the cell.
inversion::Outcome small_volume() {
  inversion::Outcome outcome;
  outcome.model = {{mesh::TensorGrid(mesh::Edges{{0, 100, 200}, {0, 100, 200, 300}, {0, 10, 30}})},
                   {},
                   Eigen::VectorXd::LinSpaced(12, 0.0, 11.0)};
  outcome.start = outcome.model.values;
  outcome.sites.add_texts("name", {"SW", "S", "SE", "NW", "N", "NE"});
  outcome.sites.add_numbers("x_m", "m", {50, 50, 50, 150, 150, 150});
  outcome.sites.add_numbers("y_m", "m", {50, 150, 250, 50, 150, 250});
  return outcome;
}

}  // namespace

TEST_CASE("volume: the maps end at the margin around the sites, not at the padding") {
  const inversion::Outcome outcome = test::synthetic_volume();
  const VolumeSlices slices = slices_of(outcome);
  const std::vector<mesh::Site> sites = map_sites(outcome);
  REQUIRE(sites.size() == 25);
  double least = INFINITY, most = -INFINITY, longest = 0.0;
  for (const mesh::Site& site : sites) {
    least = std::min(least, site.at.y_m);
    most = std::max(most, site.at.y_m);
  }
  for (const mesh::Axis axis : {mesh::Axis::x, mesh::Axis::y}) {
    const auto [a, b] = std::ranges::minmax(sites, {}, [&](const mesh::Site& s) { return s.at[axis]; });
    longest = std::max(longest, b.at[axis] - a.at[axis]);
  }
  CHECK(slices.extent.y_m.from == Approx(least - 0.15 * longest));
  CHECK(slices.extent.y_m.to == Approx(most + 0.15 * longest));
  CHECK(slices.cuts.front().from == mesh::Point{slices.cuts.front().to.x_m, slices.extent.y_m.from, 0.0});
  // Colours of cells that lie in the padding alone do not count.
  inversion::Outcome odd = outcome;
  const mesh::TensorGrid& grid = odd.model.earth.grid;
  for (int iz = 0; iz < grid.n_z(); ++iz)
    for (int iy = 0; iy < grid.n_y(); ++iy) odd.model.values[grid.index(iz, iy, 0)] = 9.0;
  odd.ending.rms = outcome.ending.rms;
  CHECK(slices_of(odd).extent == slices.extent);
  VolumeSlices same = slices;
  CHECK(horizontal_slices_picture(odd, same).svg() == horizontal_slices_picture(outcome, same).svg());
}

TEST_CASE("volume: extents of a line of sites, of one site and without sites are rectangles in the grid") {
  const mesh::TensorGrid grid = test::synthetic_volume().model.earth.grid;
  const MapExtent line = extent_around({{"a", {0, -5e3, 0}}, {"b", {0, 5e3, 0}}}, grid);
  CHECK(line.y_m.length() == Approx(13e3));
  CHECK(line.x_m.length() == Approx(0.4 * 13e3));
  const MapExtent one = extent_around({{"a", {0, 0, 0}}}, grid);
  CHECK(one == MapExtent{{-5e3, 5e3}, {-5e3, 5e3}});
  CHECK(extent_around({}, grid) == MapExtent{{-83e3, 83e3}, {-83e3, 83e3}});
  CHECK(extent_around({{"a", {0, -80e3, 0}}, {"b", {0, 80e3, 0}}}, grid).y_m.from == -83e3);
}

TEST_CASE("volume: layers reach from a part of a skin depth to a whole one, or to half the extent") {
  inversion::Outcome outcome = test::synthetic_volume();
  outcome.model.values.setConstant(2.0);  // 503 m √(100 Ωm · T), T from 0.01 to 100 s
  const VolumeSlices slices = slices_of(outcome);
  const mesh::TensorGrid& grid = outcome.model.earth.grid;
  REQUIRE(slices.layers.size() == 6);
  CHECK(slices.layers.front() == grid.nearest(mesh::Axis::z, 0.25 * 503.3));
  REQUIRE(slices.extent.longest_m() < 50.33e3);
  CHECK(slices.layers.back() == grid.nearest(mesh::Axis::z, 0.5 * slices.extent.longest_m()));
  CHECK(std::ranges::is_sorted(slices.layers));
  inversion::Outcome conductive = outcome;
  conductive.model.values.setConstant(0.0);
  CHECK(slices_of(conductive).layers.back() == grid.nearest(mesh::Axis::z, 5.033e3));
  // A posterior states the depth instead.
  auto& posterior = conductive.findings.uncertainty.emplace().posterior.emplace();
  posterior.investigated = Eigen::VectorXd::Zero(grid.n_cells());
  posterior.investigated.head(grid.index(9, 0, 0)).setOnes();
  CHECK(slices_of(conductive).layers.back() == 8);
  CHECK(slices_of(conductive).max_depth_m == Approx(1.5 * grid.z_edges_m()[9]));
}

TEST_CASE("volume: vertical slices follow the line that most sites are near") {
  inversion::Outcome outcome = test::synthetic_volume();
  core::Table sites;
  sites.add_texts("name", {"a", "b", "c", "d", "e"});
  sites.add_numbers("x_m", "m", {-6000, 3900, 4100, 4000, 9000});
  sites.add_numbers("y_m", "m", {-6000, -3000, 0, 3000, 6000});
  outcome.sites = sites;
  const VolumeSlices slices = slices_of(outcome);
  CHECK(slices.cuts[0].from.x_m == Approx(4000.0));
  CHECK(slices.cuts[1].from.y_m == Approx(0.0));  // no line has two: the median
  const std::string svg = vertical_slices_picture(outcome, slices).svg();
  CHECK_THAT(svg, Contains("West–east at x = 4000 m") && Contains("South–north at y = 0 m") &&
                      Contains("y, east (km)") && Contains("x, north (km)"));
  CHECK(occurrences(svg, ">b<") == 1);
  CHECK(occurrences(svg, ">a<") == 0);  // far from both lines
  CHECK(occurrences(svg, ">c<") == 2);
}

TEST_CASE("volume: wanted depths and places of cuts go before, and must lie in the model") {
  const inversion::Outcome outcome = small_volume();  // layers end at 10 and 30 m
  const VolumeSlices all = slices_of(outcome, {.depths_m = {30, 0, 10, 5}, .x_m = {120}, .y_m = {90, 40}});
  CHECK(all.layers == std::vector{0, 1});
  REQUIRE(all.cuts.size() == 3);
  CHECK(all.cuts[0].from.x_m == 120.0);
  CHECK(all.cuts[0].to.x_m == 120.0);
  CHECK(all.cuts[1].from.y_m == 90.0);
  CHECK(all.cuts[2].to.y_m == 40.0);
  CHECK(occurrences(horizontal_slices_picture(outcome, all).svg(), "stroke-dasharray=\"6 3\"") == 3);
  const std::string cuts = vertical_slices_picture(outcome, all).svg();
  CHECK_THAT(cuts, Contains("West–east at x = 120 m") && Contains("South–north at y = 40 m"));
  const VolumeSlices along_x = slices_of(outcome, {.y_m = {90}});
  CHECK(along_x.cuts.size() == 1);
  CHECK(along_x.layers == slices_of(outcome).layers);
  CHECK(slices_of(outcome, {.depths_m = {5}}).cuts.size() == 2);
  const auto refused = [&](const WantedSlices& wanted) {
    return tests::error_of<core::InvalidArgument>([&] { static_cast<void>(slices_of(outcome, wanted)); });
  };
  CHECK_THAT(refused({.depths_m = {31}}), tests::HasId("no_such_depth", {"0.03 km", "0.031"}));
  CHECK_THAT(refused({.depths_m = {-1}}), tests::HasId("no_such_depth", {"-0.001"}));
  CHECK_THAT(refused({.x_m = {201}}), tests::HasId("cut_outside", {"x", "0.02 to 0.18", "0.201"}));
  CHECK_THAT(refused({.y_m = {-5}}), tests::HasId("cut_outside", {"y", "-0.005"}));
}

TEST_CASE("report: slices at wanted places are those of its page, and a section has none") {
  const test::OutputFolder folder;
  const inversion::Outcome outcome = test::synthetic_volume();
  io::report::write_report(folder.path(), outcome, {.slices = {.depths_m = {50.0, 2000.0}, .x_m = {1000.0}}});
  CHECK_THAT(test::slurp(folder / "report.html"),
             Contains("of 2 layers") && Contains("West–east at x = 1000 m") && !Contains("South–north"));
  const inversion::Outcome section = test::synthetic_result({.n_stations = 2, .n_frequencies = 2});
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { io::report::write_report(folder.path(), section, {.slices = {.x_m = {0.0}}}); }),
             tests::HasId("not_a_volume", {"y and z"}));
}

TEST_CASE("display: the rms of a station is that of all its data, shown or not") {
  const inversion::Outcome outcome = test::synthetic_volume();
  const Eigen::VectorXd residual = inversion::normalized_residuals(outcome.data, outcome.predicted);
  inversion::RmsSum sum;
  for (Eigen::Index row = 0; row < residual.size(); ++row)
    if (outcome.data.key().texts("site")[static_cast<std::size_t>(row)] == "M13") sum.add(residual[row]);
  CHECK(shown_data(outcome)->rms(12) == Approx(sum.rms()));
  CHECK(sum.rms() > 2.0);
}

TEST_CASE("sounding curves: a phase that passes 180 degrees is not drawn across its axis") {
  inversion::Outcome outcome = test::synthetic_volume();
  const std::vector<std::string>& quantity = outcome.data.key().texts("quantity");
  const auto lines = [&](double phase_deg) {  // of Zxx, at two of eight periods; -170 degrees at the others
    for (std::size_t row = 0; row < quantity.size(); ++row) {
      const double angle =
          (outcome.data.key().numbers("period_s")[row] > 20.0 ? phase_deg : -170.0) * M_PI / 180.0;
      if (quantity[row] == "zxx_re") outcome.predicted[static_cast<Eigen::Index>(row)] = std::cos(angle);
      if (quantity[row] == "zxx_im") outcome.predicted[static_cast<Eigen::Index>(row)] = std::sin(angle);
    }
    return occurrences(sounding_picture(*shown_data(outcome), 0).svg(), "stroke-width=\"1.4\"");
  };
  CHECK(lines(0.0) == lines(-90.0));
  CHECK(lines(170.0) == lines(0.0) + 1);
}

TEST_CASE("misfit picture: of too many sites the worst have names, and no two overlap") {
  inversion::Outcome outcome = test::synthetic_volume();
  const std::string few = misfit_picture(outcome).svg();
  for (int k = 1; k <= 25; ++k) CHECK(occurrences(few, fmt::format(">M{:02}<", k)) == 1);
  core::DataSetParts parts = outcome.data.parts();
  std::vector<std::string> names;
  for (std::size_t row = 0; row < parts.key.n_rows(); ++row)
    names.push_back(row < 24 ? "worst" : fmt::format("site {}", row / 12));
  core::Table key;
  key.add_texts("site", names);
  parts.key = key;
  outcome.data = core::DataSet(std::move(parts));
  outcome.predicted.head(24).array() += 1.0;
  const std::string many = misfit_picture(outcome).svg();
  CHECK(occurrences(many, ">worst<") == 1);
  CHECK(occurrences(many, ">site ") > 45);
  CHECK(occurrences(many, ">site ") < 100);  // of 198
}

TEST_CASE("volume: north is up, east is right, and cells have the colours of their values") {
  const inversion::Outcome outcome = small_volume();
  VolumeSlices slices = slices_of(outcome);
  slices.extent = {{0, 200}, {0, 300}};
  slices.layers = {0};
  const std::string svg = horizontal_slices_picture(outcome, slices).svg();
  CHECK_THAT(svg, Contains("Depth 0 to 10 m") && Contains("y, east (m)") && Contains("x, north (m)"));
  const std::vector<Circle> sites = circles_in(svg);
  REQUIRE(sites.size() == 6);
  CHECK(sites[0].x < sites[2].x);                                                          // SW, SE
  CHECK(sites[3].y < sites[0].y);                                                          // NW above SW
  CHECK(sites[2].x - sites[0].x == Approx(2.0 * (sites[0].y - sites[3].y)).margin(0.03));  // one scale
  // The path of the north-eastern cell (x 100–200, y 200–300) holds its site: the upper right corner.
  const double low = 0.0, high = 9.0;  // 2nd and 98th percentile of the 16 pieces that all slices show
  CHECK_THAT(svg, Contains(hex(resistivity_colours().at((5.0 - low) / (high - low)))));
  const std::regex cell("fill=\"" + hex(resistivity_colours().at((5.0 - low) / (high - low))) +
                        "\" d=\"M([0-9.]+) ([0-9.]+)h([0-9.]+)v([0-9.]+)");
  std::smatch found;
  REQUIRE(std::regex_search(svg, found, cell));
  CHECK(std::stod(found[1]) + 0.5 * std::stod(found[3]) == Approx(sites[5].x).margin(0.02));
  CHECK(std::stod(found[2]) + 0.5 * std::stod(found[4]) == Approx(sites[5].y).margin(0.02));
}

TEST_CASE("volume: maps and vertical slices share one scale of colours") {
  const inversion::Outcome outcome = test::synthetic_volume(800.0);
  const VolumeSlices slices = slices_of(outcome);
  const std::string maps = horizontal_slices_picture(outcome, slices).svg(),
                    cuts = vertical_slices_picture(outcome, slices).svg();
  for (const std::string tick : {">1<", ">100<", ">1000<", ">10000<"})  // of the bar; lengths have no such
    CHECK(occurrences(maps, tick) == occurrences(cuts, tick));
  CHECK_THAT(maps, Contains("Resistivity (ohm m)"));
  CHECK(occurrences(maps, ">100<") == 1);
  CHECK(occurrences(cuts, ">100<") == 1);
  CHECK(occurrences(maps, ">M13<") == 1);  // names on the first map alone
  CHECK(circles_in(maps).size() == 6 * 25);
  CHECK(occurrences(maps, "stroke-dasharray=\"6 3\"") == 2);
  CHECK_THAT(cuts, Contains("Depth below datum (km)") && Contains("vertical exaggeration"));
  CHECK_THAT(maps + cuts, !Contains("nan") && !Contains("inf"));
}

TEST_CASE("volume: what data do not see is hatched on maps and vertical slices") {
  inversion::Outcome outcome = small_volume();
  const VolumeSlices slices{.extent = {{0, 200}, {0, 300}},
                            .layers = {0, 1},
                            .cuts = {{{50, 0, 0}, {50, 300, 0}}, {{0, 50, 0}, {200, 50, 0}}},
                            .max_depth_m = 30.0,
                            .sites_within_m = 10.0};
  const std::string maps = horizontal_slices_picture(outcome, slices).svg(),
                    cuts = vertical_slices_picture(outcome, slices).svg();
  auto& investigated = outcome.findings.uncertainty.emplace().posterior.emplace().investigated;
  investigated = Eigen::VectorXd::Ones(12);
  CHECK(horizontal_slices_picture(outcome, slices).svg() == maps);
  CHECK(vertical_slices_picture(outcome, slices).svg() == cuts);
  investigated[outcome.model.earth.grid.index(1, 0, 0)] = 0.0;  // south-west, lower layer
  const std::string border = "stroke-width=\"1.3\"";
  const std::string hatched = horizontal_slices_picture(outcome, slices).svg();
  CHECK(occurrences(hatched, border) == 2);  // to the north and to the east
  CHECK(occurrences(hatched, "stroke-width=\"0.6\"") > occurrences(maps, "stroke-width=\"0.6\"") + 5);
  CHECK(occurrences(vertical_slices_picture(outcome, slices).svg(), border) == 4);  // above and beside, twice
}

TEST_CASE("volume: sections, missing layers and horizontal cuts are refused where they do not fit") {
  const inversion::Outcome section = test::synthetic_result({.n_stations = 2, .n_frequencies = 2});
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(slices_of(section)); }),
             tests::HasId("not_a_volume", {"2"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(residual_maps(section)); }),
             tests::HasId("not_a_volume", {"2"}));
  const inversion::Outcome volume = small_volume();
  VolumeSlices slices = slices_of(volume);
  slices.layers = {2};
  const auto draw = [&] { static_cast<void>(horizontal_slices_picture(volume, slices)); };
  CHECK_THAT(tests::error_of<core::InvalidArgument>(draw), tests::HasId("no_such_layer", {"1", "2"}));
  slices.layers.clear();
  CHECK_THAT(tests::error_of<core::InvalidArgument>(draw), tests::HasId("no_layer"));
  SectionPanel panel{"map", volume.model, {}, {}};
  panel.cut = mesh::HorizontalCut{5.0};
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(sections_picture({panel})); }),
             tests::HasId("not_vertical", {"map"}));
}

TEST_CASE("residual maps: each datum used is a circle with the colour of its residual") {
  inversion::Outcome outcome = test::synthetic_volume();
  const std::vector<ResidualSheet> sheets = residual_maps(outcome);
  REQUIRE(sheets.size() == 2);
  CHECK(sheets[0].name == "impedance");
  CHECK(sheets[1].name == "tipper");
  const std::string svg = sheets[1].picture.svg();
  const std::vector<Circle> circles = circles_in(svg);
  REQUIRE(circles.size() == 4 * 4 * 25);
  for (const char* label : {"Re Tzx, 0.01 s", "Im Tzx, 100 s", "Re Tzy, ", "Im Tzy, "})
    CHECK_THAT(svg, Contains(label));
  for (const char* label : {"Re Zxx", "Im Zxy", "Re Zyx", "Im Zyy"})
    CHECK(occurrences(sheets[0].picture.svg(), std::string(">") + label + ", ") == 4);
  // The first map of the tipper: Re Tzx at the shortest period.
  const Eigen::VectorXd residual = inversion::normalized_residuals(outcome.data, outcome.predicted);
  const core::Table& key = outcome.data.key();
  inversion::RmsSum sum;
  int n_used = 0;
  for (Eigen::Index row = 0; row < residual.size(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    if (key.texts("quantity")[at] != "tzx_re" || std::abs(key.numbers("period_s")[at] - 0.01) > 1e-9)
      continue;
    const auto site = static_cast<std::size_t>(std::stoi(key.texts("site")[at].substr(1)) - 1);
    if (!std::isfinite(residual[row])) {
      CHECK(circles[site].radius == Approx(1.3));
      continue;
    }
    ++n_used;
    sum.add(residual[row]);
    CHECK(circles[site].radius > 2.0);
    CHECK(circles[site].fill == hex(residual_colours().at((residual[row] + 4.0) / 8.0)));
  }
  CHECK(n_used > 20);
  CHECK_THAT(svg, Contains(fmt::format("Re Tzx, 0.01 s: rms {:.2f}", sum.rms())));
}

TEST_CASE("residual maps: the rms of sites is shown for all data and each type") {
  const inversion::Outcome outcome = test::synthetic_volume();
  const std::string svg = site_misfit_maps(outcome).svg();
  CHECK_THAT(svg, Contains("All data: rms ") && Contains("Impedance: rms ") && Contains("Tipper: rms "));
  const std::vector<Circle> circles = circles_in(svg);
  REQUIRE(circles.size() == 3 * 25);
  const double most = 4.0;  // site M13 has an rms of about 3
  const Eigen::VectorXd residual = inversion::normalized_residuals(outcome.data, outcome.predicted);
  inversion::RmsSum sum;
  for (Eigen::Index row = 0; row < residual.size(); ++row)
    if (outcome.data.key().texts("site")[static_cast<std::size_t>(row)] == "M13") sum.add(residual[row]);
  CHECK(circles[12].fill == hex(phase_colours().at(sum.rms() / std::ceil(sum.rms()))));
  CHECK(std::ceil(sum.rms()) <= most);
}

TEST_CASE("residual maps: periods that few sites have, masked types and data without places are left out") {
  inversion::Outcome outcome = test::synthetic_volume();
  core::DataSetParts parts = outcome.data.parts();
  for (std::size_t row = 0; row < parts.reason.size(); ++row) {
    const std::string& quantity = outcome.data.key().texts("quantity")[row];
    const double period_s = outcome.data.key().numbers("period_s")[row];
    const std::string& site = outcome.data.key().texts("site")[row];
    const bool longest = period_s > 90.0 && site > "M05";
    if (longest || quantity.starts_with("z")) parts.reason[row] = 3;
  }
  outcome.data = core::DataSet(std::move(parts));
  const std::vector<ResidualSheet> sheets = residual_maps(outcome);
  REQUIRE(sheets.size() == 1);
  CHECK_THAT(sheets[0].picture.svg(), !Contains("100 s") && Contains("26.8 s"));
  core::Table nowhere;
  nowhere.add_texts("name", outcome.sites.texts("name"));
  nowhere.add_numbers("y_m", "m", outcome.sites.numbers("y_m"));
  outcome.sites = nowhere;
  CHECK(residual_maps(outcome).empty());
  CHECK(site_misfit_maps(outcome).height() == 0.0);
}

TEST_CASE("report: a volume has slices, residual maps, sounding curves and tables of places") {
  const test::OutputFolder folder;
  const inversion::Outcome outcome = test::synthetic_volume(800.0);
  io::report::write_report(folder.path(), outcome);
  const std::string page = test::slurp(folder / "report.html");
  for (const char* name : {"slices_horizontal", "slices_vertical", "misfit_map", "residuals_impedance",
                           "residuals_tipper", "soundings_1", "misfit"})
    CHECK(test::slurp(folder / "pictures" / (std::string(name) + ".png")).rfind("\x89PNG", 0) == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "pictures" / "pseudosection_te_phase.png"));
  CHECK_THAT(page, Contains("75000 (50 along x × 50 along y × 30 layers)") && !Contains("along the profile"));
  CHECK_THAT(page, Contains("<th>x, north (km)</th><th>y, east (km)</th>"));
  CHECK_THAT(page, Contains(">xy and xx observed<") && Contains(">yx and yy predicted<") &&
                       Contains(">Tzy and Tzx, real<") && Contains(">Phase xx, yy<") && !Contains(">TE "));
  CHECK(occurrences(page, "<svg") == occurrences(page, "</svg>"));
  CHECK(occurrences(page, "<details") == occurrences(page, "</details>"));
  CHECK(page.size() < 6'000'000);
}

TEST_CASE("volume: models without values, without sites and of one site break no picture") {
  inversion::Outcome nothing = small_volume();
  nothing.model.values.setConstant(std::nan(""));
  inversion::Outcome no_sites = small_volume();
  no_sites.sites = {};
  inversion::Outcome one = small_volume();
  one.sites = {};
  one.sites.add_texts("name", {"only"});
  one.sites.add_numbers("x_m", "m", {50.0});
  one.sites.add_numbers("y_m", "m", {150.0});
  for (const inversion::Outcome* each : {&nothing, &no_sites, &one}) {
    const VolumeSlices slices = slices_of(*each);
    for (const std::string& svg :
         {horizontal_slices_picture(*each, slices).svg(), vertical_slices_picture(*each, slices).svg()})
      CHECK_THAT(svg, !Contains("nan") && !Contains("inf\""));
  }
}

TEST_CASE("distortion maps: an entry is a circle with the colour of what it differs from the identity by") {
  inversion::Outcome outcome = test::synthetic_volume();
  CHECK(distortion_maps(outcome).height() == 0.0);
  using physics::mt::DistortionKind;
  const auto stations = inversion::mt::observations(outcome.data, outcome.sites)->survey.stations;
  const Eigen::Vector4d entries(0.1, -0.3, 0.2, -0.05);
  outcome.tables.push_back(inversion::mt::distortion_table(
      stations, {{DistortionKind::full, {{2, 0, 0}, {2, 0, 1}, {2, 1, 0}, {2, 1, 1}}}, 0.2}, entries));
  const Canvas picture = distortion_maps(outcome);
  std::vector<std::string> fills;
  for (const Circle& circle : circles_in(picture.svg()))
    if (circle.radius > 2.0) fills.push_back(circle.fill);
  REQUIRE(fills.size() == 4);
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(fills[k] == hex(residual_colours().at((entries[static_cast<Eigen::Index>(k)] + 0.3) / 0.6)));
  CHECK_THAT(picture.svg(), Contains("Cxx − 1") && Contains("Cxy: rms 0.30"));
  const test::OutputFolder folder;
  io::report::write_report(folder.path(), outcome);
  CHECK_THAT(test::slurp(folder / "report.html"), Contains("Galvanic distortion") && Contains("twist deg"));
}
