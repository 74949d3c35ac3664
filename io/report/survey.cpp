// SPDX-License-Identifier: Apache-2.0
#include "io/report/survey.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/markup.hpp"
#include "io/report/mt_pseudosections.hpp"
#include "io/report/mt_soundings.hpp"
#include "io/report/page.hpp"
#include "io/report/roses.hpp"
#include "io/report/survey_data.hpp"
#include "io/report/survey_maps.hpp"
#include "io/report/survey_tables.hpp"
#include "io/survey/lines.hpp"
#include "physics/mt/analysis/check.hpp"
#include "physics/mt/analysis/map_periods.hpp"
#include "physics/mt/analysis/sounding_bands.hpp"
#include "physics/mt/analysis/strike_bands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr std::size_t most_maps = 6, stations_per_sheet = 12;
constexpr std::size_t most_findings_open = 30;
constexpr int periods_per_decade = 8;  // of pseudosections

/// A survey and what is found out before any picture.
struct Survey {
  std::vector<mt::StationData> stations{};  ///< x to the north
  SurveyMap map{};
  std::optional<SurveyLine> line{};
  std::vector<double> periods_s{};  ///< periods of maps
  std::vector<mt::Finding> findings{};
  std::vector<mt::StrikeBand> bands{};
};

Survey survey_of(const std::vector<mt::StationData>& stations, const SurveyOptions& options) {
  Survey survey{stations};
  survey.findings = mt::check(stations);
  io::survey::add_lines(survey.findings, stations);
  survey.bands = mt::strike_bands(stations);
  for (mt::StationData& station : survey.stations) rotate_rows(station, 0.0);
  survey.map = map_of(survey.stations);
  survey.line = line_of(survey.stations, survey.map, options.line, options.line_width_m);
  survey.periods_s =
      options.periods_s.empty() ? mt::map_periods(survey.stations, most_maps) : options.periods_s;
  return survey;
}

bool has_row_with(const std::vector<mt::StationData>& stations, mt::Elements elements) {
  return std::ranges::any_of(stations, [&](const mt::StationData& station) {
    return std::ranges::any_of(station.rows, [&](const mt::StationRow& row) {
      return std::ranges::all_of(mt::all_elements, [&](mt::Element each) {
        return !elements.contains(each) || !row.is_missing(each);
      });
    });
  });
}

std::string count_of(std::size_t n, const std::string& noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

void add_map(Page& page, const Survey& survey) {
  page.heading("map", "Map");
  if (survey.map.sites.empty())
    return page.paragraph(
        "There is no map: no station has coordinates (a latitude and longitude of 0, 0 count as none).");
  const SiteMap map = site_map(survey.stations, survey.map, survey.line);
  std::string caption = "Filled: with a tipper; hollow: without.";
  if (survey.map.projection) caption += " Lines: longitude and latitude (WGS84).";
  if (survey.line && survey.line->half_width_m) caption += " Dashed: the profile of the sections.";
  if (map.n_names_left_out > 0)
    caption += fmt::format(
        " {} of {} names find no room and are left out; the page shows them where one points at a site.",
        map.n_names_left_out, survey.map.sites.size());
  page.figure(map.picture, "map", caption);
  if (const std::size_t n = survey.stations.size() - survey.map.sites.size(); n > 0)
    page.paragraph(
        fmt::format("{} without coordinates stand{} on no map.", count_of(n, "station"), n == 1 ? "s" : ""));
}

void add_stations(Page& page, const Survey& survey) {
  page.heading("stations", "Stations");
  page.html("<div class=\"wide\">\n" + survey_stations(survey.stations, survey.map, survey.findings) +
            "</div>\n");
  page.paragraph(
      "Errors: share of the values that have one. 1-D, 2-D, 3-D: shares of the tensors by their phase "
      "tensor, "
      "beside their errors.");
}

void add_findings(Page& page, const Survey& survey) {
  page.heading("findings", "Findings of check");
  if (survey.findings.empty()) return page.paragraph("There are none.");
  page.html(fmt::format("<details{}><summary>{}</summary>\n<div class=\"wide\">\n{}</div>\n</details>\n",
                        survey.findings.size() <= most_findings_open ? " open" : "",
                        count_of(survey.findings.size(), "finding"), findings_table(survey.findings)));
}

void add_strike(Page& page, const Survey& survey) {
  page.heading("strike", "Dimension and strike");
  if (survey.bands.empty())
    return page.paragraph("There is no strike: no station has a complete impedance tensor or a tipper.");
  page.figure(
      strike_roses(survey.bands), "strike",
      "Petals: stations whose own strike is determined, by steps of 10°; areas count. Impedances leave an "
      "ambiguity of 90°, so that each stands in two quadrants, the second paler. Lines: the strike of all "
      "stations together, full and broken. Tippers have no ambiguity: over a section they have no part "
      "along strike.");
  page.html("<div class=\"wide\">\n" + bands_table(survey.bands) + "</div>\n");
}

/// Adds what the determinants of all impedances tell, decade by decade.
void add_invariants(Page& page, const Survey& survey) {
  const std::vector<mt::SoundingBand> bands = mt::sounding_bands(survey.stations);
  page.heading("invariants", "Soundings by decade");
  if (bands.empty())
    return page.paragraph("There are no soundings by decade: no station has all four impedances.");
  page.html("<div class=\"wide\">\n" + sounding_bands_table(bands) + "</div>\n");
  page.paragraph(
      "Medians of all impedances, which no rotation changes: apparent resistivity and phase of the "
      "determinant and of the sum of squares (SSQ), skews of Swift and of Bahr. Depths are those of the "
      "determinant by Niblett and Bostick; a tenth of the soundings is shallower than the first, and a tenth "
      "deeper than the second. Swift's skew is 0 over layers and undistorted sections, Bahr's (1991) over "
      "distorted ones as well; values above 0.3 of the latter are usually taken as those of a volume.");
}

/// Returns the names of the stations of which `check` finds an error.
std::set<std::string> stations_in_error(const Survey& survey) {
  std::set<std::string> names;
  for (const mt::Finding& finding : survey.findings)
    if (finding.severity == mt::Severity::error) {
      names.insert(finding.station);
      names.insert(finding.others.begin(), finding.others.end());
    }
  return names;
}

/// Returns what a caption says about the ends of colours.
std::string text_of_limits(const std::set<std::string>& in_error) {
  constexpr std::size_t most_named = 4;
  if (in_error.empty()) return {};
  const std::string which =
      in_error.size() > most_named
          ? fmt::format("the {} stations of which check finds an error", in_error.size())
          : fmt::format("{}, of which check finds an error", fmt::join(in_error, ", "));
  return " Colours end without regard to " + which + "; triangles at their ends: values lie beyond.";
}

std::string line_text(const Survey& survey) {
  const SurveyLine& line = *survey.line;
  if (!line.half_width_m)
    return "The files place the stations along a profile; xy is TE, with the electric field along strike, "
           "and yx "
           "is TM.";
  const LengthUnit unit = length_unit(line.y_m.back() - line.y_m.front());
  std::string text = fmt::format("The profile has the azimuth {:.0f}°. It shows {} within {} {} of it",
                                 line.azimuth_deg, count_of(line.stations.size(), "station"),
                                 plain_number(*line.half_width_m / unit.metres, 2), unit.name);
  if (line.n_beside > 0) text += fmt::format("; {} elsewhere are left out", line.n_beside);
  return text +
         fmt::format(
             ". Tensors are turned to a strike of {:.0f}°: TE is xy, with the electric field along strike, "
             "and TM is yx. Values are interpolated to {} periods a decade.",
             line.strike_deg < 0.0 ? line.strike_deg + 180.0 : line.strike_deg, periods_per_decade);
}

void add_sections(Page& page, const Survey& survey, const SurveyOptions& options) {
  page.heading("sections", "Pseudosections");
  if (!survey.line)
    return page.paragraph("There are no sections: fewer than two stations stand apart along a profile.");
  page.paragraph(line_text(survey));
  const ShownData data = line_data(survey.stations, *survey.line, periods_per_decade);
  std::set<std::string> in_error = stations_in_error(survey);
  std::erase_if(in_error, [&](const std::string& name) {
    return std::ranges::none_of(data.stations(), [&](const auto& station) { return station.name == name; });
  });
  const std::string limits = text_of_limits(in_error);
  const Canvas modes =
      observed_pseudosections(data, {Shown::rho_te, Shown::phase_te, Shown::rho_tm, Shown::phase_tm},
                              "Apparent resistivity and phase", in_error);
  if (data.n_stations() > 0 && modes.height() > 1.0)
    page.figure(modes, "pseudosections", "Grey: no datum. Red is conductive, blue resistive." + limits);
  else
    page.paragraph("There is no pseudosection: no station on the profile has Zxy or Zyx.");
  if (data.has(Shown::tipper_re))
    page.figure(observed_pseudosections(data, {Shown::tipper_re, Shown::tipper_im}, "Tipper Tzy", in_error),
                "pseudosections_tipper", "Part of the tipper along the profile. Grey: no datum." + limits);
  if (has_row_with(survey.stations, mt::all_impedances))
    page.figure(
        ellipse_section(survey.stations, *survey.line, options.ellipses), "phase_tensor_section",
        "Ellipses of the phase tensor (Caldwell et al. 2004): the longer axis, drawn alike for all, is that "
        "of the largest phase. Its azimuth counts from the top of the page, as on a map.");
}

void add_maps(Page& page, const Survey& survey, const SurveyOptions& options) {
  page.heading("tensors", "Phase tensors");
  const bool no_map = survey.map.sites.empty() || survey.periods_s.empty();
  if (!has_row_with(survey.stations, mt::all_impedances))
    page.paragraph("There are no phase tensors: no station has all four impedances at a period.");
  else if (no_map)
    page.paragraph("There are no maps of phase tensors: no station has coordinates.");
  else
    page.figure(
        ellipse_maps(survey.stations, survey.map, survey.periods_s, options.ellipses), "phase_tensors",
        "Ellipses of the phase tensor (Caldwell et al. 2004), north up. Over layers they are circles, over "
        "sections an axis lies along strike and β is 0; |β| beyond 3° tells of a volume. Dots: sites without "
        "impedances at the period.");
  page.heading("arrows", "Induction arrows");
  if (!has_row_with(survey.stations, mt::all_tippers))
    return page.paragraph("There are no induction arrows: no station has a tipper.");
  if (no_map) return page.paragraph("There are no maps of induction arrows: no station has coordinates.");
  page.figure(
      arrow_maps(survey.stations, survey.map, survey.periods_s, options.arrows), "induction_arrows",
      fmt::format("Real and imaginary arrows of the tipper by the convention of {}, which turns both. The "
                  "arrow of reference has the length 0.5.",
                  options.arrows == mt::ArrowConvention::parkinson ? "Parkinson" : "Wiese"));
}

/// Returns the stations with data.
std::vector<std::size_t> with_data(const Survey& survey) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < survey.stations.size(); ++k)
    if (!survey.stations[k].rows.empty() || !survey.stations[k].readings.empty()) order.push_back(k);
  return order;
}

/// Adds the curves of some stations to a page; sheets of them get numbers from `first_sheet`.
void add_curves(Page& page, const Survey& survey, const std::vector<std::size_t>& stations,
                std::size_t first_sheet) {
  page.html("<div class=\"soundings\">\n");
  ValuesOfCurves values;
  for (std::size_t first = 0; first < stations.size(); first += stations_per_sheet) {
    const std::size_t last = std::min(first + stations_per_sheet, stations.size());
    const std::vector<std::size_t> some(stations.begin() + static_cast<std::ptrdiff_t>(first),
                                        stations.begin() + static_cast<std::ptrdiff_t>(last));
    const ShownData data = sounding_data(survey.stations, some);
    std::vector<int> all;
    for (int k = 0; k < data.n_stations(); ++k) all.push_back(k);
    if (all.empty()) continue;
    page.html("</div>\n" + sounding_legend(data).svg() + "<div class=\"soundings\">\n");
    for (const int k : all) {
      page.html(sounding_picture(data, k).svg());
      const ValuesOfCurves some_values = values_of_curves(data, k);
      values.beyond += some_values.beyond;
      values.all += some_values.all;
    }
    page.png(sounding_sheet(data, all),
             fmt::format("soundings_{}", first_sheet + first / stations_per_sheet));
  }
  page.html("</div>\n");
  page.paragraph(fmt::format(
      "Tensors have x to the north and y to the east. Bars are one standard deviation as the files state it; "
      "values without one have no bar. Scales differ from station to station; they hold the middle 92 % of "
      "the "
      "values without those farther from the quartiles than three times the distance of these. {}",
      values.beyond == 0
          ? "No value lies beyond."
          : fmt::format("{} of {} values lie beyond; triangles at the ends of the axes stand for them.",
                        values.beyond, values.all)));
}

/// Writes the curves of many stations on pages of their own, and links to them.
void write_pages(Page& page, const std::filesystem::path& folder, const Survey& survey,
                 const std::vector<std::size_t>& stations, std::size_t per_page, const std::string& title,
                 const std::string& made) {
  std::string list;
  for (std::size_t first = 0, n = 1; first < stations.size(); first += per_page, ++n) {
    const std::size_t last = std::min(first + per_page, stations.size());
    const std::string name = fmt::format("soundings_{}.html", n);
    const std::string range = fmt::format("{} to {}", survey.stations[stations[first]].site.name,
                                          survey.stations[stations[last - 1]].site.name);
    Page curves(folder / "pictures");
    curves.html("<p><a href=\"report.html\">Report</a></p>\n");
    curves.heading("soundings", "Sounding curves, " + range);
    add_curves(curves, survey,
               {stations.begin() + static_cast<std::ptrdiff_t>(first),
                stations.begin() + static_cast<std::ptrdiff_t>(last)},
               (n - 1) * ((per_page + stations_per_sheet - 1) / stations_per_sheet) + 1);
    core::write_file((folder / name).string(), curves.text(title, made));
    list += fmt::format("<li><a href=\"{}\">{}</a></li>\n", name, core::escaped(range));
  }
  page.html("<ol>\n" + list + "</ol>\n");
}

void add_soundings(Page& page, const std::filesystem::path& folder, const Survey& survey,
                   const SurveyOptions& options, const std::string& title, const std::string& made) {
  page.heading("soundings", "Sounding curves");
  const std::vector<std::size_t> stations = with_data(survey);
  if (stations.empty()) return page.paragraph("There are no curves: no station has data.");
  if (stations.size() <= options.stations_per_page) return add_curves(page, survey, stations, 1);
  write_pages(page, folder, survey, stations, options.stations_per_page, title, made);
}

}  // namespace

std::filesystem::path write_survey_report(const std::filesystem::path& folder,
                                          const std::vector<mt::StationData>& stations,
                                          const SurveyOptions& options, const std::string& title,
                                          const std::string& made) {
  if (stations.empty())
    throw core::InvalidArgument("io::report::survey#no_station", "expected at least one station, got none");
  const Survey survey = survey_of(stations, options);
  core::make_folder(folder / "pictures");
  Page page(folder / "pictures");
  page.heading("summary", "Summary");
  page.html(survey_summary(survey.stations, survey.findings));
  add_map(page, survey);
  add_stations(page, survey);
  add_strike(page, survey);
  add_invariants(page, survey);
  add_sections(page, survey, options);
  add_maps(page, survey, options);
  add_findings(page, survey);
  add_soundings(page, folder, survey, options, title, made);
  const std::filesystem::path path = folder / "report.html";
  core::write_file(path.string(), page.text(title, made));
  return path;
}

}  // namespace lodestone::io::report
