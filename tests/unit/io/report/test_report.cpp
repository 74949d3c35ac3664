// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/markup.hpp"
#include "inversion/mt/distortion.hpp"
#include "inversion/mt/tables.hpp"
#include "io/report/axes.hpp"
#include "io/report/html.hpp"
#include "io/report/layers.hpp"
#include "io/report/misfit.hpp"
#include "io/report/mt_data.hpp"
#include "io/report/mt_pseudosections.hpp"
#include "io/report/mt_soundings.hpp"
#include "io/report/report.hpp"
#include "io/report/rows.hpp"
#include "io/report/slice.hpp"
#include "io/report/tables.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::io::report;
using Catch::Matchers::Contains;
using lodestone::test::occurrences;
using test::OutputFolder;
namespace mt = physics::mt;

namespace {

const test::SyntheticOptions small{.n_stations = 5, .n_frequencies = 6, .n_columns = 12, .n_rows = 10};

bool is_png(const std::filesystem::path& path) {
  return test::slurp(path).rfind("\x89PNG\r\n\x1a\n", 0) == 0;
}

double step_size(const ColourMap& map, double at, double step) {
  const OkLab p = to_oklab(map.at(at)), q = to_oklab(map.at(at + step));
  return std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b);
}

}  // namespace

TEST_CASE("colours: conductive is red, resistive blue, and equal steps look equal") {
  const ColourMap& map = resistivity_colours();
  CHECK(map.at(0.0).red > 2.0 * map.at(0.0).blue);
  CHECK(map.at(1.0).blue > 2.0 * map.at(1.0).red);
  constexpr double step = 2.0 / 127.0;
  const double typical = step_size(map, 8.0 / 127.0, step);
  for (int level = 0; level + 2 <= 127; ++level) {
    const double size = step_size(map, level / 127.0, step);
    CHECK(size < 1.05 * typical);
    CHECK(size > 0.5 * typical);  // less than typical only where the path turns (0.52 there)
  }
}

TEST_CASE("colours: the resistivity map is lightest in the middle and darkens evenly to both ends") {
  const ColourMap& map = resistivity_colours();
  double lightest_at = 0.0;
  int n_turns = 0;
  for (int k = 1; k < 127; ++k) {
    const double before = to_oklab(map.at((k - 1) / 127.0)).lightness,
                 here = to_oklab(map.at(k / 127.0)).lightness,
                 after = to_oklab(map.at((k + 1) / 127.0)).lightness;
    if ((here - before) * (after - here) < 0.0) {
      ++n_turns;
      lightest_at = k / 127.0;
    }
  }
  CHECK(n_turns == 1);
  CHECK(lightest_at == Approx(0.5).margin(0.1));
}

TEST_CASE("colours: values outside are clamped and missing values grey") {
  const ColourMap& map = phase_colours();
  CHECK(map.at(-3.0).blue == map.at(0.0).blue);
  CHECK(map.at(7.0).red == map.at(1.0).red);
  CHECK(map.at(std::nan("")).red == map.at(std::nan("")).blue);
}

TEST_CASE("axes: ticks stand at round numbers and decades") {
  const auto linear = ticks({-37.8, 794.0, Scale::linear, "", TickLabels::shown, 8});
  CHECK(linear.front().label == "0");
  CHECK(linear.back().label == "700");
  const auto logarithmic = ticks({1e3, 0.5, Scale::log10});
  CHECK(std::count_if(logarithmic.begin(), logarithmic.end(),
                      [](const Tick& tick) { return !tick.label.empty(); }) == 4);
  CHECK(tick_label(-0.25) == "−0.25");
  CHECK(tick_label(1e-7) == "10⁻⁷");
  CHECK(tick_label(2e9) == "2·10⁹");
  CHECK(ticks({0.0, 0.0}).empty());
  CHECK(ticks({0.0, std::nan("")}).empty());
  CHECK(ticks({-1.0, 1.0, Scale::log10}).empty());
}

TEST_CASE("axes: every one has two labels at least, however small its range") {
  const auto n_labels = [](const Axis& axis) {
    const std::vector<Tick> all = ticks(axis);
    const double slack = 1e-6 * std::max(std::abs(axis.first), std::abs(axis.last));
    for (const Tick& tick : all) {
      CHECK(tick.value >= std::min(axis.first, axis.last) - slack);
      CHECK(tick.value <= std::max(axis.first, axis.last) + slack);
    }
    return std::ranges::count_if(all, [](const Tick& tick) { return !tick.label.empty(); });
  };
  for (const int n_ticks : {1, 2, 3, 4, 6, 10})
    for (const double first : {1.3e-4, 0.21, 1.01, 2.1, 6.3, 77.0, 5.1e3})
      for (const double factor : {1.05, 1.3, 1.8, 2.3, 4.5, 9.0, 40.0, 300.0, 1e4, 3e7, 1e14}) {
        INFO(first << " times " << factor << ", " << n_ticks << " ticks");
        const double last = first * factor;
        const auto logarithmic = n_labels({last, first, Scale::log10, "", TickLabels::shown, n_ticks});
        CHECK(logarithmic >= 2);
        CHECK(logarithmic <= 2 * n_ticks + 6);
        CHECK(n_labels({first, last, Scale::linear, "", TickLabels::shown, n_ticks}) >= 2);
      }
  CHECK(n_labels({-0.4, 1.4, Scale::linear, "Iteration", TickLabels::shown, 1}) == 2);
  CHECK(n_labels({80.0, 10.0, Scale::linear, "Phase", TickLabels::shown, 4, 90.0}) >= 2);
}

TEST_CASE("axes: numbers and periods are written without exponents") {
  CHECK(period_text(1000.0) == "1000 s");
  CHECK(period_text(2941.1) == "2941 s");
  CHECK(period_text(0.003136) == "0.00314 s");
  CHECK(period_text(1e-5) == "0.00001 s");
  CHECK(period_text(25.0) == "25 s");
  CHECK(plain_number(123456.7) == "123457");
  CHECK(plain_number(-1.0 / 3.0) == "-0.3333");
  CHECK(plain_number(0.0) == "0");
  CHECK(plain_number(1e12) == "1e+12");
  CHECK(plain_number(std::nan("")) == "nan");
}

TEST_CASE("canvas: the same picture becomes SVG text and a PNG file") {
  const OutputFolder folder;
  Canvas canvas(100.0, 50.0);
  canvas.rectangle({1.0, 2.0, 30.0, 20.0}, {Color{1.0, 0.0, 0.0}, Stroke{{0.0, 0.0, 1.0}, 2.0, {3.0, 1.0}}});
  canvas.text({5.0, 5.0}, "ρ < 3 & \"x\"", {.rotation_deg = 90.0});
  canvas.begin_clip({0.0, 0.0, 10.0, 10.0});
  canvas.circle({3.0, 3.0}, 2.0, {{}, Stroke{}});
  canvas.end_clip();
  const std::string svg = canvas.svg();
  CHECK_THAT(svg, Contains("fill=\"#ff0000\"") &&
                      Contains("stroke=\"#0000ff\" stroke-width=\"2\" stroke-dasharray=\"3 1\""));
  CHECK_THAT(svg, Contains("ρ &lt; 3 &amp; &quot;x&quot;") && Contains("rotate(-90)"));
  CHECK(occurrences(svg, "<svg") == occurrences(svg, "</svg>"));
  canvas.write_png(folder / "x.png", 2.0);
  REQUIRE(is_png(folder / "x.png"));
  const std::string png = test::slurp(folder / "x.png");
  CHECK(static_cast<unsigned char>(png[19]) == 200);
  CHECK(static_cast<unsigned char>(png[23]) == 100);
  canvas.write_svg(folder / "x.svg");
  CHECK(test::slurp(folder / "x.svg").rfind("<?xml", 0) == 0);
}

TEST_CASE("canvas: coordinates that are not finite are left out") {
  Canvas canvas(10.0, 10.0);
  const double nan = std::nan("");
  canvas.line({nan, 0.0}, {1.0, 1.0}, {});
  canvas.circle({0.0, INFINITY}, 1.0, {});
  canvas.text({nan, nan}, "gone");
  canvas.cell({{0.0, 0.0}, {1.0, nan}, {1.0, 1.0}}, {});
  CHECK_THAT(canvas.svg(), !Contains("nan") && !Contains("inf") && !Contains("gone") && !Contains("<path"));
}

TEST_CASE("html: markup, control characters and broken UTF-8 are made harmless") {
  CHECK(core::escaped("<b a=\"1\">&</b>") == "&lt;b a=&quot;1&quot;&gt;&amp;&lt;/b&gt;");
  CHECK(core::escaped("ρₐ → Ω") == "ρₐ → Ω");
  CHECK(core::escaped(std::string("a\x01\xff\xc3", 4)) == "a???");
  CHECK(core::escaped("a\x7F"
                      "b\xC2\x9B"
                      "c") == "a?b?c");
  CHECK(core::escaped("\xED\xA0\x80 \xC0\xAF \xEF\xBF\xBE") == "??? ?? ???");
  CHECK(html_table({"<h>"}, {{"1"}}) ==
        "<table>\n<tr><th>&lt;h&gt;</th></tr>\n<tr><td>1</td></tr>\n</table>\n");
}

TEST_CASE("display: impedances show the same as apparent resistivity and phase") {
  const inversion::Outcome direct = test::synthetic_result(small);
  test::SyntheticOptions options = small;
  options.with_impedance = true;
  const inversion::Outcome impedance = test::synthetic_result(options);
  const ShownData a = *shown_data(direct), b = *shown_data(impedance);
  for (const Shown shown : {Shown::rho_te, Shown::phase_te, Shown::rho_tm, Shown::phase_tm}) {
    CHECK(a.has(shown));
    CHECK(b.has(shown));
    CHECK(b.at(shown, 3, 2).predicted == Approx(a.at(shown, 3, 2).predicted));
    CHECK(b.at(shown, 3, 2).sigma ==
          Approx(a.at(shown, 3, 2).sigma).epsilon(0.35));  // the floor is of the noisy |Z|
  }
  CHECK_FALSE(a.has(Shown::tipper_re));
  CHECK(b.has(Shown::tipper_re));
  CHECK(a.at(Shown::phase_tm, 0, 0).predicted > 0.0);
  CHECK(a.at(Shown::phase_tm, 0, 0).predicted < 90.0);
}

TEST_CASE("display: determinants have panels of their own, whose phases differ by less than half a turn") {
  mt::Observations data;
  data.survey =
      mt::full_survey({{"a", 0.0}}, {1.0, 10.0}, {mt::datum("log10_rho_det"), mt::datum("phase_det")});
  data.value = Eigen::Vector4d(2.0, 1.0, 1.5, -1.5);  // rad: the second phase is 86 degrees below zero
  data.sigma = data.sigma_measured = Eigen::Vector4d::Constant(0.1);
  data.reason.assign(4, mt::MaskReason::kept);
  const ShownData shown(data, Eigen::Vector4d(2.1, 1.0, 1.4, 1.5));
  CHECK(shown.at(Shown::rho_det, 0, 0).residual == Approx(-1.0));
  CHECK(shown.at(Shown::phase_det, 0, 0).observed == Approx(1.5 * mt::deg_per_rad));
  CHECK(shown.at(Shown::phase_det, 1, 0).residual == Approx((std::numbers::pi - 3.0) / 0.1));
  const std::string sheet = sounding_sheet(shown, {0}, 1).svg();
  CHECK_THAT(sheet, Contains("ρₐ det") && Contains("Phase det") && Contains("determinant observed") &&
                        Contains("determinant predicted"));
  CHECK_THAT(sheet, !Contains("TE observed"));
}

TEST_CASE("display: residuals are those of the result, none where masked") {
  const inversion::Outcome result = test::synthetic_result(small);
  const ShownData data = *shown_data(result);
  const Eigen::VectorXd residual = inversion::normalized_residuals(result.data, result.predicted);
  for (Eigen::Index k = 0; k < 60; ++k) {
    const mt::Observations observed = *inversion::mt::observations(result.data, result.sites);
    const mt::DatumKey& key = observed.survey.keys[static_cast<std::size_t>(k)];
    const ShownDatum datum =
        data.at(key.quantity == mt::Datum::log10_rho_xy ? Shown::rho_te : Shown::phase_te, key.frequency,
                key.station);
    CHECK(datum.kept == std::isfinite(residual[k]));
    if (datum.kept) {
      CHECK(datum.residual == Approx(residual[k]));
    } else {
      CHECK(std::isnan(datum.residual));
    }
  }
}

TEST_CASE("section picture: colours of cells, station names and scales are in the picture") {
  const inversion::Outcome result = test::synthetic_result(small);
  const std::string svg = section_picture(result, {.min_log10 = 0.0, .max_log10 = 4.0}).svg();
  CHECK_THAT(svg, Contains("Resistivity (ohm m)") && Contains("Distance along profile (km)") &&
                      Contains(">kim440<") && Contains("vertical exaggeration"));
  const Color expected = resistivity_colours().at(result.model.values[0] / 4.0);
  CHECK_THAT(svg, Contains(fmt::format("#{:02x}{:02x}{:02x}", std::lround(255 * expected.red),
                                       std::lround(255 * expected.green), std::lround(255 * expected.blue))));
}

TEST_CASE("section picture: the directions of the ends of the profile are written below it") {
  const inversion::Outcome result = test::synthetic_result(small);
  CHECK_THAT(section_picture(result).svg(), Contains(">SE<") && Contains(">NW<"));
  const SectionPanel no_map{"no map", result.model, {}, {}};
  SectionPanel west = no_map, east = no_map;
  west.ends = {"E", "W"};
  east.ends = {"W", "E"};
  CHECK_THAT(sections_picture({no_map}).svg(), !Contains(">W<"));
  CHECK_THAT(sections_picture({east, no_map}).svg(), Contains(">W<") && Contains(">E<"));
  CHECK_THAT(sections_picture({east, west}).svg(), !Contains(">W<"));
  const auto ends = [](double azimuth_deg) {
    const LineEnds found = ends_of({.projection = "+proj=utm", .azimuth_deg = azimuth_deg});
    return found.first + "–" + found.last;
  };
  CHECK(ends(90.0) == "W–E");
  CHECK(ends(0.0) == "S–N");
  CHECK(ends(359.0) == "S–N");
  CHECK(ends(-80.0) == "E–W");
  CHECK(ends(149.5) == "NW–SE");
  CHECK(ends_of({.azimuth_deg = 90.0}) == LineEnds{});
}

TEST_CASE(
    "section picture: the upper part says so, values beyond the colours and cells without a value are "
    "marked") {
  inversion::Outcome result = test::synthetic_result(small);
  const SectionPictureOptions wide{.min_log10 = -3.0, .max_log10 = 8.0};
  CHECK_THAT(section_picture(result, wide).svg(), !Contains("upper") && !Contains("white"));
  SectionPictureOptions shallow = wide;
  shallow.max_depth_m = result.model.earth.grid.z_edges_m().front() + 25.0;
  CHECK_THAT(section_picture(result, shallow).svg(),  // in the unit of both axes
             Contains("Resistivity section, upper 0.025 km, rms") && Contains("(km)<") && !Contains("(m)<"));
  const auto filled = [&](const SectionPictureOptions& options) {
    return occurrences(section_picture(result, options).svg(), "z\" fill=\"#");
  };
  SectionPictureOptions low = wide, both = wide;
  low.min_log10 = both.min_log10 = 2.0;
  both.max_log10 = 2.1;
  CHECK(filled(low) == filled(wide) + 1);
  CHECK(filled(both) == filled(wide) + 2);
  result.model.values[3] = std::nan("");
  CHECK_THAT(section_picture(result, wide).svg(), Contains("white: no value"));
}

TEST_CASE("colour bars: an end beyond which there are values has a triangle") {
  const auto shapes = [](double least, double most) {
    Canvas canvas(100.0, 200.0);
    draw_colour_bar(canvas, {20.0, 20.0, 10.0, 100.0}, residual_colours(), {4.0, -4.0},
                    Clipped::of(least, most, -4.0, 4.0));
    return occurrences(canvas.svg(), "<path d=");
  };
  CHECK(shapes(-4.0, 4.0) == shapes(std::nan(""), std::nan("")));
  CHECK(shapes(-9.0, 4.0) == shapes(-4.0, 4.0) + 1);
  CHECK(shapes(-9.0, 4.5) == shapes(-4.0, 4.0) + 2);
}

TEST_CASE("soundings: the legend stands on every sheet and names only what the data have") {
  const inversion::Outcome both = test::synthetic_result(small);
  CHECK_THAT(sounding_sheet(*shown_data(both), {0, 1}).svg(),
             Contains("TE observed") && Contains("TM predicted") && !Contains("tipper"));
  test::SyntheticOptions options = small;
  options.with_impedance = true;
  const inversion::Outcome tipper = test::synthetic_result(options);
  CHECK_THAT(sounding_legend(*shown_data(tipper)).svg(), Contains("tipper, real"));
  inversion::Outcome te = both;
  mt::Observations data = *inversion::mt::observations(both.data, both.sites);
  std::erase_if(data.survey.keys,
                [](const mt::DatumKey& key) { return mt::mode_of(key.quantity) == mt::Mode::tm; });
  const auto n = static_cast<Eigen::Index>(data.survey.keys.size());  // the quantities of TE come first
  for (Eigen::VectorXd* each : {&data.value, &data.sigma, &te.predicted}) each->conservativeResize(n);
  data.reason.resize(data.survey.keys.size());
  data.interpolated.resize(data.survey.keys.size());
  te.data = data.data_set();
  CHECK_THAT(sounding_legend(*shown_data(te)).svg(), Contains("TE observed") && !Contains("TM") &&
                                                         Contains(">TE predicted<") &&
                                                         !Contains(">predicted<"));
}

TEST_CASE("soundings: the legend breaks into rows that windows of 400 pixels hold") {
  test::SyntheticOptions options = small;
  options.with_impedance = true;
  const inversion::Outcome tipper = test::synthetic_result(options);
  const ShownData data = *shown_data(tipper);
  const Canvas legend = sounding_legend(data), one_site = sounding_sheet(data, {0});
  CHECK(legend.width() <= 400.0);
  CHECK(legend.height() >= 48.0);  // seven entries
  CHECK(one_site.width() == legend.width());
  CHECK(one_site.height() == Approx(sounding_picture(data, 0).height() + legend.height()));
  CHECK_THAT(legend.svg(), Contains("TM observed") && Contains("not used") && Contains("TM predicted"));
}

TEST_CASE("pictures: data that are not used stretch no axis") {
  const inversion::Outcome result = test::synthetic_result(small);
  mt::Observations data = *inversion::mt::observations(result.data, result.sites);
  const ShownData all(data, result.predicted);
  const int longest = all.frequencies_by_period().back();
  for (std::size_t k = 0; k < data.survey.keys.size(); ++k) {
    const mt::DatumKey& key = data.survey.keys[k];
    if (key.frequency == longest) data.reason[k] = mt::MaskReason::listed;
    if (key.station != 0 || key.frequency != 2 || key.quantity != mt::Datum::log10_rho_xy) continue;
    data.reason[k] = mt::MaskReason::listed;
    data.value[static_cast<Eigen::Index>(k)] = -9.0;
  }
  const ShownData masked(data, result.predicted);
  CHECK_THAT(sounding_picture(masked, 0).svg(), !Contains("10⁻⁸") && !Contains("10⁻⁹"));
  REQUIRE(masked.used_frequencies().size() + 1 == all.used_frequencies().size());
  CHECK(masked.used_frequencies().back() != longest);
  inversion::Outcome outcome = result;
  outcome.data = data.data_set();
  const std::string label = ">" + period_text(masked.period_s(longest)) + "<";
  CHECK_THAT(misfit_picture(result).svg(), Contains(label));
  CHECK_THAT(misfit_picture(outcome).svg(), !Contains(label));
  std::ranges::fill(data.reason, mt::MaskReason::listed);
  CHECK(ShownData(data, result.predicted).used_frequencies().size() == 6);  // none is used: all are shown
}

TEST_CASE("section picture: several panels share the scales, a veil covers what is deep") {
  const inversion::Outcome result = test::synthetic_result(small);
  const SectionPanel panel{"first", result.model, {}, {}};
  SectionPanel second = panel;
  second.title = "second";
  const Canvas one = sections_picture({panel}),
               two = sections_picture({panel, second}, {.mask_below_m = 20.0});
  CHECK(two.height() > 1.5 * one.height());
  CHECK_THAT(two.svg(), Contains("first") && Contains("second") && Contains("fill-opacity=\"0.62\""));
  SectionPanel hatched = panel;
  hatched.investigated = Eigen::VectorXd::Ones(hatched.section.earth.grid.n_cells());
  CHECK(sections_picture({hatched}).svg() == one.svg());  // all is seen
  hatched.investigated.tail(hatched.section.earth.grid.n_y()).setZero();
  CHECK(occurrences(sections_picture({hatched}).svg(), "<path") >
        occurrences(one.svg(), "<path") + static_cast<std::size_t>(hatched.section.earth.grid.n_y()));
  hatched.investigated.conservativeResize(2);
  CHECK_THROWS_AS(sections_picture({hatched}), core::ShapeError);
  CHECK_THROWS_AS(sections_picture({}), core::InvalidArgument);
  namespace mesh = physics::mesh;
  const mesh::Earth volume{mesh::TensorGrid(mesh::Edges{{0, 1, 2}, {0, 1}, {0, 1}})};
  const SectionPanel of_volume{"volume", mesh::resistivity_model(volume, Eigen::Vector2d(1, 2)), {}, {}};
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { static_cast<void>(sections_picture({of_volume})); }),
      tests::HasId("not_a_section", {"3"}));
  second.station_names = {"a"};
  CHECK_THROWS_AS(sections_picture({second}), core::ShapeError);
}

TEST_CASE("pictures: models and data that are not finite, fully masked or of one station break nothing") {
  inversion::Outcome result = test::synthetic_result(small);
  result.model.values.setConstant(std::nan(""));
  core::DataSetParts parts = result.data.parts();
  parts.reason.assign(parts.reason.size(), static_cast<int>(mt::MaskReason::listed));
  result.data = core::DataSet(std::move(parts));
  result.predicted.setConstant(std::nan(""));
  const inversion::Outcome lone =
      test::synthetic_result({.n_stations = 1, .n_frequencies = 1, .n_columns = 2, .n_rows = 2});
  for (const inversion::Outcome* each : {&std::as_const(result), &lone}) {
    const ShownData data = *shown_data(*each);
    for (const std::string& svg :
         {section_picture(*each).svg(), pseudosection_picture(data, Shown::rho_te).svg(),
          pseudosection_picture(data, Shown::phase_tm).svg(), sounding_picture(data, 0).svg(),
          misfit_picture(*each).svg(), history_picture(*each).svg()}) {
      CHECK_THAT(svg, !Contains("\"nan") && !Contains(" nan") && !Contains("inf\"") && !Contains("Mnan"));
    }
  }
}

TEST_CASE("report: one self-contained page and the pictures as PNG") {
  const OutputFolder folder;
  const inversion::Outcome result = test::synthetic_result(small);
  CHECK(io::report::write_report(folder.path(), result) == folder / "report.html");
  const std::string page = test::slurp(folder / "report.html");
  CHECK_THAT(page, Contains("Synthetic profile &lt;A &amp; B&gt;") && !Contains("<A & B>"));
  CHECK_THAT(page, !Contains("<script") && !Contains("src=") && !Contains("url(") && !Contains("<link"));
  CHECK_THAT(page, Contains("masked: out of quadrant") && Contains("stagnated: the rms fell") &&
                       Contains("padding doubled") && Contains("not passed"));
  CHECK_THAT(page, Contains("phase_range_deg = [-10.0, 100.0]") &&
                       Contains("mt_invert invert config.toml -o &quot;out dir&quot;"));
  CHECK_THAT(page,
             Contains("120 (12 columns × 10 rows)") && Contains("azimuth 329.5° (y), strike x along 239.5°"));
  CHECK(occurrences(page, "<svg") == occurrences(page, "</svg>"));
  CHECK(occurrences(page, "<table>") == occurrences(page, "</table>"));
  for (const char* name : {"section", "section_shallow", "pseudosection_te_apparent_resistivity",
                           "pseudosection_tm_phase", "soundings_1", "misfit", "history"}) {
    CHECK(is_png(folder / "pictures" / (std::string(name) + ".png")));
  }
}

TEST_CASE("report: each table of an outcome is a section, with its note and four digits") {
  const OutputFolder folder;
  inversion::Outcome result = test::synthetic_result(small);
  result.tables.push_back(inversion::mt::distortion_table(
      inversion::mt::observations(result.data, result.sites)->survey.stations,
      {{.keys = {{0, 0, 0}, {2, 1, 1}}}, 0.15}, Eigen::Vector2d(0.25, -1.0 / 3.0)));
  CHECK_THAT(table_of(result.tables.back().table),
             Contains("<th>shift decades</th>") &&
                 Contains("<td>kim440</td><td>TM</td><td>-0.3333</td><td>0.4642</td>"));
  io::report::write_report(folder.path(), result);
  CHECK_THAT(test::slurp(folder / "report.html"),
             Contains("id=\"static_shift\">Static shifts") && Contains("0 ± 0.15"));
}

TEST_CASE("report: the warnings of the run and a row of each station are in the page") {
  const OutputFolder folder;
  inversion::Outcome result = test::synthetic_result(small);
  io::report::write_report(folder.path(), result);
  CHECK_THAT(test::slurp(folder / "report.html"),
             !Contains("id=\"warnings\"") && Contains("id=\"stations\""));
  result.about.warnings = {{"mt::sites#close_sites", "a < b"}, {"", "no id"}};
  io::report::write_report(folder.path(), result);
  CHECK_THAT(
      test::slurp(folder / "report.html"),
      Contains("<td>a &lt; b</td><td>mt::sites#close_sites</td>") && Contains("<td>no id</td><td></td>"));
  const std::string table = station_table(result);
  CHECK(occurrences(table, "<tr>") == 6);
  CHECK_THAT(table, Contains("<th>Station</th><th>latitude (°)</th><th>longitude (°)</th>") &&
                        Contains("along the profile (km)</th><th>elevation (m)</th><th>data used</th>") &&
                        Contains("<td>kim438</td>"));
  const auto n_of_first = std::ranges::count(result.data.key().texts("site"), "kim438");
  long n_used = 0;
  for (Eigen::Index row = 0; row < result.data.size(); ++row)
    n_used += result.data.key().texts("site")[static_cast<std::size_t>(row)] == "kim438" &&
              result.data.is_used(row);
  CHECK_THAT(table, Contains(fmt::format("<td>{}</td><td>{}</td>", n_used, n_of_first - n_used)));
  CHECK(station_table(test::layers_of_density()).empty());
}

TEST_CASE("report: percentiles of models that do not fit the data are none of the earth") {
  const OutputFolder folder;
  inversion::Outcome result = test::synthetic_result(small);
  result.ending.target_rms = 1.0;
  const Eigen::VectorXd log10 = result.model.values;
  auto& ensemble = result.findings.uncertainty.emplace().ensemble.emplace();
  ensemble = {.p5_log10_resistivity = log10,
              .p50_log10_resistivity = log10,
              .p95_log10_resistivity = log10,
              .deviation_decades = Eigen::VectorXd::Constant(log10.size(), 0.1),
              .smallest_rms = 1.0,
              .largest_rms = 1.1,
              .n_samples = 20};
  const auto page = [&] {
    io::report::write_report(folder.path(), result);
    return test::slurp(folder / "report.html");
  };
  CHECK_THAT(page(), Contains("the truth lies between") && Contains("with 95 % probability"));
  ensemble.smallest_rms = 2.0;
  ensemble.largest_rms = 2.5;
  CHECK_THAT(page(), Contains("none of which fits") && Contains("5th percentile of the models") &&
                         !Contains("the truth lies between") && !Contains("% probability"));
}

TEST_CASE("report: layers of another property, and data without sites and periods, have a page") {
  const OutputFolder folder;
  const inversion::Outcome outcome = test::layers_of_density();
  CHECK_FALSE(shown_data(outcome));
  CHECK_THAT(layers_picture(outcome).svg(), Contains("Density (kg/m3)") && Contains("Depth (m)"));
  CHECK_THAT(rows_picture(outcome).svg(), Contains("Row of the data") && !Contains("nan"));
  CHECK_THAT(misfit_picture(outcome).svg(), Contains("all data"));
  io::report::write_report(folder.path(), outcome);
  CHECK_THAT(test::slurp(folder / "report.html"),
             Contains("5 (5 layers)") && Contains("masked: missing") && !Contains("agnetotelluric"));
  CHECK(is_png(folder / "pictures" / "model.png"));
  CHECK(is_png(folder / "pictures" / "data.png"));
}

TEST_CASE("report: the page of 36 sites and 20 periods stays below 6 MB") {
  const inversion::Outcome result = test::synthetic_result({});
  const ShownData data = *shown_data(result);
  std::size_t bytes = 2 * section_picture(result).svg().size() + misfit_picture(result).svg().size();
  for (const Shown shown : all_shown) {
    bytes += data.has(shown) ? pseudosection_picture(data, shown).svg().size() : 0;
  }
  bytes += 36 * sounding_picture(data, 7).svg().size();
  CHECK(bytes > 500'000);
  CHECK(bytes < 5'000'000);
}

TEST_CASE("report: a result without data, history or certificate has a page") {
  const OutputFolder folder;
  inversion::Outcome empty;
  empty.model.values = empty.start = Eigen::VectorXd::Constant(1, 2.0);
  io::report::write_report(folder.path(), empty);
  CHECK_THAT(test::slurp(folder / "report.html"), !Contains("No accuracy certificate was made"));
  inversion::Outcome result = test::synthetic_result(small);
  result.tables.clear();
  io::report::write_report(folder.path(), result);
  CHECK_THAT(test::slurp(folder / "report.html"), Contains("No accuracy certificate was made"));
}

TEST_CASE("report: unwritable and full folders are file errors without half a page") {
  const OutputFolder folder;
  const inversion::Outcome result = test::synthetic_result(small);
  io::report::Canvas(10.0, 10.0).write_svg(folder / "file");
  CHECK_THROWS_AS(io::report::write_report(folder / "file", result), core::FileError);
  {
    const test::FullDisk full(30000);
    CHECK_THROWS_AS(io::report::write_report(folder.path(), result), core::FileError);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "report.html"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    CHECK(entry.path().filename().string()[0] != '.');
  }
}
