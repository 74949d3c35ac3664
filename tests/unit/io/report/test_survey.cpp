// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/report/contours.hpp"
#include "io/report/graticule.hpp"
#include "io/report/misfit.hpp"
#include "io/report/mt_pseudosections.hpp"
#include "io/report/mt_soundings.hpp"
#include "io/report/roses.hpp"
#include "io/report/slice.hpp"
#include "io/report/survey.hpp"
#include "io/report/survey_data.hpp"
#include "io/report/survey_maps.hpp"
#include "io/report/survey_tables.hpp"
#include "physics/mt/analysis/sounding_bands.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

using namespace lodestone;
using namespace lodestone::io::report;
using Catch::Matchers::Contains;
using lodestone::test::occurrences;
using test::OutputFolder;
namespace mt = physics::mt;
using mt::Element;

namespace {

/// Returns a station over a section whose strike is north: ρₐ of 100 and 10 ohm m, phases of 60° and 30°, so
/// that the larger axis of its phase tensor points north. Its tipper is that of a conductor in the east.
mt::StationData station(const std::string& name, double latitude_deg, double longitude_deg) {
  mt::StationData data;
  data.format = "EDI";
  data.site = {.name = name,
               .y_m = mt::not_given,
               .latitude_deg = latitude_deg,
               .longitude_deg = longitude_deg,
               .elevation_m = 120.0,
               .x_m = mt::not_given};
  for (const double frequency_hz : {100.0, 10.0, 1.0, 0.1, 0.01}) {
    mt::StationRow& row = data.row_at(frequency_hz);
    const double omega_mu = mt::omega(frequency_hz) * mt::mu0;
    row.values[Element::zxx] = row.values[Element::zyy] = 0.0;
    row.values[Element::zxy] = std::polar(std::sqrt(100.0 * omega_mu), 30.0 / mt::deg_per_rad);
    row.values[Element::zyx] = -std::polar(std::sqrt(10.0 * omega_mu), 60.0 / mt::deg_per_rad);
    row.values[Element::tzx] = 0.0;
    row.values[Element::tzy] = {-0.3, 0.1};
    for (const Element each : {Element::zxx, Element::zxy, Element::zyx, Element::zyy})
      row.errors[each] = 0.02 * std::abs(row.values[Element::zxy]);
    row.errors[Element::tzx] = row.errors[Element::tzy] = 0.02;
  }
  data.sort();
  return data;
}

std::vector<mt::StationData> line_of_stations() {
  std::vector<mt::StationData> stations;
  for (int k = 0; k < 5; ++k) stations.push_back(station("s" + std::to_string(k), -20.0, 15.0 + 0.1 * k));
  return stations;
}

void drop(std::vector<mt::StationData>& stations, mt::Elements elements) {
  for (mt::StationData& each : stations)
    for (mt::StationRow& row : each.rows)
      for (const Element element : mt::all_elements)
        if (elements.contains(element)) row.values[element] = mt::not_given;
}

std::string page_of(const std::vector<mt::StationData>& stations, const SurveyOptions& options = {}) {
  const OutputFolder folder;
  return test::slurp(write_survey_report(folder / "survey", stations, options, "Survey", "made"));
}

/// Returns width and height of the first filled path of a picture.
Box extent_of_first_path(const std::string& svg) {
  const std::size_t begin = svg.find("<path d=\"") + 9, end = svg.find("z\"", begin);
  std::string numbers = svg.substr(begin, end - begin);
  std::ranges::replace_if(
      numbers, [](char c) { return c == 'M' || c == 'L'; }, ' ');
  std::istringstream in(numbers);
  double x = 0.0, y = 0.0, left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
  while (in >> x >> y) {
    left = std::min(left, x);
    right = std::max(right, x);
    top = std::min(top, y);
    bottom = std::max(bottom, y);
  }
  return {left, top, right - left, bottom - top};
}

}  // namespace

TEST_CASE("survey: soundings by decade and skews stand in tables as check has them") {
  std::vector<mt::StationData> stations = line_of_stations();
  const std::string page = page_of(stations);
  const std::vector<mt::SoundingBand> bands = mt::sounding_bands(stations);
  REQUIRE(!bands.empty());
  for (const mt::SoundingBand& band : bands) {
    const std::string row = fmt::format("{:g} to {:g}</td><td>{}</td><td>{}</td><td>{:.0f}</td>",
                                        band.min_period_s, band.max_period_s, band.n_tensors,
                                        plain_number(band.rho_det_ohm_m, 3), band.phase_det_deg);
    CHECK_THAT(page, Contains(row) && Contains(fmt::format("<td>{:.2f}</td><td>{:.2f}</td></tr>",
                                                           band.swift_skew, band.bahr_skew)));
  }
  CHECK_THAT(page, Contains("<th>skew (°)</th>"));
  drop(stations, mt::all_impedances);
  CHECK_THAT(page_of(stations), Contains("no station has all four impedances"));
}

TEST_CASE("survey: places come from latitude and longitude, or from the frame of a file") {
  std::vector<mt::StationData> stations = line_of_stations();
  stations.push_back(station("nowhere", 0.0, 0.0));
  const SurveyMap map = map_of(stations);
  REQUIRE(map.sites.size() == 5);
  CHECK(map.projection);
  CHECK(map.sites[4].at.y_m - map.sites[0].at.y_m ==
        Approx(0.4 * 111'320.0 * std::cos(20.0 / 57.29578)).epsilon(0.01));
  CHECK(map.north_deg[2] == Approx(0.0).margin(1e-3));
  CHECK(map.north_deg[4] * map.north_deg[0] < 0.0);  // true north turns to either side of the middle
  CHECK(std::abs(map.north_deg[4]) == Approx(0.2 * std::sin(20.0 / 57.29578)).epsilon(0.05));

  std::vector<mt::StationData> local{station("a", 0.0, 0.0), station("b", 0.0, 0.0)};
  for (mt::StationData& each : local) each.local_frame = mt::LocalFrame{.azimuth_deg = 90.0};
  local[0].site.x_m = local[0].site.y_m = 0.0;
  local[1].site.x_m = 1000.0;
  local[1].site.y_m = 0.0;
  const SurveyMap plane = map_of(local);
  REQUIRE(plane.sites.size() == 2);
  CHECK_FALSE(plane.projection);
  CHECK(plane.sites[1].at.x_m == Approx(0.0).margin(1e-6));  // x of the file points east
  CHECK(plane.sites[1].at.y_m == Approx(1000.0));
  CHECK(map_of({station("nowhere", 0.0, 0.0)}).sites.empty());
}

TEST_CASE("survey: a line takes the stations near it, and its strike is across it unless given") {
  std::vector<mt::StationData> stations = line_of_stations();
  stations.push_back(station("beside", -20.3, 15.2));
  const SurveyMap map = map_of(stations);
  const auto line = line_of(stations, map, {.azimuth_deg = 90.0}, 20e3);
  REQUIRE(line);
  CHECK(line->stations == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(line->n_beside == 1);
  CHECK(line->strike_deg == Approx(0.0));
  CHECK(line->y_m.front() < line->y_m.back());
  CHECK(line->to.east_m - line->from.east_m == Approx(line->y_m.back() - line->y_m.front()));
  CHECK(line_of(stations, map, {.azimuth_deg = 90.0}, 100e3)->stations.size() == 6);
  const auto turned = line_of(stations, map, {.strike_deg = 30.0}, 100e3);
  REQUIRE(turned);
  CHECK(turned->azimuth_deg == Approx(120.0));
  CHECK(turned->strike_deg == Approx(30.0));
  CHECK_FALSE(line_of({stations[0]}, map_of({stations[0]}), {}, 0.0));
  std::vector<mt::StationData> placed{station("a", 0.0, 0.0), station("b", 0.0, 0.0)};
  placed[0].site.y_m = 500.0;
  placed[1].site.y_m = -500.0;
  const auto of_file = line_of(placed, map_of(placed), {}, 0.0);
  REQUIRE(of_file);
  CHECK(of_file->stations == std::vector<std::size_t>{1, 0});
}

TEST_CASE("survey: an ellipse has its longer axis along the azimuth, and its axes in proportion") {
  const mt::StationData north = station("a", -20.0, 15.0);
  const auto tensor = tensor_at(north, 1.0);
  REQUIRE(tensor);
  CHECK(tensor->max_deg() == Approx(60.0));
  CHECK(tensor->azimuth_deg == Approx(0.0).margin(1e-6));
  CHECK(tensor_at(north, 3.0)->max_deg() == Approx(60.0));  // between measured periods
  CHECK_FALSE(tensor_at(north, 1e4));
  const auto box_at = [&](double azimuth_deg) {
    Canvas canvas(100.0, 100.0);
    EllipseColours(EllipseFill::skew).draw(canvas, {50.0, 50.0}, 30.0, *tensor, azimuth_deg);
    return extent_of_first_path(canvas.svg());
  };
  CHECK(box_at(0.0).height == Approx(60.0).epsilon(0.01));
  CHECK(box_at(0.0).width == Approx(20.0).epsilon(0.01));  // tan 30° over tan 60°
  CHECK(box_at(90.0).width == Approx(60.0).epsilon(0.01));
}

TEST_CASE("survey: the graticule labels round degrees, and a bar has a round length") {
  const std::vector<mt::StationData> stations = line_of_stations();
  const SurveyMap map = map_of(stations);
  const std::string picture = site_map(stations, map, {}).picture.svg();
  CHECK_THAT(picture, Contains(">15.2° E<") && Contains("° S<") && Contains(">10 km<") && !Contains("nan"));
  CHECK(occurrences(picture, ">s3</text>") == 1);
}

TEST_CASE("survey: the graticule has two labels at least on each side") {
  for (const double wide_deg : {0.013, 0.11, 0.7, 1.3, 3.1, 7.9})
    for (const double tall_deg : {0.011, 0.17, 0.9, 2.3, 5.3, 9.1}) {
      std::vector<mt::StationData> stations{station("a", -21.37, 15.03), station("b", -21.37, 15.03)};
      stations[1].site.latitude_deg += tall_deg;
      stations[1].site.longitude_deg += wide_deg;
      const std::string maps = ellipse_maps(stations, map_of(stations), {1.0}, EllipseFill::skew).svg();
      INFO(wide_deg << "° by " << tall_deg << "°");
      CHECK(occurrences(maps, "° E<") >= 2);
      CHECK(occurrences(maps, "° S<") >= 2);
    }
}

TEST_CASE("survey: stations on opposite sides of the globe stand on a map without a graticule") {
  std::vector<mt::StationData> stations = line_of_stations();
  stations.push_back(station("antipode", 40.0, -170.0));
  stations.push_back(station("pole", -90.0, 10.0));
  const SurveyMap map = map_of(stations);
  const std::string picture = site_map(stations, map, {}).picture.svg();
  CHECK_THAT(picture, Contains("antipode") && !Contains("° E<") && !Contains("pole"));
}

TEST_CASE("survey: arrows name their convention, and those that are too long are counted and left out") {
  std::vector<mt::StationData> stations = line_of_stations();
  stations[2].rows[2].values[Element::tzy] = 4.0;
  const SurveyMap map = map_of(stations);
  const std::string parkinson = arrow_maps(stations, map, {1.0}, mt::ArrowConvention::parkinson).svg();
  CHECK_THAT(parkinson, Contains("convention of Parkinson: real arrows point towards conductors") &&
                            Contains("1 s: 4 sites, 1 above 1.5 left out") && Contains("length 0.5"));
  CHECK_THAT(arrow_maps(stations, map, {1.0}, mt::ArrowConvention::wiese).svg(),
             Contains("convention of Wiese: real arrows point away"));
}

TEST_CASE("survey: pseudosections are turned to the strike, and curves show values without errors") {
  std::vector<mt::StationData> stations = line_of_stations();
  const SurveyMap map = map_of(stations);
  const auto across = line_of(stations, map, {.azimuth_deg = 90.0}, 0.0),
             along = line_of(stations, map, {.azimuth_deg = 90.0, .strike_deg = 90.0}, 0.0);
  const ShownData first = line_data(stations, *across, 4), second = line_data(stations, *along, 4);
  CHECK(first.n_frequencies() == 17);
  CHECK(first.at(Shown::rho_te, 8, 1).observed == Approx(2.0));
  CHECK(first.at(Shown::phase_te, 8, 1).observed == Approx(30.0));
  CHECK(second.at(Shown::rho_te, 8, 1).observed == Approx(1.0));
  CHECK(second.at(Shown::phase_te, 8, 1).observed == Approx(60.0));
  for (mt::StationRow& row : stations[1].rows) row.errors = mt::StationRow::missing_errors();
  const ShownData curves = sounding_data(stations, {0, 1});
  CHECK_FALSE(curves.has_predictions());
  CHECK(curves.at(Shown::rho_te, 0, 1).kept);
  CHECK(curves.at(Shown::phase_tensor_xx, 0, 0).observed == Approx(std::tan(60.0 / mt::deg_per_rad)));
  const std::string with = sounding_picture(curves, 0).svg(), without = sounding_picture(curves, 1).svg();
  CHECK_THAT(with, !Contains("rms") && !Contains("no data used"));
  CHECK(without.size() < with.size());  // there are no bars
  CHECK_THAT(sounding_legend(curves).svg(), !Contains("predicted") && !Contains("not used"));
}

TEST_CASE("survey: a wild value or a station in error rules no axis and no colours, and captions say so") {
  std::vector<mt::StationData> stations = line_of_stations();
  // Re Z of one period is nearly singular: its phase tensor has values of thousands.
  for (mt::StationRow& row : stations[3].rows)
    if (row.frequency_hz == 1.0)
      row.values[Element::zxy] = {1e-4 * row.values[Element::zxy].real(), row.values[Element::zxy].imag()};
  const ShownData curves = sounding_data(stations, {2, 3});
  CHECK(values_of_curves(curves, 0).beyond == 0);
  CHECK(values_of_curves(curves, 1).beyond == 1);
  CHECK(values_of_curves(curves, 1).all == values_of_curves(curves, 0).all);

  for (mt::StationRow& row : stations[2].rows)  // its tippers are huge, and check calls its units wrong
    for (const Element each : mt::all_elements) {
      if (mt::all_tippers.contains(each)) row.values[each] *= 30.0;
      if (mt::all_impedances.contains(each)) row.values[each] *= 1e-4;
    }
  const std::string page = page_of(stations);
  CHECK_THAT(page, Contains("Colours end without regard to s2, of which check finds an error"));
  CHECK_THAT(page, Contains(" values lie beyond; triangles at the ends of the axes"));
  const SurveyMap map = map_of(stations);
  const ShownData data = line_data(stations, *line_of(stations, map, {}, 0.0), 1);
  const auto tippers = [&](const std::set<std::string>& without) {
    return observed_pseudosections(data, {Shown::tipper_re}, "Tipper", without).svg();
  };
  CHECK_THAT(tippers({}), !Contains(">−0.3</text>"));
  CHECK_THAT(tippers({"s2"}), Contains(">−0.3</text>"));
  CHECK(tippers({"s0", "s1", "s2", "s3", "s4"}) == tippers({}));
}

TEST_CASE("survey: the page has all pictures, tables and findings, with names escaped") {
  std::vector<mt::StationData> stations = line_of_stations();
  stations[1].site.name = "<script>x</script>&";
  const OutputFolder folder;
  const auto path = write_survey_report(folder / "survey", stations, {}, "A & B", "made");
  CHECK(path == folder / "survey/report.html");
  const std::string page = test::slurp(path);
  CHECK_THAT(
      page, Contains("&lt;script&gt;x&lt;/script&gt;&amp;") && !Contains("<script") && Contains("A &amp; B"));
  CHECK_THAT(page, !Contains("src=") && !Contains("url(") && !Contains("<link"));
  CHECK_FALSE(std::regex_search(page, std::regex("[^i]nan")));  // "determinant" is a word of the page
  CHECK_THAT(page, Contains("<td>Stations with a tipper</td><td>5 of 5</td>") && Contains("5 of EDI"));
  CHECK_THAT(page, Contains("azimuth 90°") || Contains("azimuth 89°"));
  for (const char* id :
       {"summary", "map", "stations", "findings", "strike", "sections", "tensors", "arrows", "soundings"})
    CHECK_THAT(page, Contains("<h2 id=\"" + std::string(id) + "\""));
  for (const char* name : {"map", "strike", "pseudosections", "pseudosections_tipper", "phase_tensor_section",
                           "phase_tensors", "induction_arrows", "soundings_1"})
    CHECK(test::slurp(folder / "survey/pictures" / (std::string(name) + ".png")).rfind("\x89PNG", 0) == 0);
  CHECK(occurrences(page, "<svg") == occurrences(page, "</svg>"));
}

TEST_CASE("survey: what stations lack is said in the place of its picture") {
  std::vector<mt::StationData> stations = line_of_stations();
  drop(stations, mt::all_tippers);
  CHECK_THAT(page_of(stations), Contains("no station has a tipper") && !Contains("Tipper Tzy"));
  drop(stations, {Element::zxx, Element::zyy});
  CHECK_THAT(page_of(stations),
             Contains("no station has all four impedances") && Contains("There is no strike"));
  drop(stations, mt::all_impedances);
  CHECK_THAT(page_of(stations), Contains("There is no pseudosection"));

  stations = line_of_stations();
  for (mt::StationData& each : stations) each.site.latitude_deg = each.site.longitude_deg = mt::not_given;
  CHECK_THAT(page_of(stations), Contains("There is no map") && Contains("There are no sections") &&
                                    Contains("no maps of phase tensors") && Contains("id=\"soundings\""));
  stations[0].site.latitude_deg = -20.0;
  stations[0].site.longitude_deg = 15.0;
  CHECK_THAT(page_of(stations), Contains("4 stations without coordinates stand on no map"));
  CHECK_THAT(page_of({stations[0]}), Contains("There are no sections") && Contains("Map of 1 site<"));
  for (mt::StationRow& row : stations[0].rows) row.errors = mt::StationRow::missing_errors();
  CHECK_THAT(page_of({stations[0]}), Contains("<td>none</td>"));
  mt::StationData empty;
  empty.site.name = "empty";
  CHECK_THAT(page_of({empty}), Contains("no station has data"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)page_of({}); }), tests::HasId("no_station"));
}

TEST_CASE("survey: curves of many stations stand on pages of their own") {
  const OutputFolder folder;
  write_survey_report(folder / "survey", line_of_stations(), {.stations_per_page = 2}, "Survey", "made");
  const std::string page = test::slurp(folder / "survey/report.html");
  CHECK_THAT(page, Contains("<a href=\"soundings_3.html\">s4 to s4</a>") && !Contains("soundings_4.html"));
  CHECK_THAT(test::slurp(folder / "survey/soundings_2.html"),
             Contains(">s2<") && Contains(">s3<") && !Contains(">s4<"));
}

TEST_CASE("survey: maps have the wanted periods, colours and convention") {
  const std::string page = page_of(
      line_of_stations(),
      {.periods_s = {0.5, 5.0}, .arrows = mt::ArrowConvention::wiese, .ellipses = EllipseFill::min_phase});
  CHECK_THAT(page, Contains(">0.5 s: 5 sites<") && Contains(">5 s: 5 sites<") && !Contains(">1 s: 5 sites<"));
  CHECK_THAT(page, Contains("Smallest phase") && !Contains("Skew β (°)") && Contains("convention of Wiese"));
}

TEST_CASE("roses: both quadrants of an ambiguous strike are drawn in different shades") {
  mt::StrikeBand band{.min_period_s = 1.0, .max_period_s = 10.0};
  band.strike = mt::Strike{
      .azimuth_deg = 20.0, .error_deg = 3.0, .rms = 1.0, .worst_rms = 20.0, .n_rows = 50, .n_freedom = 199};
  band.of_stations = {*band.strike};
  const std::string svg = strike_roses({band}).svg();
  CHECK(occurrences(svg, "fill=\"#296ba8\"") == 3);  // two petals and the legend
  CHECK(occurrences(svg, "fill=\"#adcce8\"") == 3);
  CHECK_THAT(svg, Contains("20 or 110 ± 3°") && !Contains("of their tippers"));
  band.tipper = mt::TipperStrike{.azimuth_deg = 15.0, .share_along = 0.2, .n_rows = 4};
  band.tippers_of_stations = {*band.tipper};
  CHECK_THAT(strike_roses({band}).svg(),
             Contains("15°, 20 % along it") && Contains("strike of their tippers"));
}

TEST_CASE("contours: lines run where the values reach a level, and close around a peak") {
  ContourGrid plane{Eigen::MatrixXd(4, 5), Eigen::MatrixXd(4, 5), Eigen::MatrixXd(4, 5)};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 5; ++j) {
      plane.x(i, j) = 10.0 * j;
      plane.y(i, j) = 10.0 * i;
      plane.value(i, j) = j;
    }
  const auto lines = contour_lines(plane, 1.5);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() == 4);
  for (const Point& each : lines[0]) CHECK(each.x == Approx(15.0));
  CHECK(contour_lines(plane, 7.0).empty());

  ContourGrid peak = plane;
  peak.value.setZero();
  peak.value(1, 2) = 1.0;
  const auto ring = contour_lines(peak, 0.5);
  REQUIRE(ring.size() == 1);
  CHECK(ring[0].size() == 5);
  CHECK(ring[0].front().x == Approx(ring[0].back().x));
  peak.value(1, 2) = std::nan("");
  CHECK(contour_lines(peak, 0.5).empty());

  ContourGrid saddle{Eigen::MatrixXd{{0.0, 1.0}, {0.0, 1.0}}, Eigen::MatrixXd{{0.0, 0.0}, {1.0, 1.0}},
                     Eigen::MatrixXd{{1.0, 0.0}, {0.0, 1.0}}};
  // The mean of 0.5 tells which corners belong together: below it lines go around the low ones.
  const auto is_around_low_corner = [](const std::vector<Point>& line) {
    return (line.front().x - line.front().y) * (line.back().x - line.back().y) > 0.0;
  };
  const auto low = contour_lines(saddle, 0.4), high = contour_lines(saddle, 0.6);
  CHECK(low.size() == 2);
  CHECK(std::ranges::all_of(low, is_around_low_corner));
  CHECK(high.size() == 2);
  CHECK(std::ranges::none_of(high, is_around_low_corner));
  saddle.x.resize(1, 2);
  CHECK_THAT(tests::error_of<core::ShapeError>([&] { (void)contour_lines(saddle, 0.4); }),
             tests::HasId("wrong_grid", {"1"}));
}

TEST_CASE("contours: a section has them on demand") {
  const inversion::Outcome outcome = test::synthetic_result({.n_stations = 5, .n_frequencies = 6});
  const std::string plain = section_picture(outcome).svg(),
                    with = section_picture(outcome, {.contours = true}).svg();
  CHECK(occurrences(with, "stroke-opacity=\"0.8\"") > 2);
  CHECK(occurrences(plain, "stroke-opacity=\"0.8\"") == 0);
}

TEST_CASE("history: misfit against roughness has a number at each iteration") {
  inversion::Outcome outcome = test::synthetic_result({.n_stations = 5, .n_frequencies = 6});
  const std::string svg = trade_off_picture(outcome).svg();
  CHECK_THAT(svg, Contains(">Roughness<") && Contains(">rms<") &&
                      Contains(">" + std::to_string(outcome.history.back().iteration) + "<"));
  outcome.history.resize(1);
  CHECK(trade_off_picture(outcome).height() == 0.0);
}

TEST_CASE("canvas: dots and segments are one path each, and texts are shortened to a width") {
  Canvas canvas(50.0, 50.0);
  canvas.dots({{1.0, 2.0}, {3.0, 4.0}, {std::nan(""), 1.0}}, 5.0, {1.0, 0.0, 0.0}, DotShape::square);
  canvas.segments({{0.0, 0.0}, {1.0, 1.0}, {2.0, 2.0}, {3.0, std::nan("")}}, {});
  CHECK_THAT(canvas.svg(), Contains("d=\"M1 2h0M3 4h0\"") && Contains("stroke-linecap=\"square\"") &&
                               Contains("d=\"M0 0L1 1\""));
  const OutputFolder folder;
  canvas.write_png(folder / "dots.png");
  CHECK(shortened("short", 100.0, {}) == "short");
  const std::string cut = shortened("a name of many, many characters: ρρρρρρρρ", 60.0, {});
  CHECK(cut.ends_with("…"));
  CHECK(text_width(cut, {}) <= 60.0);
}

namespace {

/// Returns the boxes of the names in a picture whose texts begin so, from their places and their letters.
std::vector<Box> boxes_of_names(const std::string& svg, const std::string& beginning) {
  std::vector<Box> boxes;
  const std::regex text("<text x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" font-size=\"8.5\"[^>]*>(" + beginning +
                        "[^<]*)</text>");
  for (auto found = std::sregex_iterator(svg.begin(), svg.end(), text); found != std::sregex_iterator();
       ++found) {
    const double size = 8.5, base = std::stod((*found)[2]);
    boxes.push_back({std::stod((*found)[1]), base - 0.73 * size, text_width((*found)[3], {.size = size}),
                     0.97 * size});  // with descenders
  }
  return boxes;
}

}  // namespace

TEST_CASE("survey: no two names of a map overlap, none is far from a named site, and all are hints") {
  std::vector<mt::StationData> stations;
  for (int k = 0; k < 150; ++k)  // along a diagonal, where neighbours take the places beside their marks
    stations.push_back(station(fmt::format("diagonal{:03}", k), -20.0 - 0.02 * k, 15.0 + 0.02 * k));
  for (int k = 0; k < 40; ++k)
    stations.push_back(station(fmt::format("diagonal_c{:02}", k), -20.5 - 0.01 * (k % 7), 17.0 + 0.012 * k));
  const SiteMap map = site_map(stations, map_of(stations), {});
  const std::string svg = map.picture.svg();
  const std::vector<Box> names = boxes_of_names(svg, "diagonal");
  CHECK(names.size() == stations.size() - static_cast<std::size_t>(map.n_names_left_out));
  CHECK(names.size() > 15);
  CHECK(map.n_names_left_out > 0);
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = a + 1; b < names.size(); ++b)
      CHECK_FALSE((names[a].x < names[b].x + names[b].width && names[b].x < names[a].x + names[a].width &&
                   names[a].y < names[b].y + names[b].height && names[b].y < names[a].y + names[a].height));
  for (const mt::StationData& each : stations)
    CHECK_THAT(svg, Contains("<title>" + each.site.name + "</title>"));
  int last = -1, longest_gap = 0;
  for (int k = 0; k < 150; ++k)
    if (svg.find(fmt::format(">diagonal{:03}</text>", k)) != std::string::npos) {
      longest_gap = std::max(longest_gap, k - last);
      last = k;
    }
  CHECK(longest_gap <= 15);
}
